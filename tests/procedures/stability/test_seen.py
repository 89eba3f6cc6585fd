"""What limits the learning rate, from what short trainings showed."""

from __future__ import annotations

import pytest

from small_studies import evidence_of
from tunebook.core.objective import Metric
from tunebook.procedures.stability.courses import Course
from tunebook.procedures.stability.seen import Limit, Seen
from tunebook.procedures.sweeps import Sweep
from tunebook.stats.stability import Kind

READING = evidence_of([{"error": [1.0]}]).readings[0]


def seen(*kinds: Kind, worse: bool = False) -> Seen:
    """Trainings at twice the best rate that went so."""
    courses = {2: tuple(Course(READING, kind) for kind in kinds)}
    return Seen(Sweep("lr", {}, {}), 0.1, courses, {}, Metric("loss"), 0.5, worse)


@pytest.mark.parametrize(
    ("kinds", "worse", "limit"),
    [
        ((Kind.EARLY, Kind.EARLY, Kind.STABLE), False, Limit.EARLY),
        ((Kind.EARLY, Kind.STABLE), False, Limit.STABLE),
        ((Kind.SUDDEN, Kind.SUDDEN), True, Limit.SUDDEN),
        ((Kind.STABLE, Kind.STABLE), True, Limit.ELSEWHERE),
        ((Kind.STABLE, Kind.STABLE), False, Limit.STABLE),
    ],
)
def test_what_limits_the_rate(kinds: tuple[Kind, ...], worse: bool, limit: Limit) -> None:
    """Instability is the limit before anything else is."""
    assert seen(*kinds, worse=worse).limit is limit


def test_a_multiple_that_was_not_seen_counts_as_stable() -> None:
    assert seen(Kind.EARLY).kind(10) is Kind.STABLE
