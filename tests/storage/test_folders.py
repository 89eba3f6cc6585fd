"""The usual folder of a book, and the numbered ones within it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunebook.storage.folders import numbered, usual_folder


def test_the_usual_folder_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEBOOK_DIR", "elsewhere")
    assert usual_folder() == Path("elsewhere")
    monkeypatch.setenv("TUNEBOOK_DIR", "")
    assert usual_folder() == Path(".tunebook")


def test_numbers_are_in_their_own_order(tmp_path: Path) -> None:
    for name in ("10", "9", "files", "1.5"):
        (tmp_path / name).mkdir()
    assert numbered(tmp_path) == [9, 10]
    assert numbered(tmp_path / "none") == []
