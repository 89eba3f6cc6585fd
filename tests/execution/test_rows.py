"""Rows of metrics in lines of text."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.execution.rows import (
    LONGEST_LINE,
    Lines,
    Row,
    Tail,
    json_object,
    json_row,
    pattern_rows,
    step_of,
)


@given(st.lists(st.binary(max_size=20)))
def test_lines_do_not_depend_on_how_they_come(pieces: list[bytes]) -> None:
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)] + lines.end()
    whole = re.split(rb"[\r\n]+", b"".join(pieces))
    assert found == [line.decode(errors="replace") for line in whole if line]


def test_a_line_without_an_end_is_cut() -> None:
    lines = Lines()
    for _ in range(10):
        assert lines.feed(b"x" * LONGEST_LINE) == []
    assert lines.feed(b"\nshort\n") == ["x" * LONGEST_LINE, "short"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"step": 3, "loss": 0.5}', Row(3, {"loss": 0.5})),
        (' {"global_step": 4.0, "loss": 1, "phase": "x", "done": true}', Row(4, {"loss": 1.0})),
        ('{"step": "5", "loss": 1e400}', Row(5, {"loss": math.inf})),
        ('{"loss": 2, "nested": {"a": 1}, "none": null, "": 3}', Row(None, {"loss": 2.0})),
        ('{"step": -1, "loss": 2}', Row(None, {"loss": 2.0}, "-1")),
        ('{"step": "x", "loss": 2}', Row(None, {"loss": 2.0}, "'x'")),
        ('{"step": null, "loss": 2}', Row(None, {"loss": 2.0})),
        ('{"step": -1}', None),
        ('{"step": 3, "global_step": 7}', Row(3, {"global_step": 7.0})),
        (f'{{"loss": 1{"0" * 400}}}', None),
        ('{"step": 3}', None),
        ("[1, 2]", None),
        ("{", None),
        ('{"a":' * 5000, None),
        ("loss: 3", None),
        (f'{{"loss": {"1" * 5000}}}', None),
    ],
)
def test_json_lines(line: str, expected: Row | None) -> None:
    content = json_object(line)
    assert (json_row(content) if content is not None else None) == expected


def test_nan_is_a_number() -> None:
    content: Any = json_object('{"loss": NaN}')
    row = json_row(content)
    assert row is not None
    assert math.isnan(row.metrics["loss"])


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (
            r"step (?P<step>\d+) loss (?P<loss>\S+) error (?P<error>\S+)",
            "12:00 step 3 loss 0.5, error 1e-3",
            [Row(3, {"loss": 0.5, "error": 1e-3})],
        ),
        (
            r"(?P<name>[\w/]+)=(?P<value>\S+)",
            "valid/loss=1 valid/error=nothing x=2",
            [Row(None, {"valid/loss": 1.0}), Row(None, {"x": 2.0})],
        ),
        (r"loss (?P<loss>\S+)( error (?P<error>\S+))?", "loss 1", [Row(None, {"loss": 1.0})]),
        (r"loss (?P<loss>\S+)", "gain 1", []),
        (r"(?P<step>\S+) loss (?P<loss>\S+)", "3, loss 1", [Row(3, {"loss": 1.0})]),
        (r"(?P<step>\S+) loss (?P<loss>\S+)", "-1 loss 1", [Row(None, {"loss": 1.0}, "-1.0")]),
        (r"(?P<step>\S+) loss (?P<loss>\S+)", "3/10 loss 1", [Row(None, {"loss": 1.0})]),
    ],
)
def test_patterns(pattern: str, line: str, expected: list[Row]) -> None:
    assert list(pattern_rows(re.compile(pattern), line)) == expected


def test_steps() -> None:
    steps = [step_of(value) for value in (3, 3.0, "3", "3e2", -1, 0.5, "x", None, 2**70, "inf", [])]
    assert steps == [3, 3, 3, 300, None, None, None, None, None, None, None]


class TestTail:
    def test_only_what_is_added(self, tmp_path: Path) -> None:
        path = tmp_path / "m.jsonl"
        path.write_text("old\n")
        tail = Tail(path)
        assert list(tail.news()) == []
        with path.open("a") as file:
            file.write("new\nhal")
            file.flush()
            assert list(tail.news()) == ["new"]
            file.write("f\nrest")
        assert list(tail.news()) == ["half"]
        assert list(tail.news(last=True)) == ["rest"]

    def test_a_file_that_comes_later_and_is_written_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "m.jsonl"
        tail = Tail(path)
        assert list(tail.news()) == []
        path.write_text("first line\n")
        assert list(tail.news()) == ["first line"]
        path.write_text("again\n")
        assert list(tail.news()) == ["again"]

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        assert list(Tail(tmp_path).news(last=True)) == []
