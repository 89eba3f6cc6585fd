"""Event files as TensorBoard's writers write them: all points, growing, cut short, damaged."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.execution.rows import Row
from tunebook.execution.tensorboard import EventFolder, _event, _masked_crc


def writer(folder: Path, **given: Any) -> Any:
    return pytest.importorskip("tensorboardX").SummaryWriter(str(folder), **given)


def varint(number: int) -> bytes:
    number %= 1 << 64
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(step: int, tag: str, tensor: bytes) -> bytes:
    value = field(1, tag.encode()) + field(8, tensor)
    return field(2, step) + field(5, field(1, value))


def record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    checksums = [struct.pack("<I", _masked_crc(data)) for data in (length, content)]
    return length + checksums[0] + content + checksums[1]


def test_every_point_of_a_real_writer(tmp_path: Path) -> None:
    folder = EventFolder(tmp_path)
    with writer(tmp_path) as logs:
        for step in range(2000):
            logs.add_scalar("valid/loss", 1 / (1 + step), step)
        logs.add_histogram("weights", [1.0, 2.0, 3.0], 5)
        logs.add_text("note", "hello", 6)
        logs.add_scalar("late", float("nan"), 2**40)
    rows = list(folder.news())
    assert [row.step for row in rows[:-1]] == list(range(2000))
    assert [row.metrics["valid/loss"] for row in rows[:3]] == [1.0, 0.5, pytest.approx(1 / 3)]
    assert rows[-1].step == 2**40
    assert list(folder.news()) == []


def test_a_file_that_grows(tmp_path: Path) -> None:
    with writer(tmp_path / "source") as logs:
        for step in range(3):
            logs.add_scalar("loss", step, step)
    (whole,) = (tmp_path / "source").iterdir()
    content = whole.read_bytes()
    target = tmp_path / "target"
    target.mkdir()
    folder = EventFolder(target)
    seen = []
    for end in range(0, len(content) + 1, 7):
        (target / whole.name).write_bytes(content[:end])
        seen += list(folder.news())
    (target / whole.name).write_bytes(content)
    seen += list(folder.news())
    assert seen == [Row(step, {"loss": float(step)}) for step in range(3)]


def test_several_files_in_order_and_in_subfolders(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    with writer(tmp_path / "old") as logs:
        logs.add_scalar("loss", 0.0, 0)
    folder = EventFolder(tmp_path)
    for step, place in enumerate(("train", "valid")):
        with writer(tmp_path / place) as logs:
            logs.add_scalar("loss", 1.0, step)
    # Names begin with the time: the second is the later one.
    for number, name in ((2, "events.out.tfevents.2"), (1, "events.out.tfevents.1")):
        with writer(tmp_path / "made") as logs:
            logs.add_scalar("x", number, number)
        made = next((tmp_path / "made").iterdir())
        shutil.move(made, tmp_path / name)
    assert list(folder.news()) == [
        Row(1, {"x": 1.0}),
        Row(2, {"x": 2.0}),
        Row(0, {"train/loss": 1.0}),
        Row(1, {"valid/loss": 1.0}),
    ]


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (field(1, 1) + field(4, struct.pack("<f", 0.5)), 0.5),
        (field(1, 2) + field(4, struct.pack("<d", 0.1)), 0.1),
        (field(1, 9) + field(4, struct.pack("<q", -3)), -3.0),
        (field(1, 19) + field(4, struct.pack("<e", 0.25)), 0.25),
        (field(1, 1) + field(2, b"") + field(5, struct.pack("<f", 1.5)), 1.5),
        (field(1, 1) + varint(5 << 3 | 5) + struct.pack("<f", 2.5), 2.5),
        (field(1, 2) + field(6, struct.pack("<d", 0.1)), 0.1),
        (field(1, 9) + field(10, varint(-7)), -7.0),
        (field(1, 3) + field(7, 12), 12.0),
        # Two numbers, text, and a type that is none of these.
        (field(1, 1) + field(4, struct.pack("<ff", 1, 2)), None),
        (field(1, 7) + field(8, b"hello"), None),
        (field(1, 9) + field(10, varint(1) + varint(2)), None),
        (b"", None),
    ],
)
def test_tensors_of_one_number(tensor: bytes, value: float | None) -> None:
    expected = [] if value is None else [("loss", value)]
    assert _event(event(4, "loss", tensor)) == (4, expected)


def test_a_long_record_is_passed_over_and_a_damaged_file_left(tmp_path: Path) -> None:
    point = record(event(1, "loss", field(1, 2) + field(6, struct.pack("<d", 0.5))))
    image = record(field(5, field(1, field(1, b"image") + b"\x00" * (1 << 20))))
    path = tmp_path / "events.out.tfevents.1"
    folder = EventFolder(tmp_path)
    path.write_bytes(point + image + point + b"\xff" * 40 + point)
    assert list(folder.news()) == [Row(1, {"loss": 0.5})] * 2
    path.write_bytes(path.read_bytes() + point)
    assert list(folder.news()) == []


@given(st.binary(max_size=60))
def test_nothing_that_a_record_holds_is_an_error(content: bytes) -> None:
    step, scalars = _event(content)
    assert step >= 0
    assert all(isinstance(value, float) for _, value in scalars)
    assert _event(event(3, "loss", content))[0] in (0, 3)
