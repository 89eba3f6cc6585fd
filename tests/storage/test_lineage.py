"""Which attempt's points count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.curves import Block, Curve
from tunebook.core.results import AttemptRecord
from tunebook.storage.blocks import Parts, parts_of
from tunebook.storage.lineage import curves_in_force, lineage


def attempt(number: int, source: int | None = None, step: int | None = None) -> AttemptRecord:
    return AttemptRecord(number, f"token {number}", "", source=source, resumed_at=step)


def points(steps: list[int], mark: float = 0.0) -> Parts:
    return parts_of([Block.of(["error"], [(step, 0.0, [step + mark]) for step in steps])])


def test_no_attempt_has_no_curve() -> None:
    assert lineage([]) == []
    assert curves_in_force([], {}) == {}


def test_the_latest_attempt_counts() -> None:
    attempts = [attempt(1), attempt(2)]
    assert lineage(attempts) == [(2, None)]
    curves = curves_in_force(attempts, {1: points([1, 2]), 2: points([1])})
    assert curves["error"].steps.tolist() == [1]


def test_an_attempt_continues_its_source_which_continued_another() -> None:
    attempts = [attempt(1), attempt(2, 1, 30), attempt(3), attempt(4, 2, 20)]
    assert lineage(attempts) == [(4, None), (2, 20), (1, 20)]
    logged = {
        1: points([10, 20, 30], 0.1),
        2: points([15, 25, 35], 0.2),
        3: points([1, 2], 0.3),
        4: points([22], 0.4),
    }
    curve = curves_in_force(attempts, logged)["error"]
    assert curve.values.tolist() == [10.1, 15.2, 22.4]


def test_metrics_that_are_not_logged_again_stay() -> None:
    attempts = [attempt(1), attempt(2, 1, 2)]
    assert list(curves_in_force(attempts, {1: points([1, 2, 3])})) == ["error"]
    assert curves_in_force(attempts, {1: points([3])}) == {}


def test_an_impossible_source_is_no_source() -> None:
    assert lineage([attempt(1), attempt(2, 7, 10)]) == [(2, None)]
    assert lineage([attempt(1, 1, 10)]) == [(1, None)]
    assert lineage([attempt(1, 2, 10), attempt(2, 1, 10)]) == [(2, None), (1, 10)]


def test_ten_thousand_preemptions_are_no_problem() -> None:
    attempts = [attempt(1)] + [attempt(n, n - 1, n) for n in range(2, 10_001)]
    logged = {n: points([n]) for n in range(1, 10_001)}
    assert len(curves_in_force(attempts, logged)["error"]) == 10_000


@st.composite
def trials(draw: st.DrawFn) -> tuple[list[AttemptRecord], dict[int, list[int]]]:
    attempts, logged = [], {}
    for number in range(1, draw(st.integers(1, 6)) + 1):
        resumes = number > 1 and draw(st.booleans())
        source = draw(st.integers(1, number - 1)) if resumes else None
        step = draw(st.integers(0, 12)) if resumes else None
        attempts.append(attempt(number, source, step))
        logged[number] = sorted(draw(st.sets(st.integers(0, 15), max_size=6)))
    return attempts, logged


@given(trials())
def test_the_curve_is_that_of_its_definition(
    trial: tuple[list[AttemptRecord], dict[int, list[int]]],
) -> None:
    attempts, logged = trial

    def defined(record: AttemptRecord) -> Curve:
        steps = np.array(logged[record.number], dtype=np.int64)
        own = Curve.of(steps, steps + record.number / 10)
        if record.source is None or record.resumed_at is None:
            return own
        return defined(attempts[record.source - 1]).until(record.resumed_at).then(own)

    found = curves_in_force(attempts, {n: points(s, n / 10) for n, s in logged.items()})
    assert found.get("error", Curve.of([], [])) == defined(attempts[-1])
