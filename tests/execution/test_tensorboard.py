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


def test_a_point_has_the_time_at_which_it_was_written(tmp_path: Path) -> None:
    folder = EventFolder(tmp_path)
    with writer(tmp_path) as logs:
        for step in range(3):
            logs.add_scalar("loss", 1.0, step, walltime=1000.25 + step)
    assert [row.at for row in folder.news()] == [1000.25, 1001.25, 1002.25]


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
    assert _event(event(4, "loss", tensor)) == (4, None, expected)


POINTS = [
    record(event(step, "loss", field(1, 2) + field(6, struct.pack("<d", step / 2))))
    for step in range(4)
]
ROWS = [Row(step, {"loss": step / 2}) for step in range(4)]
NAME = "events.out.tfevents.1"
DAMAGED = "the record at byte {} is damaged, as its checksum says; such points are left out"
LOST = "the record at byte {} {}; the rest of the file is left out"


class Damaged:
    """A folder with one file, of which all is read that can be."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.notes: list[str] = []
        self.folder = EventFolder(folder, self.notes.append)

    def read(self, content: bytes, *, last: bool = False) -> list[Row]:
        self.path.write_bytes(content)
        return list(self.folder.news(last=last))


@pytest.fixture
def damaged(tmp_path: Path) -> Damaged:
    return Damaged(tmp_path)


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 0x80]) + data[position + 1 :]


def test_a_long_record_is_passed_over(damaged: Damaged) -> None:
    image = record(field(5, field(1, field(1, b"image") + b"\x00" * (1 << 20))))
    assert damaged.read(POINTS[0] + image + POINTS[1]) == ROWS[:2]
    assert damaged.notes == []


def test_a_long_record_is_checked_if_it_holds_a_scalar(damaged: Damaged) -> None:
    histogram = field(5, field(1, field(1, b"weights") + field(5, b"\x01" * 5000)))
    scalar = event(1, "loss", field(1, 2) + field(6, struct.pack("<d", 9)))
    content = POINTS[0] + flipped(record(histogram), 100) + flipped(record(scalar + histogram), 30)
    assert damaged.read(content + POINTS[2]) == [ROWS[0], ROWS[2]]
    offset = len(POINTS[0] + record(histogram))
    assert damaged.notes == [f"{NAME}: {DAMAGED.format(offset)}"]


@pytest.mark.parametrize("position", range(12, len(POINTS[1])))
def test_a_damaged_content_costs_its_own_points_only(damaged: Damaged, position: int) -> None:
    broken = [POINTS[0], flipped(POINTS[1], position), flipped(POINTS[2], position), POINTS[3]]
    assert damaged.read(b"".join(broken)) == [ROWS[0], ROWS[3]]
    assert damaged.notes == [f"{NAME}: {DAMAGED.format(len(POINTS[0]))}"]


@pytest.mark.parametrize("position", range(12))
def test_a_damaged_length_costs_the_rest_of_the_file(damaged: Damaged, position: int) -> None:
    content = POINTS[0] + flipped(POINTS[1], position) + POINTS[2]
    assert damaged.read(content) == ROWS[:1]
    assert damaged.read(content + POINTS[3], last=True) == []
    lost = LOST.format(len(POINTS[0]), "has a damaged length")
    assert damaged.notes == [f"{NAME}: {lost}"]


@pytest.mark.parametrize("written", range(len(POINTS[1])))
def test_what_is_zero_may_still_be_written(damaged: Damaged, written: int) -> None:
    whole = b"".join(POINTS)
    end = len(POINTS[0]) + written
    assert damaged.read(whole[:end] + bytes(len(whole) - end)) == ROWS[:1]
    assert damaged.read(whole) == ROWS[1:]
    assert damaged.notes == []


def test_zeros_at_the_end_are_told(damaged: Damaged) -> None:
    whole = b"".join(POINTS)
    offset = len(POINTS[0] + POINTS[1])
    content = whole[: offset + 20] + bytes(len(whole) - offset - 20)
    assert damaged.read(content) == ROWS[:2]
    assert damaged.read(content, last=True) == []
    following = offset + len(POINTS[2])
    assert damaged.notes == [
        f"{NAME}: {DAMAGED.format(offset)}",
        f"{NAME}: {LOST.format(following, 'is zero')}",
    ]


def test_a_record_cut_short_is_no_damage(damaged: Damaged) -> None:
    assert damaged.read(POINTS[0] + POINTS[1][:-1], last=True) == ROWS[:1]
    assert damaged.notes == []


@given(st.binary(max_size=60))
def test_nothing_that_a_record_holds_is_an_error(content: bytes) -> None:
    step, _, scalars = _event(content)
    assert step >= 0
    assert all(isinstance(value, float) for _, value in scalars)
    assert _event(event(3, "loss", content))[0] in (0, 3)
