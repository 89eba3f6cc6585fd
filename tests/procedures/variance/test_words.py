"""What the probe of variance says of given results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from searchable import study_in
from simulated_probes import DIVERGED, results_of, starting_from
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.gathering import gather
from tunebook.procedures.subjects import Subject
from tunebook.procedures.variance import words
from tunebook.procedures.variance.probe import NEEDS
from tunebook.procedures.variance.scatter import Scatter

STUDY = study_in(
    Space.of(fixed={"init": 0, "order": 0}),
    knobs=Knobs(seed_init="init", seed_data="order"),
    trials=6,
)
SPREAD = [0.30, 0.32, 0.28, 0.31, 0.29, 0.30]
SUBJECT = starting_from(STUDY)
FAILED = Outcome(OutcomeKind.FAILED, "RuntimeError: odd seed")


def evidence(values: list[float] = SPREAD) -> Evidence:
    left = iter(values)
    return gather(
        results_of(replace(STUDY, trials=len(values)), lambda *_: {"error": [next(left)]})
    )


def scatter(broken: int = 0) -> Scatter:
    alone = {"seed_init": [0.30, 0.33, 0.27], "seed_data": [0.30, 0.301, 0.299]}
    return Scatter.of(SPREAD, alone, [(0.3, 0.3), (0.32, 0.32)], broken)


def test_the_spread_by_source() -> None:
    """Standard deviations with their intervals: shares would not add up to the whole."""
    found = words.spread(SUBJECT, evidence(), scatter())
    assert found.verdict is Verdict.GOOD
    assert found.sentence == (
        "Over 6 seeds error is 0.3 on average, with a standard deviation of 0.01414 (0.008828 to "
        "0.03469). By source: the initialisation alone 0.03 (0.01562 to 0.1885); the "
        "order of the data alone 0.001 (0.0005207 to 0.006285). Equal seeds give equal results."
    )
    assert found.numbers["sd"] == pytest.approx(0.01414, rel=1e-3)
    assert found.numbers["sd seed_init"] == pytest.approx(0.03)
    assert found.advice == ""


def test_seeds_that_change_nothing_are_told() -> None:
    equal = Scatter.of([0.3] * 5, {})
    found = words.spread(SUBJECT, evidence([0.3] * 5), equal)
    assert found.verdict is Verdict.WATCH
    assert found.sentence == "5 runs with different seeds have exactly equal error."
    assert words.seeds(evidence(), equal, 0.01, is_given=False) is None
    assert words.unknown_sources(SUBJECT, equal, NEEDS) is None


def test_a_seed_that_changes_nothing_is_told() -> None:
    alone = {"seed_init": [0.30, 0.33, 0.27], "seed_data": [0.3, 0.1 + 0.2, 0.3]}
    idle = Scatter.of(SPREAD, alone, [(0.3, 0.3)])
    found = words.spread(SUBJECT, evidence(), idle)
    assert found.verdict is Verdict.WATCH
    assert found.sentence.endswith(
        "By source: the initialisation alone 0.03 (0.01562 to 0.1885). Equal seeds give equal "
        "results. Changing order (the order of the data) changed nothing: does the program use it?"
    )
    assert found.advice == "Let the program use order, or take seed_data out of knobs."
    assert found.numbers["sd seed_data"] == 0.0
    # A task need not draw anything from it: that is no fault.
    task = starting_from(replace(STUDY, task="tasks.py:task"))
    told = words.spread(task, evidence(), idle)
    assert told.verdict is Verdict.GOOD
    assert told.advice == ""
    assert told.sentence.endswith("changed nothing: does the task use it?")


def test_a_source_without_results_is_not_left_out() -> None:
    found = words.spread(SUBJECT, evidence(), Scatter.of(SPREAD, {"seed_init": []}))
    assert found.sentence.endswith("By source: the initialisation alone is not known.")


def test_a_configuration_that_diverges_with_some_seeds_is_a_problem() -> None:
    found = words.spread(SUBJECT, evidence(), scatter(broken=2))
    assert found.verdict is Verdict.PROBLEM
    assert found.sentence.endswith("2 more runs diverged.")
    assert found.advice == (
        "A configuration must work with every seed: tunebook probe stability STUDY.yaml"
    )


def failing(outcome: Outcome, every: int = 2) -> Evidence:
    """Six runs, of which every so manieth ended otherwise."""
    calls = iter(range(100))
    return gather(
        results_of(STUDY, lambda *_: outcome if next(calls) % every else {"error": [0.3]})
    )


def test_runs_that_failed_are_told_with_their_reason() -> None:
    found = words.spread(SUBJECT, failing(FAILED), scatter())
    assert found.verdict is Verdict.WATCH
    assert found.sentence.endswith(
        "3 of 6 runs failed: RuntimeError: odd seed. What is said rests on the others."
    )
    assert found.advice == f"See what happened: tunebook show {STUDY.name} 2"
    # Beside the worse, that is said as well.
    worse = words.spread(SUBJECT, failing(FAILED), scatter(broken=1))
    assert worse.verdict is Verdict.PROBLEM
    assert "3 of 6 runs failed" in worse.sentence
    assert "1 more run diverged." in worse.sentence
    assert "See what happened" in worse.advice and "probe stability" in worse.advice


def test_crashes_and_results_that_nobody_logged_are_failures() -> None:
    crashed = Outcome(OutcomeKind.CRASHED, "killed by signal 9\n")
    assert "3 of 6 runs failed: killed by signal 9. What" in (
        words.spread(SUBJECT, failing(crashed), scatter()).sentence
    )
    calls = iter(range(100))
    silent = results_of(STUDY, lambda *_: {"error" if next(calls) else "other": [0.3]})
    found = words.spread(SUBJECT, gather(silent), scatter())
    assert "1 of 6 runs failed: it logged no error. What" in found.sentence


def test_failures_of_the_other_stages_are_told_where_these_alone_fail() -> None:
    found = words.spread(SUBJECT, evidence(), scatter(), [failing(FAILED)])
    assert found.verdict is Verdict.WATCH
    assert "3 of 12 runs failed: RuntimeError: odd seed." in found.sentence
    both = words.spread(SUBJECT, failing(FAILED), scatter(), [failing(FAILED)])
    assert "3 of 6 runs failed" in both.sentence


def test_runs_with_equal_seeds_that_differ_are_told() -> None:
    shaken = Scatter.of(SPREAD, {}, [(0.3, 0.31), (0.3, 0.28), (0.31, 0.31)])
    said = words.spread(SUBJECT, evidence(), shaken).sentence
    assert "Runs with equal seeds differ, too: 0.009129 (" in said
    # Even where all differ by as much.
    alike = Scatter.of(SPREAD, {}, [(0.30, 0.31), (0.29, 0.30)])
    said = words.spread(SUBJECT, evidence(), alike).sentence
    assert said.endswith("Runs with equal seeds differ, too: 0.007071 (0.003682 to 0.04444).")


def test_seeds_for_a_difference() -> None:
    found = words.seeds(evidence(), scatter(), 0.01, is_given=True)
    assert found is not None
    assert found.verdict is Verdict.WATCH
    assert found.sentence == (
        "6 seeds of each of two configurations show a difference of 0.02183 (0.01363 to 0.05354) "
        "four times in five. A difference of 0.01 takes 26 seeds (11 to 150) of each."
    )
    assert found.advice == "Compare configurations by the means of 26 seeds of each."
    # The best is 0.28.
    easy = words.seeds(evidence(), scatter(), 0.0028, is_given=False)
    assert easy is not None
    assert easy.verdict is Verdict.GOOD
    assert easy.sentence.endswith(
        "A difference of 0.0028, a hundredth of the best result, takes 317 seeds (124 to 1,899) of "
        "each."
    )
    assert easy.advice == "Ask for your own difference with --difference."
    seen = words.seeds(evidence(), scatter(), 0.05, is_given=True)
    assert seen is not None
    assert (seen.verdict, seen.advice) == (Verdict.GOOD, "")


def test_a_difference_that_nobody_asked_for_is_not_missed() -> None:
    found = words.seeds(evidence(), scatter(), 0.01, is_given=False)
    assert found is not None
    assert found.verdict is Verdict.GOOD
    assert found.sentence.endswith("takes 26 seeds (11 to 150) of each.")


def test_a_difference_that_nobody_gave_is_said_to_be_of_what() -> None:
    """It is measured from the nearest end of the scale: 0, 1 for a share, or chance."""
    accuracies = [0.95, 0.96, 0.94]
    objective = Objective(Metric("valid/accuracy", "higher"))
    ends = (
        (None, "A difference of 0.0004, a hundredth of what the best result lacks to 1, takes"),
        (0.9, "A difference of 0.0004, a hundredth of what the best result lacks to 1, takes"),
        (
            0.95,
            "A difference of 0.0001, a hundredth of what separates the best result from chance, "
            "takes",
        ),
    )
    for chance, said in ends:
        left = iter(accuracies)
        study = replace(STUDY, objective=objective, trials=3, knobs=Knobs(chance=chance))
        made = gather(results_of(study, lambda *_, v=left: {"valid/accuracy": [next(v)]}))
        found = words.seeds(
            made, Scatter.of(accuracies, {}), words.interesting(made, None), is_given=False
        )
        assert found is not None
        assert said in found.sentence


def test_more_seeds_than_anybody_runs() -> None:
    found = words.seeds(evidence(), scatter(), 1e-6, is_given=True)
    assert found is not None
    assert found.sentence.endswith("A difference of 1e-06 takes over 10,000 seeds of each.")
    assert found.verdict is Verdict.WATCH
    assert found.advice == "No number of seeds that can be run shows it: ask for a larger one."


def selected(value: float, better: str = "lower") -> Subject:
    objective = Objective(Metric("error", better))  # type: ignore[arg-type]
    asked = replace(SUBJECT.asked, selected=value, about=replace(STUDY, objective=objective))
    return Subject(asked)


def test_a_lucky_selection_is_told() -> None:
    found = words.selection(selected(0.2), scatter())
    assert found is not None
    assert found.verdict is Verdict.WATCH
    assert found.sentence == (
        "The selected run had error 0.2; 6 fresh seeds have 0.3 on average (0.2852 to 0.3148). "
        "It was lucky by 0.1."
    )
    assert found.advice == "Count on 0.3, not on 0.2."
    assert words.selection(SUBJECT, scatter()) is None


def test_an_ordinary_selection_is_left_alone() -> None:
    ordinary, unlucky = (words.selection(selected(v), scatter()) for v in (0.29, 0.4))
    assert ordinary is not None
    assert unlucky is not None
    assert ordinary.verdict is unlucky.verdict is Verdict.GOOD
    assert ordinary.sentence.endswith("It lies within what fresh seeds give.")
    assert unlucky.sentence.endswith("Fresh seeds are better than it by 0.1.")
    # Where higher is better, a high one is lucky.
    lucky = words.selection(selected(0.4, "higher"), scatter())
    assert lucky is not None
    assert lucky.sentence.endswith("It was lucky by 0.1.")


def test_an_honest_selection_is_called_lucky_once_in_twenty() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(400):
        values = rng.normal(0.3, 0.01, size=7)
        found = words.selection(selected(float(values[0])), Scatter.of(values[1:], {}))
        assert found is not None
        alarms += found.verdict is Verdict.WATCH
    assert 8 <= alarms <= 34


def test_unknown_sources_come_with_their_lines() -> None:
    found = words.unknown_sources(SUBJECT, scatter(), NEEDS)
    assert found is not None
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence == (
        "How much comes from the split is not known: the study does not say how to vary that alone."
    )
    assert found.advice == (
        "Write 'split_seed: null' under fixed and 'seed_split: split_seed' under knobs."
    )
    task = starting_from(replace(STUDY, task="tasks.py:task", space=Space(), knobs=Knobs()))
    told = words.unknown_sources(task, scatter(), NEEDS)
    assert told is not None
    assert told.advice == (
        "If the task splits its data at random, write 'seed_split: null' under fixed."
    )


def test_too_few_results_are_no_answer() -> None:
    nothing = gather(results_of(STUDY, lambda *_: DIVERGED))
    found = words.no_results(SUBJECT, nothing)
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence == (
        "Of 6 runs none came to a result: nothing can be said of their scatter. "
        "Trial 1 has none: it became nan at step 3."
    )
    assert found.advice == f"See what happened: tunebook show {STUDY.name} 1"


def test_the_difference_of_interest_is_that_of_diagnosis_or_as_given() -> None:
    assert words.interesting(evidence(), 0.5) == 0.5
    # A hundredth of the best value, whatever equal runs scatter.
    assert words.interesting(evidence(), None) == pytest.approx(0.0028)
