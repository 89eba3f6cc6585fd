"""Programs that are commands: an unmodified training script as the training function of a trial.

The function runs in the worker like any other, so that keepers, locks, memory limits and stop
requests hold for it. It starts the script, keeps its output within bounds, logs what the script
measures, and tells from its exit code how the trial ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NoReturn, cast

from tunebook.core.commands import BUDGETS, Command
from tunebook.core.errors import ProgramError, did_you_mean
from tunebook.core.protocols import Run, TrainFunction
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import arguments, memory, outcomes
from tunebook.execution.bounded_log import BoundedLog
from tunebook.execution.child import Child
from tunebook.execution.collecting import Collector, Earlier
from tunebook.execution.joined import ATTEMPT, METRICS
from tunebook.execution.rows import Lines
from tunebook.execution.run import LONGEST_REASON, SpoolRun, TrialEnded
from tunebook.files import atomic, space

# Lines that a script writes to a file bear the time at which they are read: so late, at most.
READ_SECONDS = 0.1
_READ_FILES_SECONDS = 0.5
# A keeper ends what does not leave in time; this is for when there is none.
_LEAVE_SECONDS = 5.0
_BUDGET_GRACE_SECONDS = 30.0
_DETAIL_LINES = 30


@dataclass(frozen=True, slots=True)
class CommandProgram:
    """A command that is run in a folder, that of its study file."""

    command: Command
    folder: str

    @property
    def reference(self) -> str:
        return str(self.command)

    @property
    def path(self) -> Path | None:
        """The script, where an argument names one."""
        first, *others = self.command.arguments
        # An interpreter by its full path is not the script.
        names = others if Path(first).is_absolute() else [first, *others]
        paths = (Path(self.folder, name) for name in names)
        return next((path for path in paths if _is_file(path)), None)

    @property
    def code(self) -> bytes:
        """The command and what is written in its script."""
        path = self.path
        # A compiled program, or a file of data, is not what one edits between two trials.
        own = path is not None and path.stat().st_size <= 1 << 20
        return repr(self.command).encode() + (path.read_bytes() if path and own else b"")

    def load(self) -> TrainFunction:
        return partial(_train, self)


def of(command: Command, folder: Path) -> CommandProgram:
    """A command in a folder, with a program that can be started."""
    name = command.arguments[0]
    program = CommandProgram(command, str(folder.resolve()))
    if "{" in name:
        return program
    if "/" in name:
        path = Path(program.folder, name)
        if not path.is_file():
            near = did_you_mean(path.name, [p.name for p in path.parent.glob("*")])
            raise ProgramError(f"there is no file {name!r} in {program.folder}{near}")
        if not os.access(path, os.X_OK):
            raise ProgramError(
                f"{name!r} is not executable; run chmod +x, or name what runs it: [bash, {name}]"
            )
    elif shutil.which(name, path=search_path()) is None:
        near = f"; write './{name}'" if Path(program.folder, name).is_file() else ""
        raise ProgramError(f"there is no program {name!r} on the PATH{near}")
    return program


def _train(program: CommandProgram, run: Run) -> None:
    _Execution(program, cast(SpoolRun, run)).through()


class _Execution:
    """One attempt at a command, from its start to its outcome."""

    def __init__(self, program: CommandProgram, run: SpoolRun) -> None:
        self._run = run
        self._command = program.command
        # The command runs in another folder than this process.
        attempt = self._attempt = Path(run.attempt.folder).resolve()
        run_dir, checkpoint_dir = attempt / "run", run.folder.resolve() / "checkpoints"
        for folder in (run_dir, checkpoint_dir):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        places = {
            "seed": str(run.seed),
            "run_dir": str(run_dir),
            "checkpoint_dir": str(checkpoint_dir),
            "port": str(_free_port()),
            **_budget(run),
        }
        self._kills = memory.oom_kills()
        self._log = BoundedLog(attempt / "log.txt")
        told = attempt / "metrics.jsonl"
        base = Path(program.folder)
        has_checkpoint = any(checkpoint_dir.iterdir())
        known = {**places, **{n: arguments.text(v) for n, v in run.params.items()}}
        self._collector = Collector(
            run,
            self._command,
            known,
            base,
            told=told,
            earlier=Earlier.of(run) if has_checkpoint else None,
        )
        self._lines = {1: Lines(), 2: Lines()}
        self._asked_until: float | None = None
        self._child = self._start(base, places, told)

    def through(self) -> None:
        """See it through; returns if the script did what it was to do, or has obeyed."""
        status = None
        try:
            status = self._follow()
            self._collect_the_rest()
        finally:
            if status is None:
                self._end_early()
            # What it has left behind in its session ends with it.
            self._child.kill()
            self._child.close()
            self._log.close()
        self._conclude(status)

    def _start(self, base: Path, places: dict[str, str], told: Path) -> Child:
        run, command = self._run, self._command
        params_file = self._attempt / "params.json"
        content = arguments.params_json(command, run.params).encode()
        atomic.write_file(params_file, content, durable=False)
        variables = {
            "PATH": search_path(),
            # Lines are there to be read while the script runs.
            "PYTHONUNBUFFERED": "1",
            "MASTER_PORT": places["port"],
            ATTEMPT: str(self._attempt),
            METRICS: str(told),
        }
        try:
            given = arguments.expand(command, run.params, places, str(params_file))
            variables |= arguments.variables(command, run.params, str(params_file))
            return Child(given, base, variables)
        except ProgramError as error:
            self._log.close()
            self._finish(Outcome(OutcomeKind.FAILED, str(error)[:LONGEST_REASON]))

    def _follow(self) -> int:
        """Take in what it prints and measures until it ends."""
        read = time.monotonic()
        while (status := self._child.status) is None:
            self._take(self._child.output(READ_SECONDS))
            self._collector.read_lines()
            if time.monotonic() - read > _READ_FILES_SECONDS:
                self._collector.read_files()
                read = time.monotonic()
            self._pass_on_requests()
        return status

    def _pass_on_requests(self) -> None:
        if self._asked_until is None:
            if self._run.should_stop:
                request = self._run.obeyed
                grace = request.grace if request else _BUDGET_GRACE_SECONDS
                self._asked_until = time.monotonic() + grace + _LEAVE_SECONDS
                self._child.ask()
        elif time.monotonic() > self._asked_until:
            self._child.kill()

    def _end_early(self) -> None:
        """The trial has ended, or was interrupted, while the script goes on."""
        self._child.ask()
        deadline = time.monotonic() + _LEAVE_SECONDS
        while self._child.status is None and time.monotonic() < deadline:
            for _, content in self._child.output(READ_SECONDS):
                self._log.write(content)

    def _collect_the_rest(self) -> None:
        self._take(self._child.rest())
        if self._command.reads_output:
            for lines in self._lines.values():
                for line in lines.end():
                    self._collector.read_output(line)
        self._collector.read_files(last=True)
        # One that was asked to leave may have been asked by whoever asks every process.
        _ = self._run.should_stop

    def _take(self, printed: Iterator[tuple[int, bytes]]) -> None:
        for stream, content in printed:
            self._log.write(content)
            if self._command.reads_output:
                for line in self._lines[stream].feed(content):
                    self._collector.read_output(line)

    def _conclude(self, status: int) -> None:
        """Returns if the run's own rules for a function that returns say the rest."""
        run = self._run
        if run.obeyed is not None or self._asked_until is not None:
            return
        if status in self._command.infeasible_exit_codes:
            reason = f"the command said so by exit code {status}{self._last_line()}"
            self._finish(Outcome(OutcomeKind.INFEASIBLE, reason, Cause.REPORTED, self._detail()))
        if status != 0:
            self._finish(self._failure(status))
        self._collector.end()
        if run.objective is not None and run.objective not in run.logged:
            self._finish(Outcome(OutcomeKind.FAILED, self._missing(), detail=self._detail()))

    def _failure(self, status: int) -> Outcome:
        ended = outcomes.behind_a_shell(status)
        last = self._last_line()
        # C++ aborts a program for which there is no memory.
        by_itself = ended > 0 or ended == -signal.SIGABRT
        if by_itself and outcomes.speaks_of_memory(self._detail()):
            return outcomes.out_of_memory(f"out of memory{last}", self._detail())
        if ended < 0:
            oom_killed = ended == -signal.SIGKILL and memory.oom_kills() > self._kills
            outcome = outcomes.of_exit(ended, oom_killed=oom_killed, detail=self._detail())
            shown = "" if ended == status else f" (exit code {status})"
            return replace(outcome, reason=f"{outcome.reason}{shown}")
        reason = f"the command left with exit code {status}{last}"
        if space.speaks_of_it(last):
            return outcomes.no_room(reason, self._detail())
        return Outcome(OutcomeKind.FAILED, reason, detail=self._detail())

    def _missing(self) -> str:
        seen = ", ".join(sorted(self._run.logged)[:10]) or "nothing"
        return (
            f"the objective's metric {self._run.objective!r} was never seen; the command gave "
            f"{seen}: see 'metrics' in the study, and the trial's log"
        )

    def _detail(self) -> str:
        lines = self._log.tail.splitlines()[-_DETAIL_LINES:]
        return "\n".join(lines)[-outcomes.LONGEST_DETAIL :]

    def _last_line(self) -> str:
        lines = (line.strip() for line in self._detail().splitlines())
        # Rulers of dashes say nothing.
        said = [line for line in lines if any(map(str.isalnum, line))]
        return f", after it said {said[-1]!r:.200}" if said else ""

    def _finish(self, outcome: Outcome) -> NoReturn:
        self._run.end(outcome)
        raise TrialEnded


def _budget(run: SpoolRun) -> dict[str, str]:
    budget = run.budget
    if budget is None:
        return {}
    whole = int(budget.amount) if float(budget.amount).is_integer() else budget.amount
    return {name: str(whole) for name in BUDGETS if name == f"max_{budget.unit}"}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # An argument may be too long for the name of a file.
        return False


def _free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def search_path() -> str:
    """Where programs are found: as in the user's shell, then beside the Python that runs this."""
    own = str(Path(sys.executable).parent)
    return os.pathsep.join(filter(None, (os.environ.get("PATH", os.defpath), own)))
