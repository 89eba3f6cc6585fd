"""Which threshold cures."""

from __future__ import annotations

import pytest

from tunebook.procedures.remedies.clipping_tried import MOST_CLIPPED, Tried


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
