"""How much room a disk has, and who says that it has none."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from tunebook.files import space


def test_a_path_that_does_not_exist_is_on_the_disk_of_its_parents(tmp_path: Path) -> None:
    total = shutil.disk_usage(tmp_path).total
    free = space.free_bytes(tmp_path / "not" / "yet")
    assert free is not None
    assert 0 < free <= total
    assert space.in_words(tmp_path).startswith("its disk has ")


def test_a_disk_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise OSError

    monkeypatch.setattr(shutil, "disk_usage", fail)
    assert space.free_bytes(tmp_path) is None
    assert space.in_words(tmp_path) == "its disk has an unknown number of bytes free"


def test_who_says_that_a_disk_is_full() -> None:
    assert space.is_full(OSError(errno.ENOSPC, "No space left on device"))
    assert not space.is_full(OSError(errno.EACCES, "Permission denied"))
    assert space.speaks_of_it("SafetensorError: I/O error: No space left on device (os error 28)")
    assert not space.speaks_of_it("out of memory")
