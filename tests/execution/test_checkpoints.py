"""Checkpoints of a trial, over all its attempts."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.execution import checkpoints


def save(trial: Path, attempt: int, step: int, seconds: float = 0.0) -> None:
    folder = trial / str(attempt)
    folder.mkdir(parents=True, exist_ok=True)
    with checkpoints.save(folder, step, seconds) as place:
        (place / "step").write_text(str(step))


def found(trial: Path) -> list[tuple[int, int]]:
    return [(c.step, c.attempt) for c in checkpoints.newest(trial)]


def test_the_furthest_comes_first_then_the_latest(tmp_path: Path) -> None:
    for attempt, step in ((1, 9), (1, 10), (2, 10), (2, 100), (10, 10)):
        save(tmp_path, attempt, step)
    (tmp_path / "files").mkdir()
    (tmp_path / "3").mkdir()
    (tmp_path / "2" / "checkpoints" / ".200.ab.partial").mkdir()
    (tmp_path / "2" / "checkpoints" / "³").mkdir()
    assert found(tmp_path) == [(100, 2), (10, 10), (10, 2), (10, 1), (9, 1)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_the_new_one_is_kept_and_the_furthest_of_the_others(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
) -> None:
    trial = tmp_path_factory.mktemp("trial")
    kept: set[int] = set()
    for step in steps:
        others = sorted(kept - {step})
        kept = {step, *others[-(checkpoints.KEPT - 1) :]}
        save(trial, 1, step)
        assert {step for step, _ in found(trial)} == kept
        assert all(c.flaw is None for c in checkpoints.newest(trial))


def test_an_error_leaves_the_older_ones(tmp_path: Path) -> None:
    for step in (1, 2):
        save(tmp_path, 1, step)
    with pytest.raises(ZeroDivisionError), checkpoints.save(tmp_path / "1", 3, 0.0):
        _ = 1 / 0
    assert found(tmp_path) == [(2, 1), (1, 1)]


def test_what_is_said_about_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    with checkpoints.save(tmp_path / "1", 5, 12.5, ("loss", "accuracy")):
        pass
    (only,) = checkpoints.newest(tmp_path)
    assert only.seconds == 12.5
    assert only.logged == ("loss", "accuracy")
    assert only.flaw is None
    (only.folder / "more").touch()
    next(only.folder.glob("*.json")).write_text("{}")
    assert only.flaw == "its manifest cannot be read"


def test_leftovers(tmp_path: Path) -> None:
    save(tmp_path, 1, 5)
    (tmp_path / "1" / "checkpoints" / ".6.ab.partial").mkdir()
    checkpoints.remove_leftovers(tmp_path / "1")
    assert [entry.name for entry in (tmp_path / "1" / "checkpoints").iterdir()] == ["5"]
    checkpoints.remove_leftovers(tmp_path / "2")


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed"), True),
        (RuntimeError("I/O error: No space left on device (os error 28)"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (ValueError("the space left is odd"), False),
    ],
)
def test_a_full_disk_is_recognised(error: Exception, full: bool) -> None:
    assert checkpoints.says_disk_is_full(error) is full
