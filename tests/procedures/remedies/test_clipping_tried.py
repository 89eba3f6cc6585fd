"""Which threshold cures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tunebook.core.objective import Metric
from tunebook.procedures.remedies.clipping_tried import (
    MOST_CLIPPED,
    Courses,
    Cure,
    Tried,
    best_of,
)
from tunebook.procedures.remedies.comparing import FIRST, LEVEL, SEEDS, Comparison, Outcomes
from tunebook.stats.sequential import looks_up_to
from tunebook.stats.shares import fewer_p


@pytest.mark.parametrize(
    ("trouble", "clipped", "cures"),
    [
        ("", 0.1, True),
        ("", MOST_CLIPPED, True),
        # Norms were logged after clipping: then nobody knows.
        ("", None, True),
        ("", MOST_CLIPPED + 0.01, False),
        ("it rises", 0.1, False),
        (None, 0.1, False),
    ],
)
def test_a_cure_is_stable_and_clips_at_most_half(
    trouble: str | None, clipped: float | None, cures: bool
) -> None:
    assert Tried(1.0, (), trouble, clipped).cures is cures


def test_trouble_that_is_clearly_less_will_do_where_nothing_cures() -> None:
    stays, calmer = Tried(9.0, (), "it rises", 0.1), Tried(3.0, (), "it rises", 0.1, calmer=True)
    most = Tried(1.0, (), "", MOST_CLIPPED + 0.1)
    assert best_of([stays]) is None
    assert best_of([stays, most]) is None
    assert best_of([stays, calmer, most]) is calmer
    cured = Tried(1.0, (), "", 0.2)
    assert best_of([stays, calmer, cured]) is cured
    assert best_of([Tried(1.0, (), None, None, calmer=True)]) is None


LOOKS = looks_up_to(SEEDS, LEVEL, FIRST)


def cure(before: Courses, after: Courses, errors: tuple[float, ...] = (0.1, 0.2, 0.3)) -> Cure:
    """What thresholds bring where training is unstable at the best rate already."""
    chosen = Tried(1.0, (), "", 0.1)
    found = Comparison(
        Metric("error"), Outcomes((0.1, 0.2, 0.3)), Outcomes(errors), level=LOOKS.level
    )
    common = {"at": 0.1, "rate": 0.1, "without": 0.1, "highest": 0.1, "own": None, "clipped": 0.1}
    return Cure((chosen,), chosen, is_best=True, found=found, before=before, after=after, **common)  # type: ignore[arg-type]


def test_steadier_trainings_pay_where_results_are_as_good() -> None:
    steadier = cure(Courses(5, 5), Courses(0, 5))
    assert steadier.steadier_p == fewer_p(0, 5, 5, 5)
    assert steadier.pays
    # Beyond luck at each of several looks, which four of five are not.
    assert not cure(Courses(4, 5), Courses(0, 5)).pays
    assert not cure(Courses(5, 5), Courses(0, 5), errors=(0.7, 0.8, 0.9)).pays
    assert not replace(steadier, is_best=False).pays
    # Most trainings must have been unstable.
    assert cure(Courses(10, 20), Courses(0, 20)).steadier_p == 1.0
    assert cure(Courses(11, 20), Courses(0, 20)).pays


@pytest.mark.parametrize("unstable", [0.5, 0.8, 0.95])
def test_trainings_that_are_as_unstable_are_seldom_said_to_be_steadier(unstable: float) -> None:
    """At 2.5% over all looks; those that results alone would end are looked at as well."""
    rng = np.random.default_rng(5)
    drawn = np.cumsum(rng.random((2000, 2, SEEDS)) < unstable, axis=2)
    found = [
        any(
            cure(Courses(int(b[n - 1]), n), Courses(int(a[n - 1]), n)).steadier_p <= LOOKS.level
            for n in LOOKS.sizes
        )
        for b, a in drawn
    ]
    assert np.mean(found) <= LEVEL
