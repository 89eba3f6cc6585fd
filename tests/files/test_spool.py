"""Spools: whatever happens to the file, what is read is a prefix of what was written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.files import spool
from tunebook.files.spool import SpoolWriter, when_room

contents = st.lists(st.binary(min_size=1, max_size=40), max_size=8)


def write(path: Path, records: list[bytes]) -> None:
    writer = SpoolWriter(path)
    for record in records:
        writer.append(record)
    writer.close()


def content_of(path: Path, offset: int = 0) -> list[bytes]:
    return [record for record, _ in spool.read(path, offset)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One place for all examples of a property; each begins with `fresh`."""
    return tmp_path_factory.mktemp("spools") / "spool"


def fresh(path: Path, records: list[bytes]) -> bytes:
    path.unlink(missing_ok=True)
    write(path, records)
    return path.read_bytes()


@given(records=contents)
def test_what_is_written_is_read(path: Path, records: list[bytes]) -> None:
    fresh(path, records)
    assert content_of(path) == records


@given(records=contents)
def test_reading_goes_on_where_it_stopped(path: Path, records: list[bytes]) -> None:
    whole = fresh(path, records)
    offsets = [0, *(offset for _, offset in spool.read(path))]
    assert offsets[-1] == len(whole)
    for number, offset in enumerate(offsets):
        assert content_of(path, offset) == records[number:]


@given(records=contents, data=st.data())
def test_a_truncated_spool_is_a_prefix(
    path: Path, records: list[bytes], data: st.DataObject
) -> None:
    whole = fresh(path, records)
    size = data.draw(st.integers(0, len(whole)))
    os.truncate(path, size)
    read = content_of(path)
    assert read == records[: len(read)]
    # Only the record that was cut is lost.
    assert len(b"".join(records[: len(read)])) + 8 * len(read) <= size
    assert len(read) == len(records) or (
        len(b"".join(records[: len(read) + 1])) + 8 * (len(read) + 1) > size
    )


@given(records=st.lists(st.binary(min_size=1, max_size=40), min_size=1), data=st.data())
def test_a_flipped_bit_leaves_a_prefix(
    path: Path, records: list[bytes], data: st.DataObject
) -> None:
    whole = bytearray(fresh(path, records))
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[bit // 8] ^= 1 << bit % 8
    path.write_bytes(whole)
    read = content_of(path)
    assert len(read) < len(records)
    assert read == records[: len(read)]


@given(records=contents, zeros=st.integers(0, 20), data=st.data())
def test_what_a_crash_leaves_may_be_cut(
    path: Path, records: list[bytes], zeros: int, data: st.DataObject
) -> None:
    whole = fresh(path, records)
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))] + bytes(zeros))
    ends = [0, *(offset for _, offset in spool.read(path))]
    assert spool.may_be_cut(spool.rest(path, ends[-1]))


@given(records=st.lists(st.binary(min_size=1, max_size=40), min_size=1), data=st.data())
def test_a_record_that_is_all_there_was_not_cut_by_a_crash(
    path: Path, records: list[bytes], data: st.DataObject
) -> None:
    """Its content has changed since: the last byte shows that all of it was written."""
    fresh(path, [*records, b"the last one"])
    ends = [0, *(offset for _, offset in spool.read(path))]
    damaged = bytearray(path.read_bytes())
    number = data.draw(st.integers(0, len(records)))
    damaged[ends[number] + 8] ^= 0xFF
    path.write_bytes(damaged)
    assert [offset for _, offset in spool.read(path)] == ends[1 : number + 1]
    assert not spool.may_be_cut(spool.rest(path, ends[number]))


def test_a_missing_spool_has_no_rest(tmp_path: Path) -> None:
    assert spool.rest(tmp_path / "missing", 0) == b""


@given(records=contents, later=contents, data=st.data())
def test_a_writer_cuts_off_a_torn_tail(
    path: Path, records: list[bytes], later: list[bytes], data: st.DataObject
) -> None:
    whole = fresh(path, records)
    os.truncate(path, data.draw(st.integers(0, len(whole))))
    kept = content_of(path)
    write(path, later)
    assert content_of(path) == kept + later


@given(records=contents, rubbish=st.binary(max_size=30))
def test_what_follows_the_records_is_not_read_as_one(
    path: Path, records: list[bytes], rubbish: bytes
) -> None:
    whole = fresh(path, records)
    path.write_bytes(whole + rubbish)
    assert content_of(path) == records


def test_zeros_at_the_end_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    write(path, [b"one"])
    with path.open("ab") as file:
        file.write(bytes(4096))
    assert content_of(path) == [b"one"]


def test_a_reader_sees_records_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    writer = SpoolWriter(path)
    writer.append(b"one")
    reading = spool.read(path)
    assert next(reading) == (b"one", 11)
    writer.append(b"two")
    assert next(reading) == (b"two", 22)
    assert next(reading, None) is None
    writer.close()


def test_a_spool_that_does_not_exist_has_no_records(tmp_path: Path) -> None:
    assert content_of(tmp_path / "spool") == []


@pytest.mark.parametrize("content", [b"", bytes(spool._LARGEST + 1)])
def test_a_record_has_a_size(tmp_path: Path, content: bytes) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    text = f"a record has 1 to {spool._LARGEST} bytes, got {len(content)}"
    with pytest.raises(ValueError, match=text):
        writer.append(content)
    writer.close()


def test_only_its_owner_reads_a_spool(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    write(path, [b"one"])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: whole(fd, bytes(data[:5]), at))
    write(tmp_path / "spool", [b"a record of some length", b"x"])
    assert content_of(tmp_path / "spool") == [b"a record of some length", b"x"]


def test_a_disk_that_takes_nothing_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spool"
    writer = SpoolWriter(path)
    writer.append(b"one")
    whole, taken = os.pwrite, [5, 0]
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: whole(fd, data[: taken.pop(0)], at))
    with pytest.raises(OSError, match="the disk took none of the bytes it was given"):
        writer.append(b"two")
    writer.close()
    assert content_of(path) == [b"one"]


def test_a_full_disk_leaves_the_spool_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spool"
    writer = SpoolWriter(path)
    writer.append(b"one")
    before = path.read_bytes()
    whole, room = os.pwrite, [5]

    def full(descriptor: int, data: bytes, at: int) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(descriptor, bytes(data[: room.pop()]), at)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left"):
        writer.append(b"two")
    assert path.read_bytes() == before
    monkeypatch.undo()
    writer.append(b"three")
    writer.close()
    assert content_of(path) == [b"one", b"three"]


@pytest.mark.parametrize(("written", "kept"), [(5, [b"one"]), (11, [b"one", b"two"])])
def test_an_interrupt_leaves_a_whole_record_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, kept: list[bytes]
) -> None:
    path = tmp_path / "spool"
    writer = SpoolWriter(path)
    writer.append(b"one")
    whole = os.pwrite

    def interrupted(descriptor: int, data: bytes, at: int) -> int:
        whole(descriptor, bytes(data[:written]), at)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "pwrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.append(b"two")
    monkeypatch.undo()
    assert content_of(path) == kept
    writer.append(b"three")
    writer.close()
    assert content_of(path) == [*kept, b"three"]


def test_the_name_of_a_new_spool_is_made_durable_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(spool.atomic, "sync", synced.append)
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(b"one")
    writer.sync()
    writer.sync()
    writer.close()
    again = SpoolWriter(tmp_path / "spool")
    again.sync()
    again.close()
    assert synced == [tmp_path]


def test_after_a_failed_sync_none_succeeds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = SpoolWriter(path)
    writer.append(b"a")

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output error"):
            writer.sync()
    with pytest.raises(OSError, match="Input/output error"):
        writer.sync()
    writer.close()


def test_only_a_full_disk_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "AGAIN_SECONDS", 0.0)
    refusals = [OSError(28, "full"), OSError(122, "quota")]

    def write() -> str:
        if refusals:
            raise refusals.pop()
        return "written"

    assert when_room(write) == "written"
    refusals.append(OSError(5, "broken"))
    with pytest.raises(OSError, match="broken"):
        when_room(write)
