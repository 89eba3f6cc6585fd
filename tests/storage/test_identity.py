"""The name of a book stays the same, and is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunebook.core.errors import StoreError
from tunebook.storage.identity import NAMELESS, identity


def test_a_name_is_made_once_and_only_when_asked(tmp_path: Path) -> None:
    assert identity(tmp_path, make=False) == NAMELESS
    assert list(tmp_path.iterdir()) == []
    name = identity(tmp_path, make=True)
    assert len(name) == 16
    assert identity(tmp_path, make=True) == name == identity(tmp_path, make=False)
    (tmp_path / "other").mkdir()
    assert identity(tmp_path / "other", make=True) != name


def test_a_place_that_refuses_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write .*identity: No such file or directory"):
        identity(tmp_path / "missing", make=True)
