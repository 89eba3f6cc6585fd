"""Which warm-up is stable."""

from __future__ import annotations

import pytest

from tunebook.procedures.remedies.warmup_tried import Tried


@pytest.mark.parametrize(("trouble", "stable"), [("", True), ("it rises", False), (None, False)])
def test_what_nobody_knows_is_not_stable(trouble: str | None, stable: bool) -> None:
    assert Tried(10, (), trouble).is_stable is stable
