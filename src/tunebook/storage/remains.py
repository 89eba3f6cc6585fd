"""The rows of a damaged book that still make sense, each with what belongs to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tunebook.core.codec import loads
from tunebook.core.errors import StoreError
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code, Outcome, Trial
from tunebook.storage import chunks
from tunebook.storage.salvage import Row, Salvaged

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptAttempt:
    """An attempt as the book knew it; `broken` if points of it are known to be lost.

    It is `unended` if it has ended in a way that cannot be read.
    """

    row: Row
    code: Code
    outcome: Outcome | None
    notes: tuple[str, ...]
    points: tuple[tuple[Row, tuple[Row, ...]], ...]
    broken: bool
    unended: bool = False

    def attempt(self, trial: Trial) -> Attempt:
        return Attempt(trial, self.row["number"], self.row["token"], folder="")


@dataclass(frozen=True, slots=True)
class KeptTrial:
    """A trial as the book knew it, with its attempts by number."""

    trial: Trial
    attempts: Mapping[int, KeptAttempt]


@dataclass(frozen=True, slots=True)
class Remains:
    """Studies by their keys, and their trials by number, and what may be missing unseen."""

    studies: Mapping[int, Study] = field(default_factory=dict)
    trials: Mapping[int, Mapping[int, KeptTrial]] = field(default_factory=dict)
    doubtful_trials: bool = False
    doubtful_points: bool = False


def remains(found: Salvaged) -> Remains:
    """What the rows of a book say, without those that say nothing."""
    rows = [row for row in found.rows["studies"] if _are_numbers(row, "id")]
    studies = {row["id"]: _value(row["spec"], Study) for row in rows}
    known = {key: study for key, study in studies.items() if study is not None}
    attempts = _attempts(found)
    trials: dict[int, dict[int, KeptTrial]] = defaultdict(dict)
    for row in found.rows["trials"]:
        trial = _trial(row)
        if trial is not None:
            trials[row["study"]][trial.number] = KeptTrial(trial, attempts.get(row["id"], {}))
    holes = {*found.holes}
    return Remains(
        known,
        trials,
        doubtful_trials=bool({"studies", "trials", "attempts"} & holes),
        doubtful_points=bool({"blocks", "columns"} & holes),
    )


def _attempts(found: Salvaged) -> dict[int, dict[int, KeptAttempt]]:
    """The attempts by the key of their trial and their number."""
    notes: dict[int, list[str]] = defaultdict(list)
    for row in found.rows["notes"]:
        if isinstance(row["text"], str):
            notes[row["attempt"]].append(row["text"])
    points, broken = _points(found)
    kept: dict[int, dict[int, KeptAttempt]] = defaultdict(dict)
    for row in found.rows["attempts"]:
        code = _value(row["code"], Code)
        known = isinstance(row["token"], str) and code is not None
        if not known or not _are_numbers(row, "trial", "number", "offset", "last_step"):
            continue
        assert code is not None
        key = row["id"]
        own = points.get(key, [])
        # The last step that was logged must be there, or points after it are missing.
        sound = {**row, **_sound(row)}
        reached = max((block["last_step"] for block, _ in own), default=sound["resumed_at"] or -1)
        outcome = _value(row["outcome"], Outcome)
        kept[row["trial"]][row["number"]] = KeptAttempt(
            row=sound,
            code=code,
            outcome=outcome,
            notes=tuple(notes[key]),
            points=tuple(own),
            broken=key in broken or reached < row["last_step"],
            unended=outcome is None and row["outcome"] is not None,
        )
    return kept


def _points(found: Salvaged) -> tuple[dict[int, list[tuple[Row, tuple[Row, ...]]]], set[int]]:
    """The blocks of each attempt with their columns, and the attempts that have damaged ones."""
    columns: dict[int, list[Row]] = defaultdict(list)
    for row in found.rows["columns"]:
        columns[row["block"]].append(row)
    points: dict[int, list[tuple[Row, tuple[Row, ...]]]] = defaultdict(list)
    broken = set()
    for row in found.rows["blocks"]:
        whole = tuple(column for column in columns[row["id"]] if _is_whole(row, column))
        if len(whole) < max(len(columns[row["id"]]), 1):
            broken.add(row["attempt"])
        if whole:
            points[row["attempt"]].append((row, whole))
    return points, broken


def _is_whole(block: Row, column: Row) -> bool:
    try:
        steps = chunks.unpack_ints(block["steps"], block["count"])
        chunks.unpack_seconds(block["seconds"], block["count"])
        chunks.unpack_floats(column["values"], block["count"])
        ends = (int(steps[0]), int(steps[-1]))
    except (StoreError, TypeError, ValueError, IndexError):
        return False
    if not isinstance(column["metric"], str):
        return False
    rises = bool((steps[1:] > steps[:-1]).all())
    return rises and ends == (block["first_step"], block["last_step"])


def _trial(row: Row) -> Trial | None:
    content = _value(row["spec"], dict)
    if content is None or not _are_numbers(row, "study", "number", "origin_index"):
        return None
    try:
        trial = Trial("", row["number"], **content)
        same = (trial.setting.key, trial.index) == (row["setting"], row["origin_index"])
    except (TypeError, AttributeError):
        return None
    return trial if same else None


def _value(text: Any, kind: type[T]) -> T | None:
    """The value in a text, if it is of this kind; bytes are a text that is damaged."""
    if not isinstance(text, str):
        return None
    try:
        value = loads(text)
    except (StoreError, TypeError):
        return None
    return value if isinstance(value, kind) else None


def _sound(row: Row) -> Row:
    """What nothing hangs on, without what is not of its kind."""
    return {
        "host": row["host"] if isinstance(row["host"], str) else "",
        "seconds": row["seconds"] if isinstance(row["seconds"], int | float) else 0.0,
        "claimed_at": row["claimed_at"] if isinstance(row["claimed_at"], int | float) else 0.0,
        **{
            name: row[name] if isinstance(row[name], int) else None
            for name in ("pid", "source", "resumed_at")
        },
    }


def _are_numbers(row: Row, *names: str) -> bool:
    return all(isinstance(row[name], int) for name in names)
