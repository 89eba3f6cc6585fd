"""Tests of execution do not wait for long, and leave neither processes nor modules behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from attempts import descendants, wait_for
from tunebook.execution import family, processes


@pytest.fixture(autouse=True)
def _executors_look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "READ_SECONDS", 0.1)
    monkeypatch.setattr(processes, "WAIT_SECONDS", 0.05)


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    # Daemons and other orphans come to this process, so that none of them goes unseen.
    family.adopt_orphans()
    before = descendants()
    yield
    # A fork server ends a moment after its last keeper.
    wait_for(lambda: descendants() <= before, "processes that the test has left behind")


@pytest.fixture(autouse=True)
def _imports_are_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("train", None)
    sys.modules.pop("tunebook_program", None)
