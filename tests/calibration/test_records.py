"""Raw results are read as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from records import load, save


def test_rows_come_back_in_their_order(tmp_path: Path) -> None:
    rows = [{"x": 1, "p": [0.5, 1e-12]}, {"x": 2, "p": []}]
    assert save("some", rows, tmp_path / "results").name == "some.jsonl"
    assert load("some", tmp_path / "results") == rows


def test_what_ran_is_kept_when_the_rest_does_not(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, int]]:
        yield {"x": 1}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        save("some", rows(), tmp_path)
    assert load("some", tmp_path) == [{"x": 1}]
