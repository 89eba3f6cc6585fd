"""A store that cannot be written now is waited for, and who waits is told once."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from tunebook.core.errors import StoreError, StoreFull, StoreLocked
from tunebook.core.events import Tick
from tunebook.core.protocols import Store
from tunebook.running import patience
from tunebook.running.patience import Patient


class Troubled:
    """A store that refuses so many times."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)

    def _call(self, *_: object) -> bool:
        if self.troubles:
            raise self.troubles.pop(0)
        return True

    create = claim = append = results = studies = _call


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "AGAIN_SECONDS", 0.0)


def patient(
    store: Troubled, leaving: Callable[[], bool] = lambda: False
) -> tuple[Patient, list[str]]:
    told: list[str] = []
    return Patient(cast(Store, store), told.append, leaving), told


def test_trouble_that_passes_is_waited_for_and_told_once() -> None:
    full, locked = StoreFull("no room for it"), StoreLocked("it is locked by process 7")
    store, told = patient(Troubled(full, full, locked))
    assert store.append(Tick(0))
    assert told == [
        "Paused: no room for it. Trials that run go on, and so does the study once the book can be "
        "written again",
        "The book can be written again: the study goes on",
    ]
    told.clear()
    assert store.append(Tick(0))
    assert told == []


def test_every_call_waits() -> None:
    calls = ("create", "claim", "append", "results", "studies")
    for call, arguments in zip(calls, ((0,), (0, 0, 0), (0,), (0,), ()), strict=True):
        store, told = patient(Troubled(StoreFull("full")))
        assert getattr(store, call)(*arguments)
        assert len(told) == 2


def test_who_leaves_does_not_wait_and_other_errors_are_raised() -> None:
    store, told = patient(Troubled(StoreFull("full")), leaving=lambda: True)
    with pytest.raises(StoreFull, match="full"):
        store.append(Tick(0))
    store, _ = patient(Troubled(StoreError("damaged")))
    with pytest.raises(StoreError, match="damaged"):
        store.append(Tick(0))
    assert told == []


def test_a_lock_is_not_waited_for_without_end_and_a_full_disk_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "LOCKED_SECONDS", -1.0)
    store, _ = patient(Troubled(StoreFull("full"), StoreLocked("locked by process 7; end it")))
    with pytest.raises(StoreLocked) as stuck:
        store.append(Tick(0))
    assert str(stuck.value) == (
        "locked by process 7; end it, then run again: it has been locked for 0 s"
    )
