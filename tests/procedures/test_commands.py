"""The commands that a probe proposes."""

from __future__ import annotations

from dataclasses import replace

from simulated_probes import DIVERGED, Made, results_of, subject_of
from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.procedures.commands import anew, look, other
from tunebook.procedures.subjects import Subject

KNOBS = Knobs(learning_rate="lr")


def about(*options: tuple[str, Value], file: str = "", lr: float = 0.1) -> Subject:
    made = subject_of({"lr": 0.1, "clip": None}, KNOBS, probe="clipping")
    study = replace(made.study, file=file)
    start = (("clip", None), ("lr", lr))
    return Subject(replace(made.asked, about=study, options=options, start=start))


def test_what_was_asked_is_asked_again() -> None:
    command = anew(about(("off", 0.0), ("seeds", 20), ("steps", 300)), {"lr": 0.0123456})
    # 20 seeds are what holds without being said.
    assert command == (
        "tunebook probe clipping STUDY.yaml --off 0.0 --steps 300 --set lr=0.01235 --again"
    )


def test_what_is_given_replaces_what_was() -> None:
    subject = about(("seeds", 7), file="my study.yaml", lr=0.5)
    assert anew(subject, seeds=14) == (
        "tunebook probe clipping 'my study.yaml' --seeds 14 --set lr=0.5 --again"
    )
    assert anew(subject, {"lr": 10.0}).endswith("--seeds 7 --set lr=10 --again")


def test_a_book_elsewhere_is_named() -> None:
    subject = replace(about(file="a b.yaml"), where=" --dir books")
    assert anew(subject) == "tunebook probe clipping 'a b.yaml' --dir books --again"
    assert other(subject, "warmup") == "tunebook probe warmup 'a b.yaml' --dir books"


def test_the_trial_to_look_at_is_the_first_that_did_not_complete() -> None:
    subject = about()
    study = subject.stage("sweep", {"lr": [0.1, 0.2, 0.3]}, goal="?")

    def train(config: Config, seed: int, steps: int) -> Made:
        return DIVERGED if config["lr"] == 0.2 else {"valid/error": [0.1]}

    assert look(subject, results_of(study, train)) == "tunebook show small.clipping.sweep 2"
    whole = results_of(study, lambda *_: {"valid/error": [0.1]})
    elsewhere = replace(subject, where=" --dir books")
    assert look(elsewhere, whole) == "tunebook show small.clipping.sweep 1 --dir books"
