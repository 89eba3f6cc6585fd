"""The probe of clipping, followed on programs of which it is known what clipping cures."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commandline import call
from simulated_probes import Made, Training, answered, results_of
from simulated_remedies import BROKEN, START, Program, subject
from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Value
from tunebook.core.edits import SetParameter
from tunebook.core.errors import StudyError
from tunebook.core.findings import Verdict
from tunebook.core.space import Config, Fixed
from tunebook.core.study import Budget, Study
from tunebook.procedures.answers import Answer
from tunebook.procedures.remedies import clipping, comparing
from tunebook.procedures.remedies.clipping import clipped_share, no_clipping, probe
from tunebook.procedures.remedies.comparing import Comparison
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import readings_of
from tunebook.stats.shares import fewer_p
from tunebook.studyfile import read

STEPS = 200


def run(
    program: Training,
    start: Mapping[str, Value] | None = None,
    *,
    steps: int = STEPS,
    options: Mapping[str, Value] | None = None,
) -> tuple[Answer, list[Study]]:
    about = subject(start, steps=steps, probe="clipping")
    return answered(probe(about, options or {}), program)


def stages(studies: list[Study]) -> list[str]:
    return [study.name.partition("clipping.")[2] for study in studies]


def cured_below(threshold: float) -> Program:
    return Program(clipped=lambda clip: 5.0 if clip <= threshold else 0.0)


def test_the_90th_percentile_of_norms_cures() -> None:
    answer, studies = run(cured_below(1.3))
    assert stages(studies) == [
        *("sweep", "threshold-1", "tune", "tune-2", "compare-before", "compare-after"),
        "compare-after-without",
    ]
    cure, gain, edge = answer.findings
    assert cure.verdict is gain.verdict is Verdict.WATCH
    assert cure.numbers["threshold"] == pytest.approx(1.2, abs=0.1)
    assert cure.numbers["clipped"] == pytest.approx(0.1, abs=0.05)
    assert "of the updates are clipped." in cure.sentence
    assert edge.numbers == {"best": 0.03, "unstable": 0.095}
    assert gain.numbers["gain"] == pytest.approx(0.075, abs=0.01)
    threshold, rate = answer.edits
    assert threshold == SetParameter(
        "clip",
        Fixed(cure.numbers["threshold"]),
        "the 90th percentile of unclipped gradient norms",
    )
    assert rate == SetParameter("lr", Fixed(0.95), "with clipping, a rate of 0.95 is best")
    assert answer.retune == ("lr",)
    assert [figure.key for figure in answer.figures] == [f.question.key for f in answer.findings]


def test_a_smaller_threshold_where_trouble_stays() -> None:
    """Norms shrink as clipped training goes on, so that few updates are clipped all the same."""
    program = replace(cured_below(0.5), norms=lambda config: 1.0 if config["clip"] is None else 0.2)
    answer, studies = run(program)
    assert stages(studies)[1:3] == ["threshold-1", "threshold-2"]
    assert answer.findings[0].numbers["threshold"] == pytest.approx(0.36, abs=0.03)
    assert answer.edits


def test_where_most_updates_are_clipped_the_rate_is_too_high() -> None:
    answer, studies = run(cured_below(0.5))
    assert stages(studies)[-1] == "threshold-2"
    finding = answer.findings[0]
    assert finding.verdict is Verdict.WATCH
    assert "training is stable at 0.095, but 100% of the updates are clipped" in finding.sentence
    assert finding.advice.startswith("Keep the learning rate below 0.095 instead")
    assert answer.edits == ()


def test_where_nothing_cures_other_remedies_are_offered_in_order() -> None:
    answer, studies = run(Program())
    assert stages(studies)[-1] == "threshold-3"
    finding = answer.findings[0]
    assert finding.verdict is Verdict.WATCH
    assert "It stays so when clipped at 0.12 (train/loss rises" in finding.sentence
    order = ["probe warmup", "another optimiser", "inside", "begin at zero", "a lower"]
    places = [finding.advice.index(text) for text in order]
    assert places == sorted(places)
    assert answer.edits == ()


def test_a_healthy_program_is_left_alone() -> None:
    answer, studies = run(Program(limit=1e6, optimum=0.03))
    assert stages(studies) == ["sweep", "threshold-1"]
    assert {finding.verdict for finding in answer.findings} == {Verdict.GOOD}
    said = (
        "nothing for clipping to cure. At 0.095, where results are worse, clipping at 1.2 comes to"
    )
    assert said in answer.findings[0].sentence
    assert answer.findings[0].trials == (1, 2)
    assert [figure.key for figure in answer.figures] == ["probe-clipping", "probe-edge"]
    assert (answer.edits, answer.retune) == ((), ())


def test_harm_that_no_loss_shows_is_found_by_trying() -> None:
    def lost(rate: float, _: float, clip: float) -> float:
        return 0.15 * max(math.log10(rate / 0.03), 0.0) if clip == 0.0 else 0.0

    answer, studies = run(Program(limit=1e6, optimum=0.3, unseen=lost))
    assert stages(studies)[:3] == ["sweep", "threshold-1", "tune"]
    cure, gain, _ = answer.findings
    assert cure.verdict is gain.verdict is Verdict.WATCH
    assert cure.sentence.startswith(
        "Without clipping, results are worse from a learning rate of 0.095 on (valid/error 0.1"
    )
    assert "though no loss rises. Clipped at 1.2, that rate comes to valid/error 0.12" in (
        cure.sentence
    )
    assert cure.numbers["worse"] == 0.095
    assert [edit.name for edit in answer.edits if isinstance(edit, SetParameter)] == ["clip", "lr"]
    assert "and at the first worse one, 0.095, without" in answer.figures[0].sentence


def test_the_threshold_of_worse_rates_is_that_of_the_best_one() -> None:
    """Where trainings end worse their norms are half as large: clipped there, most would be."""

    def norms(config: Config) -> float:
        return 0.5 if float(config["lr"] or 0) > 0.05 else 1.0

    def lost(rate: float, _: float, clip: float) -> float:
        return 0.15 * max(math.log10(rate / 0.03), 0.0) if clip == 0.0 else 0.0

    answer, _ = run(Program(limit=1e6, optimum=0.1, unseen=lost, norms=norms))
    assert answer.findings[0].numbers["threshold"] == pytest.approx(1.2, abs=0.1)
    assert answer.edits


def test_a_cure_of_worse_rates_that_clips_most_updates_is_none() -> None:
    def lost(rate: float, _: float, clip: float) -> float:
        return 0.15 * max(math.log10(rate / 0.03), 0.0) if clip == 0.0 else 0.0

    def norms(config: Config) -> float:
        return 5.0 if config["clip"] else 1.0

    answer, studies = run(Program(limit=1e6, optimum=0.3, unseen=lost, norms=norms))
    assert stages(studies) == ["sweep", "threshold-1"]
    assert answer.findings[0].verdict is Verdict.GOOD
    assert "on average, but 100% of the updates are clipped, which a lower rate does better;" in (
        answer.findings[0].sentence
    )
    assert answer.edits == ()


def test_a_remedy_of_worse_rates_whose_trials_broke_is_unknown() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        program = Program(limit=1e6, optimum=0.03)
        return BROKEN if config["clip"] else program(config, seed, steps)

    finding = run(train)[0].findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert "0.095 is worse, and the trials of clipping at 1.2 there broke" in finding.sentence
    assert finding.advice.endswith("--retry-failed.")


@pytest.mark.long
def test_luck_is_seldom_taken_for_a_cure() -> None:
    """Of programs that clipping does not change, whose rates differ by less than noise."""
    proposed = 0
    for seed in range(100):
        about = subject({"lr": 0.03}, steps=STEPS, probe="clipping", seed=seed)
        program = Program(limit=1e6, optimum=0.03, noise=0.03)
        proposed += bool(answered(probe(about, {}), program)[0].edits)
    # 2.5 of 100 are to be expected; more than 7 would come by luck in 1 of 270.
    assert proposed <= 7


def test_a_cure_that_brings_nothing_is_not_proposed() -> None:
    answer, _ = run(Program(optimum=0.03, clipped=lambda clip: 5.0))
    assert [finding.verdict for finding in answer.findings] == [Verdict.GOOD] * 3
    assert answer.findings[0].advice == "Training with it is no better: keep what you have."
    assert answer.edits == ()


def test_clipping_of_the_study_s_own_is_what_is_compared_with() -> None:
    answer, studies = run(cured_below(1.3), {"clip": 1.0})
    named = dict(zip(stages(studies), studies, strict=True))
    assert named["sweep"].space["clip"].source == Fixed(None)
    assert named["tune-before"].space["clip"].source == Fixed(1.0)
    assert named["compare-before"].space["clip"].source == Fixed(1.0)
    assert "with the study's own at 1" in answer.findings[1].sentence
    assert answer.edits == ()


def test_both_are_tuned_at_full_length_where_the_sweep_is_shorter() -> None:
    _, studies = run(cured_below(1.3), steps=300, options={"steps": 120})
    named = dict(zip(stages(studies), studies, strict=True))
    assert named["threshold-1"].budget == Budget(120)
    assert named["tune-before"].budget == named["tune"].budget == Budget(300)


def test_the_share_is_that_at_the_rate_which_is_proposed() -> None:
    """From 0.5 on norms are ten times as large, so that clipping does what a lower rate should."""

    def norms(config: Config) -> float:
        return 10.0 if float(config["lr"] or 0) > 0.5 else 1.0

    answer, studies = run(replace(cured_below(1.3), norms=norms))
    # Rates above 0.3 were tried, and were best.
    tuning = dict(zip(stages(studies), studies, strict=True))["tune-2"]
    assert tuning.space["lr"].source == Choice((0.95, 3.0))
    assert answer.findings[1].numbers["rate"] == 0.3
    assert answer.findings[0].numbers["clipped"] == pytest.approx(0.1, abs=0.05)
    assert "at 0.3, " in answer.findings[0].sentence
    assert answer.edits[1] == SetParameter("lr", Fixed(0.3), "with clipping, a rate of 0.3 is best")


def test_where_most_updates_are_clipped_in_the_end_nothing_is_proposed() -> None:
    """Few are in short trainings, in which a threshold is looked for, and all in whole ones."""

    def train(config: Config, seed: int, steps: int) -> Made:
        made = replace(cured_below(1.3), norms=lambda _: 10.0 if steps > 120 else 1.0)
        return made(config, seed, steps)

    answer, _ = run(train, steps=300, options={"steps": 120})
    finding = answer.findings[0]
    assert finding.verdict is Verdict.WATCH
    assert finding.sentence.endswith("100% of the updates are clipped.")
    assert finding.advice == (
        "Lower the learning rate instead: where more than half of the updates are clipped, "
        "clipping is a strange way to lower it."
    )
    assert (answer.edits, answer.retune) == ((), ())


@dataclass(frozen=True)
class Regression:
    """A regression by gradient descent, in which a share of the gradients are far out."""

    share: float = 0.02
    size: float = 40.0

    def __call__(self, config: Config, seed: int, steps: int) -> Made:
        rng = np.random.default_rng(seed)
        off, losses, norms = np.ones(10), [], []
        clip, rate = float(config["clip"] or np.inf), float(config["lr"] or 0)
        for _ in range(steps):
            x = rng.normal(size=(16, 10))
            wrong = x @ off + 0.5 * rng.normal(size=16)
            gradient = x.T @ wrong / 16
            if rng.random() < self.share:
                gradient += self.size * rng.normal(size=10)
            norm = float(np.linalg.norm(gradient))
            off = np.clip(off - rate * min(1.0, clip / norm) * gradient, -1e8, 1e8)
            losses.append(float(np.mean(wrong**2)))
            norms.append(norm)
        return {
            "train/loss": losses,
            "grad_norm": norms,
            "valid/error": [float(np.sum(off**2)) + 0.25],
        }


def proposed(program: Training, seeds: range) -> float:
    """In which share of studies clipping is proposed."""
    found = []
    for seed in seeds:
        about = subject(steps=STEPS, probe="clipping", seed=seed)
        answer, _ = answered(probe(about, {}), program)
        found.append(bool(answer.edits))
    return float(np.mean(found))


def test_outliers_at_every_rate_are_cured_at_the_best_one() -> None:
    answer, studies = run(Regression())
    best = answer.findings[2].numbers["best"]
    assert "training is unstable there already" in answer.findings[2].sentence
    assert "compare-after" in stages(studies)
    finding, gain, _ = answer.findings
    assert finding.verdict is gain.verdict is Verdict.WATCH
    assert f"at the best learning rate already, {best:g} (train/loss" in finding.sentence
    assert "0 of 5 trainings are unstable with it, and 5 of 5 without." in gain.sentence
    assert finding.numbers["clipped"] < 0.5
    assert next(edit.name for edit in answer.edits if isinstance(edit, SetParameter)) == "clip"
    assert [figure.key for figure in answer.figures] == [f.question.key for f in answer.findings]


def test_the_courses_of_trainings_keep_a_comparison_going(monkeypatch: pytest.MonkeyPatch) -> None:
    merits: list[float] = []

    def watched(*arms: Any, other_p: Callable[[Comparison], float], **given: Any) -> Any:
        found = yield from comparing.compared(*arms, other_p=other_p, **given)
        merits.append(other_p(found))
        return found

    monkeypatch.setattr(clipping, "compared", watched)
    run(Regression())
    assert merits == [fewer_p(0, 5, 5, 5)]


@pytest.mark.long
def test_how_often_outliers_are_cured_and_a_healthy_twin_is_left_alone() -> None:
    assert proposed(Regression(), range(100, 112)) >= 0.75
    assert proposed(Regression(share=0.0), range(100, 120)) <= 0.05


def test_norms_that_were_not_logged_give_no_threshold() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = Program()(config, seed, steps)
        assert isinstance(made, Mapping)
        return {name: curve for name, curve in made.items() if name != "grad_norm"}

    answer, studies = run(train)
    assert stages(studies) == ["sweep"]
    assert answer.findings[0].verdict is Verdict.UNKNOWN
    assert answer.findings[0].advice == "Log grad_norm at every step, as it is before clipping."


def test_gradients_that_are_zero_are_no_want_of_logging() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = Program()(config, seed, steps)
        assert isinstance(made, Mapping)
        return {**made, "grad_norm": np.zeros(steps)}

    finding = run(train)[0].findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith("grad_norm is 0 at most steps of the best learning rate")
    assert finding.advice.startswith("Look for a bug, such as units that have died")


def test_what_broke_is_unknown_and_not_stable() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return BROKEN if config["clip"] else Program()(config, seed, steps)

    answer, _ = run(train)
    assert answer.findings[0].verdict is Verdict.UNKNOWN
    assert "no trial with clipping shows how it goes" in answer.findings[0].sentence


def logged(norms: np.ndarray, threshold: float = 1.0) -> float | None:
    about = subject()
    study = about.stage("threshold-1", {"clip": [threshold]}, goal="?", steps=len(norms))
    results = results_of(study, lambda *_: {"grad_norm": norms, "valid/error": [0.1]})
    return clipped_share(about, readings_of(results), threshold)


def test_the_share_of_clipped_updates() -> None:
    norms = np.linspace(0.01, 2.0, 200)
    assert logged(norms) == pytest.approx(0.5, abs=0.01)
    assert logged(np.full(50, np.nan)) == 1.0
    # Logged after clipping, norms stop at the threshold: then nobody knows.
    assert logged(np.minimum(norms, 1.0)) is None
    assert logged(np.linspace(0.01, 0.9, 50)) == 0.0


def test_norms_logged_after_clipping_are_told() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = cured_below(1.3)(config, seed, steps)
        assert isinstance(made, Mapping)
        limit = config["clip"] or np.inf
        return {**made, "grad_norm": np.minimum(made["grad_norm"].values, limit)}  # type: ignore[union-attr]

    answer, _ = run(train)
    assert "grad_norm seems to be logged after clipping" in answer.findings[0].sentence
    assert "clipped" not in answer.findings[0].numbers


def by_command(clip: Value) -> Subject:
    about = subject({"clip": clip})
    study = replace(about.study, program=None, command=Command(("python", "train.py")))
    return Subject(replace(about.asked, about=study))


def test_what_means_no_clipping() -> None:
    assert no_clipping(subject({"clip": 1.0}), {}) is None
    assert no_clipping(subject(), {"off": 0.0}) == 0.0
    assert no_clipping(by_command(None), {}) is None
    assert no_clipping(by_command(1.0), {"off": 0}) == 0
    with pytest.raises(
        StudyError, match=r"clip is 1\.0\. Say which value of clip means none, such"
    ):
        no_clipping(by_command(1.0), {})


def test_the_value_that_means_none_is_used() -> None:
    program = Program(limit=1e6, optimum=0.03)
    _, studies = run(program, {**START, "clip": 5.0}, options={"off": 0.0})
    assert studies[0].space["clip"].source == Fixed(0.0)


def test_the_same_results_give_the_same_studies() -> None:
    one, two = (run(cured_below(1.3)) for _ in range(2))
    assert one[1] == two[1]
    assert one[0].findings == two[0].findings


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "share"),
    [
        ("outliers", 0.004),
        ("outliers", 0.0),
        ("outliers_everywhere", 0.02),
        ("outliers_everywhere", 0.0),
    ],
)
def test_outlying_gradients_and_a_healthy_twin(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    plant: str,
    share: float,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNEBOOK_DIR")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "planted"))
    text = importlib.import_module(plant).study(plant, outliers=share)
    Path("study.yaml").write_text(text)
    done = call(capsys, "probe", "clipping", "study.yaml", "--json", "--html", "page.html")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    found = {finding["question"]: finding for finding in said["findings"]}
    if not share:
        assert found["probe-clipping"]["verdict"] == found["probe-edge"]["verdict"] == "good"
        assert said["proposal"] is None
        return
    assert found["probe-clipping"]["verdict"] == "watch", found
    if plant == "outliers_everywhere":
        assert "unstable there already" in found["probe-edge"]["sentence"]
    assert found["probe-clipping"]["numbers"]["clipped"] < 0.5
    after = read(Path("study.clipping.yaml"))
    assert after.space["clip"].source == Fixed(found["probe-clipping"]["numbers"]["threshold"])
    assert "Over fresh seeds" in Path("page.html").read_text()
