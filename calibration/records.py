"""Raw results of calibration, kept as JSON lines, and the intervals that are read off them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from scipy.stats import binomtest

RESULTS = Path(__file__).parent / "results"

Row: TypeAlias = Mapping[str, Any]


def save(name: str, rows: Iterable[Row], folder: Path = RESULTS) -> Path:
    """Write a row a line, as they come, so that what ran is kept when the rest does not."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, separators=(",", ":")) + "\n")
            stream.flush()
    return file


def load(name: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The rows of a file, in their order."""
    text = (folder / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def interval(count: int, of: int) -> tuple[float, float]:
    """The exact 95% interval of a share (Clopper and Pearson).

    >>> low, high = interval(0, 100)
    >>> low, round(high, 3)
    (0.0, 0.036)
    """
    found = binomtest(count, of).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)
