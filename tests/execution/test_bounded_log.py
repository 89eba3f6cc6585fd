"""A log whose beginning and end are kept, however much is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.execution import bounded_log
from tunebook.execution.bounded_log import TAIL_BYTES, BoundedLog, SharedLog, read

GAP = re.compile(rb"\n\[tunebook left out +(\d+) bytes here\]\n")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=20))
def test_first_and_last_are_kept(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.txt"
    log = BoundedLog(path, first=50, last=200)
    for piece in pieces:
        log.write(piece)
        assert path.stat().st_size <= 50 + 2 * 200 + 60
    log.close()
    whole, kept = b"".join(pieces), path.read_bytes()
    found = GAP.search(kept, 50)
    if found is None or found.start() != 50:
        assert kept == whole
    else:
        first, last = kept[:50], kept[found.end() :]
        assert whole.startswith(first)
        assert whole.endswith(last)
        assert len(first) + int(found[1]) + len(last) == len(whole)
        assert len(last) <= 200
    assert log.tail == whole[-TAIL_BYTES:].decode(errors="replace")


def test_what_others_append_is_kept(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log.txt", first=10, last=100)
    log.write(b"one ")
    with (tmp_path / "log.txt").open("ab") as file:
        file.write(b"two ")
    log.write(b"three")
    log.close()
    assert (tmp_path / "log.txt").read_bytes() == b"one two three"


def test_a_disk_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = BoundedLog(tmp_path / "log.txt")
    log.write(b"one\n")

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse)
        log.write(b"two\n")
        # What would have told of the first is not the program's.
        log.write(b"more\n")
    log.write(b"three\n")
    log.close()
    text = (tmp_path / "log.txt").read_text()
    assert text == "one\n\n[the disk refused 9 bytes here]\nthree\n"
    assert log.tail == "one\ntwo\nmore\nthree\n"


def test_it_is_for_the_user_alone(tmp_path: Path) -> None:
    BoundedLog(tmp_path / "log.txt").close()
    assert (tmp_path / "log.txt").stat().st_mode & 0o777 == 0o600


def test_a_log_that_others_write_takes_little_room(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    shared = SharedLog(path, first=1 << 16, last=1 << 18)
    shared.look()
    with path.open("ab", buffering=0) as writer:
        writer.write(b"first words\n")
        for number in range(200):
            writer.write(b"%8d\n" % number * (1 << 13))
            shared.look()
            status = path.stat()
            # Whole blocks of the file system at both ends of the hole.
            assert status.st_blocks * 512 <= (1 << 16) + 3 * (1 << 18) + (1 << 17)
        writer.write(b"last words\n")
    whole = path.stat().st_size
    assert whole > 14 << 20
    shared.close()
    kept = path.read_bytes()
    found = GAP.search(kept, 1 << 16)
    assert found is not None
    assert kept.startswith(b"first words\n")
    assert kept.endswith(b"     199\nlast words\n")
    assert b"\0" not in kept
    assert (1 << 16) + int(found[1]) + (1 << 18) == whole
    assert len(kept) == (1 << 16) + len(found[0]) + (1 << 18)


@pytest.mark.parametrize("library", [None, object()])
def test_a_system_without_holes_keeps_everything_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    monkeypatch.setattr(bounded_log, "libc", library)
    path = tmp_path / "log.txt"
    shared = SharedLog(path, first=10, last=100)
    path.write_bytes(b"x" * 1000)
    shared.look()
    assert path.read_bytes() == b"x" * 1000
    shared.close()
    assert len(path.read_bytes()) < 200


def test_a_short_log_of_others_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    shared = SharedLog(path, first=10, last=100)
    shared.look()
    shared.close()
    path.write_bytes(b"x" * 210)
    shared.look()
    shared.close()
    assert path.read_bytes() == b"x" * 210


def test_a_log_that_was_emptied_is_watched_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    shared = SharedLog(path, first=0, last=1 << 16)
    for _ in range(2):
        path.write_bytes(b"x" * (1 << 20))
        shared.look()
        assert path.stat().st_blocks * 512 < 1 << 18
        path.write_bytes(b"")
        shared.look()


def test_what_a_log_says(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    assert read(path) == ""
    path.write_bytes(b"a\xff")
    assert read(path) == "a\ufffd"
    path.write_bytes(b"a" * 10 + bytes(1000) + b"z" * 20)
    said = read(path, first=10, last=20)
    assert said == "a" * 10 + f"\n[tunebook left out {1000:>20} bytes here]\n" + "z" * 20
