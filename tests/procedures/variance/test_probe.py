"""The probe of variance, followed on programs whose sources of chance are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from searchable import study_in
from simulated_probes import DIVERGED, Made, Training, answered, results_of, starting_from
from tunebook.core.domains import Float
from tunebook.core.findings import Verdict
from tunebook.core.hashing import derive_unit
from tunebook.core.knobs import Knobs
from tunebook.core.results import Results
from tunebook.core.space import Config, Space
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind, Trial
from tunebook.procedures.answers import follow
from tunebook.procedures.variance.probe import probe

STUDY = study_in(
    Space.of(nuisance={"lr": Float(1e-3, 1, log=True)}, fixed={"init": 0, "order": None}),
    knobs=Knobs(seed_init="init", seed_data="order"),
)
FAILED = Outcome(OutcomeKind.FAILED, "RuntimeError: odd seed")


def normal(*parts: object) -> float:
    """A number that is normal, and the same for the same parts."""
    return float(np.sqrt(2) * np.cos(np.pi * derive_unit(*parts)))


def program(init: float, order: float, rest: float = 0.0, residual: float = 0.0) -> Training:
    """Errors about 1, moved by each source by its own standard deviation."""
    calls = iter(range(10**6))

    def train(config: Config, seed: int, steps: int) -> Made:
        own = seed if config["order"] is None else config["order"]
        value = 1 + init * normal("init", config["init"]) + order * normal("order", own)
        value += rest * normal("rest", seed) + residual * normal("now", next(calls))
        # It begins far above what any seed brings it to: a cap would hide what seeds change.
        return {"error": [100.0, value]}

    return train


def test_stages_vary_everything_each_source_and_nothing() -> None:
    answer, studies = answered(probe(starting_from(STUDY), {"seeds": 6}), program(0.1, 0.1))
    assert [study.name.rpartition(".")[2] for study in studies] == [
        *("all", "seed-init", "seed-data", "same"),
    ]
    assert [len(study.space.settings()) * study.trials for study in studies] == [6, 6, 6, 4]
    assert answer.edits == ()
    assert answer.retune == ()
    assert [figure.key for figure in answer.figures] == ["probe-variance", "probe-seeds"]


def test_each_trial_varies_what_its_stage_says() -> None:
    seen: dict[str, list[Trial]] = {}

    def run(study: Study) -> Results:
        made = results_of(study, lambda config, seed, _: {"error": [normal(seed, config["init"])]})
        seen[study.name.rpartition(".")[2]] = [record.trial for record in made]
        return made

    follow(probe(starting_from(STUDY), {"seeds": 5}), run)
    kinds: dict[str, Callable[[Trial], object]] = {
        "run": lambda trial: trial.seed,
        "init": lambda trial: trial.config["init"],
        "order": lambda trial: trial.config["order"],
    }
    counts = {
        stage: {kind: len({read(trial) for trial in trials}) for kind, read in kinds.items()}
        for stage, trials in seen.items()
    }
    assert counts == {
        "all": {"run": 5, "init": 5, "order": 5},
        "seed-init": {"run": 1, "init": 5, "order": 1},
        "seed-data": {"run": 1, "init": 1, "order": 5},
        "same": {"run": 4, "init": 4, "order": 4},
    }
    # The last are the first once more.
    first, again = ([(t.seed, t.config) for t in seen[stage]] for stage in ("all", "same"))
    assert again == first[:4]
    # And the study's own seed of the initialisation is none of the new ones.
    assert 0 not in {trial.config["init"] for trial in seen["seed-init"]}


def test_a_planted_source_is_found() -> None:
    answer, _ = answered(probe(starting_from(STUDY), {"seeds": 40}), program(0.2, 0.05))
    spread = answer.findings[0]
    assert spread.numbers["sd"] == pytest.approx(0.206, rel=0.3)
    assert spread.numbers["sd seed_init"] == pytest.approx(0.2, rel=0.3)
    assert spread.numbers["sd seed_data"] == pytest.approx(0.05, rel=0.3)
    assert "Equal seeds give equal results." in spread.sentence


def test_a_program_that_does_not_repeat_itself_is_told() -> None:
    train = program(0.0, 0.0, residual=0.1)
    answer, _ = answered(probe(starting_from(STUDY), {"seeds": 20}), train)
    assert "Runs with equal seeds differ, too" in answer.findings[0].sentence


def test_without_knobs_only_all_and_same_are_run() -> None:
    study = replace(STUDY, knobs=Knobs())
    answer, studies = answered(
        probe(starting_from(study), {"seeds": 5}), program(0.0, 0.0, rest=0.1)
    )
    assert [study.name.rpartition(".")[2] for study in studies] == ["all", "same"]
    unknown = next(f for f in answer.findings if f.verdict is Verdict.UNKNOWN)
    assert "the initialisation, the order of the data and the split" in unknown.sentence


def test_runs_without_results_end_the_probe() -> None:
    answer, studies = answered(probe(starting_from(STUDY), {"seeds": 3}), lambda *_: DIVERGED)
    assert len(studies) == 1
    assert [finding.verdict for finding in answer.findings] == [Verdict.UNKNOWN]


def test_a_seed_that_diverges_is_a_problem_of_the_configuration() -> None:
    calls = iter(range(100))

    def train(config: Config, seed: int, steps: int) -> Made:
        return DIVERGED if next(calls) == 1 else {"error": [normal(seed)]}

    answer, _ = answered(probe(starting_from(STUDY), {"seeds": 6}), train)
    assert answer.findings[0].verdict is Verdict.PROBLEM
    assert "1 more run diverged." in answer.findings[0].sentence


@pytest.mark.parametrize("knobs", [Knobs(), STUDY.knobs])
def test_seeds_that_fail_are_to_be_watched(knobs: Knobs) -> None:
    """Be it the run's own seed or one that a knob names, and so a parameter of `all`."""

    def train(config: Config, seed: int, steps: int) -> Made:
        own = int(str(config["init"])) if knobs.seed_init else seed
        return FAILED if own % 2 else {"error": [normal(seed, own)]}

    study = replace(STUDY, knobs=knobs)
    answer, studies = answered(probe(starting_from(study), {"seeds": 10}), train)
    failed = results_of(studies[0], train).counts()["failed"]
    assert answer.findings[0].verdict is Verdict.WATCH
    assert (
        f"{failed} of 10 runs failed: RuntimeError: odd seed. What is said rests on the others."
        in answer.findings[0].sentence
    )


def test_a_seed_far_out_is_part_of_the_scatter() -> None:
    """Analysis of searches calls such a value infeasible; here it is what is looked for."""
    values = iter([1.0, 1.001, 0.999, 1.0, 1.0005, 9.0] + [1.0] * 100)
    answer, _ = answered(
        probe(starting_from(STUDY), {"seeds": 6}), lambda *_: {"error": [next(values)]}
    )
    assert answer.findings[0].numbers["sd"] > 3


def test_the_difference_that_is_asked_for() -> None:
    options = {"seeds": 10, "difference": 0.5}
    answer, _ = answered(probe(starting_from(STUDY), options), program(0.1, 0.1))
    seeds = next(f for f in answer.findings if f.question.key == "probe-seeds")
    assert "A difference of 0.5 takes" in seeds.sentence
    assert seeds.verdict is Verdict.GOOD


def test_a_healthy_program_is_nothing_to_watch() -> None:
    """However much results scatter: nobody has said which difference is to be seen."""
    for seeds, sd in ((2, 0.1), (5, 0.1), (10, 0.01), (10, 10.0)):
        answer, _ = answered(probe(starting_from(STUDY), {"seeds": seeds}), program(sd, sd))
        known = [f.verdict for f in answer.findings if f.verdict is not Verdict.UNKNOWN]
        assert known == [Verdict.GOOD] * 2


def test_a_difference_that_the_seeds_do_not_show_is_to_be_watched_once() -> None:
    options = {"seeds": 5, "difference": 0.01}
    answer, _ = answered(probe(starting_from(STUDY), options), program(0.1, 0.1))
    (watched,) = [f for f in answer.findings if f.verdict is Verdict.WATCH]
    assert watched.question.key == "probe-seeds"


def test_the_same_results_give_the_same_studies() -> None:
    one, two = (
        answered(probe(starting_from(STUDY), {"seeds": 4}), program(0.1, 0.1)) for _ in range(2)
    )
    assert one[1] == two[1]
    assert one[0].findings == two[0].findings
