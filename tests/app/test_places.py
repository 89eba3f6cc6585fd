"""Where books are, and what studies are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from strategies import texts
from tunebook.app import places
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Study


def test_the_book_is_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEBOOK_DIR", "elsewhere")
    assert places.book_folder("here") == Path("here")
    assert places.book_folder() == Path("elsewhere")
    monkeypatch.delenv("TUNEBOOK_DIR")
    assert places.book_folder() == Path(".tunebook")


def test_attempts_may_lie_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert places.attempts_folder() is None
    monkeypatch.setenv("TUNEBOOK_ATTEMPTS", "shared")
    assert places.attempts_folder() == Path("shared")


@given(texts)
def test_any_file_gives_a_study_its_name(program: str) -> None:
    name = places.study_name(program)
    assert Study(name, Space(), Objective(Metric("error"))).name == name
