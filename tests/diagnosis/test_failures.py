"""Errors in one part of the space make trials infeasible; errors anywhere are the program's."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import Ran, evidence_of
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence, Standing
from tunebook.core.space import Setting, Space
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.failures import is_failure

SPACE = Space.of(nuisance={"rate": Float(1e-4, 1.0, log=True)})
DONE = Outcome(OutcomeKind.COMPLETE, "finished")


def failing(above: float, kind: str = "ValueError", n: int = 24) -> Evidence:
    """Trials along one parameter that fail above a place, and every fifth one anyway if 0."""
    error = Outcome(OutcomeKind.FAILED, f"{kind}: a fault")
    places = np.linspace(0, 1, n)
    ran = [
        Ran({"rate": float(x)}, 0.2, outcome=error)
        if (x > above if above else i % 5 == 0)
        else Ran({"rate": float(x)}, 0.2)
        for i, x in enumerate(places)
    ]
    return evidence_of(SPACE, ran)


def test_an_error_in_one_part_of_the_space_is_infeasible() -> None:
    said = failing(above=0.75)
    assert len(said.only(Standing.INFEASIBLE)) == 6
    assert said.only(Standing.INFEASIBLE)[0].why == "ValueError: a fault"
    assert not said.only(Standing.BROKEN)


def test_an_error_that_comes_anywhere_is_the_programs() -> None:
    said = failing(above=0.0)
    assert len(said.only(Standing.BROKEN)) == 5
    assert not said.only(Standing.INFEASIBLE)


def test_a_setting_that_always_fails_is_infeasible() -> None:
    space = Space.of(scientific={"variant": ["a", "b"]}, nuisance={"rate": Float(0, 1)})
    error = Outcome(OutcomeKind.FAILED, "KeyError: b")
    a, b = (Setting((("variant", name),)) for name in "ab")
    ran = [Ran({"rate": i / 11}, 0.2, setting=a) for i in range(12)]
    ran += [Ran({"rate": i / 11}, outcome=error, setting=b) for i in range(12)]
    said = evidence_of(space, ran)
    assert {r.record.trial.setting for r in said.only(Standing.INFEASIBLE)} == {b}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_when_all_fail_nothing_is_to_blame(n: int) -> None:
    error = Outcome(OutcomeKind.FAILED, "ValueError: a fault")
    said = evidence_of(SPACE, [Ran({"rate": 0.5}, outcome=error)] * n)
    assert [r.standing for r in said.readings] == [Standing.BROKEN] * n
    assert all(map(is_failure, said.readings))


def test_a_crash_of_the_machine_is_never_blamed_on_parameters() -> None:
    crash = Outcome(OutcomeKind.CRASHED, "the host went away")
    ran = [Ran({"rate": i / 23}, 0.2, outcome=crash if i > 17 else None) for i in range(24)]
    assert len(evidence_of(SPACE, ran).only(Standing.BROKEN)) == 6


def test_errors_of_different_kinds_are_told_apart() -> None:
    memory = Outcome(OutcomeKind.FAILED, "MemoryError: too large")
    other = Outcome(OutcomeKind.FAILED, "ValueError: a fault")
    ran = [
        Ran({"rate": i / 29}, 0.2, outcome=memory if i > 22 else other if i % 6 == 0 else DONE)
        for i in range(30)
    ]
    said = evidence_of(SPACE, ran)
    assert {r.why for r in said.only(Standing.INFEASIBLE)} == {"MemoryError: too large"}
    assert {r.why for r in said.only(Standing.BROKEN)} == {"ValueError: a fault"}
