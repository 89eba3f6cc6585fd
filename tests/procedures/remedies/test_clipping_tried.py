"""Which threshold cures."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.procedures.remedies.clipping_tried import MOST_CLIPPED, Tried, best_of
from tunebook.procedures.remedies.comparing import LEVEL
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


@pytest.mark.parametrize("unstable", [0.5, 0.8, 0.95])
def test_trainings_that_are_as_unstable_are_seldom_said_to_be_steadier(unstable: float) -> None:
    rng = np.random.default_rng(5)
    counts = rng.binomial(5, unstable, size=(2000, 2))
    found = [2 * b > 5 and fewer_p(int(a), 5, int(b), 5) <= LEVEL for b, a in counts]
    assert np.mean(found) <= LEVEL
