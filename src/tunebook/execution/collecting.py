"""Metrics of a command: from everywhere it may write them, to the run of its trial."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunebook.core.commands import STDOUT, Command
from tunebook.core.events import Logged
from tunebook.execution import arguments, records
from tunebook.execution.joined import FACT
from tunebook.execution.rows import Row, Tail, json_object, json_row, pattern_rows
from tunebook.execution.run import SpoolRun
from tunebook.execution.tensorboard import EventFolder
from tunebook.files import spool


@dataclass(frozen=True, slots=True)
class Earlier:
    """The last attempt before this one that logged anything: what a script may go on from."""

    number: int
    step: int
    logged: tuple[str, ...]

    @staticmethod
    def of(run: SpoolRun) -> Earlier | None:
        folder = Path(run.attempt.folder)
        for number in range(run.attempt.number - 1, 0, -1):
            step, logged = -1, dict[str, None]()
            for record, offset in spool.read(folder.parent / str(number) / "spool"):
                event = records.event(run.attempt, record, offset)
                for block in event.blocks if isinstance(event, Logged) else ():
                    step = max(step, int(block.steps.max()))
                    logged |= dict.fromkeys(block.names)
            if step >= 0:
                return Earlier(number, step, tuple(logged))
        return None


class Collector:
    """Logs what the sources of a command give. Nothing that a program writes ends its trial."""

    def __init__(
        self,
        run: SpoolRun,
        command: Command,
        places: Mapping[str, str],
        base: Path,
        *,
        told: Path,
        earlier: Earlier | None = None,
    ) -> None:
        """`told` is the file of `tunebook.log`; relative paths begin at `base`."""
        self._run = run
        self._began = time.monotonic()
        self._folder = told.parent
        self._told = Tail(told)
        files = [path for path in command.json_lines if path != STDOUT]
        self._files = [Tail(base / arguments.fill(path, places)) for path in files]
        self._folders = [
            EventFolder(base / arguments.fill(path, places), run.note)
            for path in command.tensorboard
        ]
        self._output_is_json = STDOUT in command.json_lines
        self._patterns = [re.compile(pattern) for pattern in command.patterns]
        self._earlier = earlier
        self._last: dict[str, int] = {}
        self._went_back = False
        self._told_of_steps = False

    def read_files(self, *, last: bool = False) -> None:
        """Log what was written to files since the last time."""
        self.read_lines(last=last)
        for folder in self._folders:
            self._add_all(folder.news(last=last))

    def read_lines(self, *, last: bool = False) -> None:
        """Log what the script has told by `tunebook.log`, and lines of JSON that it wrote."""
        for line in self._told.news(last=last):
            content = json_object(line)
            if content is not None:
                self._hear(content)
        for file in self._files:
            for line in file.news(last=last):
                self._add_all(_rows_of_json(line))

    def read_output(self, line: str) -> None:
        """Log what a line of the program's output says."""
        if self._output_is_json:
            self._add_all(_rows_of_json(line))
        for pattern in self._patterns:
            self._add_all(pattern_rows(pattern, line))

    def end(self) -> None:
        """A script that had nothing left to do has what the attempt before it had."""
        if self._earlier is not None and not self._last:
            self._go_on(self._earlier.number, self._earlier.step, self._earlier.logged)

    def _hear(self, content: Mapping[str, Any]) -> None:
        match content:
            case {"tunebook": "log", "step": step, "metrics": dict(metrics)}:
                at = content.get("at")
                rows = _rows_of_object({**metrics, "step": step})
                self._add_all(replace(r, at=at if isinstance(at, float) else None) for r in rows)
            case {"tunebook": "resumed", "attempt": int(number), "step": int(step)}:
                logged = [name for name in content.get("logged", ()) if isinstance(name, str)]
                if 0 < number < self._run.attempt.number:
                    self._go_on(number, step, tuple(logged))
            case {"tunebook": "infeasible", "reason": reason}:
                self._run.infeasible(str(reason))
            case {"tunebook": "sync", "answer": str(answer)}:
                self._run.sync()
                (self._folder / f"heard-{Path(answer).name}").touch(mode=0o600)
            case {"tunebook": "note", "text": text}:
                self._run.note(str(text))
            case _ if FACT not in content:
                self._add_all(_rows_of_object(content))

    def _add_all(self, rows: Iterator[Row]) -> None:
        for row in rows:
            self._add(row)

    def _add(self, row: Row) -> None:
        if row.no_step:
            self._note_no_step(row)
            return
        step = row.step
        if step is None:
            step = 1 + max((self._last.get(name, -1) for name in row.metrics), default=-1)
        if self._earlier is not None:
            self._go_on(self._earlier.number, step - 1, self._earlier.logged)
        forward = {n: v for n, v in row.metrics.items() if step >= self._last.get(n, -1)}
        if len(forward) < len(row.metrics):
            self._note_step_back(row, step)
        self._last |= dict.fromkeys(forward, step)
        if forward:
            self._run.log(forward, step, ago=self._age(row))

    def _age(self, row: Row) -> float:
        """The seconds since a row was written; 0 where nothing, or a wrong clock, tells it."""
        age = time.time() - row.at if row.at is not None else 0.0
        return age if 0.0 <= age <= time.monotonic() - self._began else 0.0

    def _go_on(self, number: int, step: int, logged: tuple[str, ...]) -> None:
        self._earlier = None
        if step >= 0:
            self._run.went_on(number, step, logged)

    def _note_no_step(self, row: Row) -> None:
        if not self._told_of_steps:
            self._told_of_steps = True
            self._run.note(
                f"{next(iter(row.metrics))!r} came with the step {row.no_step}, but steps are "
                "whole numbers from 0 on; points with another step are left out"
            )

    def _note_step_back(self, row: Row, step: int) -> None:
        if not self._went_back:
            self._went_back = True
            name = next(name for name in row.metrics if step < self._last.get(name, -1))
            self._run.note(
                f"{name!r} came at step {step} after step {self._last[name]}; "
                "points that go back are left out"
            )


def _rows_of_json(line: str) -> Iterator[Row]:
    content = json_object(line)
    return _rows_of_object(content) if content is not None else iter(())


def _rows_of_object(content: Mapping[str, Any]) -> Iterator[Row]:
    row = json_row(content)
    if row is not None:
        yield row
