"""Raw results of calibration, kept as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

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
