"""No trial is begun on a disk that has no room, and that is told once."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tunebook.running.room import LEAST_BYTES, Room


def test_a_pause_is_told_once_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [LEAST_BYTES, 5, 6, LEAST_BYTES, LEAST_BYTES]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    told: list[str] = []
    room = Room((tmp_path / "not" / "yet",), told.append)
    assert [room() for _ in range(5)] == [True, False, False, True, True]
    assert told == [
        f"Paused: the disk of {tmp_path}/not/yet has 5 bytes free, and a trial is begun only with "
        "16777216 or more. Trials that run go on, and so does the study once there is room",
        "There is room again: the study goes on",
    ]


def test_a_disk_that_cannot_be_asked_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise OSError

    monkeypatch.setattr(shutil, "disk_usage", fail)
    assert Room((tmp_path,), print)()
