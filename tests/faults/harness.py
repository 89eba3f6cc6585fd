"""Studies under fire: start a coordinator, find its processes, kill them, and see what is left."""

from __future__ import annotations

import os
import random
import re
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from contracts import oracle
from faults import program
from tunebook.core.representation import number
from tunebook.core.results import Results
from tunebook.core.trials import OutcomeKind
from tunebook.storage.sqlite import open_store

HERE = Path(__file__).parent
_MARK = "FAULTS_MARK"
_ACKNOWLEDGED = re.compile(r"^\[\d+/\d+\] trial (\d+) \(.*\) complete: (\S+) at step")


def until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Wait for a condition, and say what never happened."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.01)


def kill(pids: Sequence[int]) -> None:
    """`kill -9`; who is gone already is gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def acknowledged(said: str) -> list[tuple[int, str]]:
    """The results that a coordinator printed: each was durable before. Half a line is none."""
    found = map(_ACKNOWLEDGED.match, said.rpartition("\n")[0].splitlines())
    return [(int(match[1]), match[2]) for match in found if match]


def check_acknowledged(results: Results, told: list[tuple[int, str]]) -> None:
    """Nothing that was told is missing, or told twice."""
    assert len(dict(told)) == len(told)
    for trial, value in told:
        measure = results.measure(results[trial])
        assert measure is not None, f"trial {trial} was acknowledged and is {results[trial]}"
        assert number(measure.value) == value


@dataclass(frozen=True)
class Mark:
    """A mark in the environment, by which every process of a test is found again."""

    text: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, _MARK: self.text}

    def parents(self) -> dict[int, int]:
        """The living processes that bear the mark, each with its parent."""
        wanted = f"{_MARK}={self.text}\0".encode()
        found = {}
        for entry in filter(str.isdecimal, os.listdir("/proc")):
            # A process may end while it is looked at.
            with suppress(OSError, IndexError):
                if wanted in Path("/proc", entry, "environ").read_bytes():
                    status = Path("/proc", entry, "stat").read_text().rpartition(") ")[2].split()
                    if status[0] not in "ZX":
                        found[int(entry)] = int(status[1])
        return found

    def children(self, parent: int) -> list[int]:
        return [pid for pid, above in self.parents().items() if above == parent]

    def end(self) -> None:
        """Kill all that bear the mark, until none is left."""
        while left := self.parents():
            kill(list(left))
            time.sleep(0.01)


@dataclass
class Siege:
    """A study in a folder of its own, and the processes that run it."""

    folder: Path
    trials: int
    workers: int = 2
    pause: float = 0.003
    mark: Mark = field(default_factory=Mark)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)

    def __enter__(self) -> Siege:
        return self

    def __exit__(self, *_: object) -> None:
        self.mark.end()
        for process in self.started:
            process.wait()

    @property
    def book(self) -> Path:
        return self.folder / "book"

    @property
    def lines(self) -> Path:
        """What coordinators have printed."""
        return self.folder / "lines"

    def start(self, *under: str) -> subprocess.Popen[bytes]:
        """A coordinator of the study, perhaps under another program such as `strace`."""
        arguments = [str(self.book), str(self.trials), str(self.workers)]
        with self.lines.open("ab") as lines:
            process = subprocess.Popen(
                [*under, sys.executable, str(HERE / "coordinator.py"), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=lines,
                env={
                    **self.mark.environment,
                    program.STARTS: str(self.folder / "starts"),
                    program.PAUSE: str(self.pause),
                },
            )
        self.started.append(process)
        return process

    def finish(self) -> None:
        """Let a coordinator run undisturbed to its end."""
        self.wait_for(self.start())

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a coordinator, and of the study with it."""
        try:
            code = process.wait(timeout=120)
        finally:
            process.kill()
        assert code == 0, self.lines.read_text()[-2000:]

    def serving(self, coordinator: int) -> list[int]:
        """The server, once it has keepers. (Killed during the import, it ends the run.)"""
        return [pid for pid in self.mark.children(coordinator) if self.mark.children(pid)]

    def attempts(self, coordinator: int) -> dict[int, list[int]]:
        """The keepers under a living coordinator, each with its workers.

        A keeper is a child of the server, or an orphan if its server has died.
        """
        parents = self.mark.parents()
        servers = {pid for pid, parent in parents.items() if parent == coordinator}
        keepers: dict[int, list[int]] = {
            pid: []
            for pid, parent in parents.items()
            if parent in servers or (parent not in parents and pid != coordinator)
        }
        for pid, parent in parents.items():
            if parent in keepers:
                keepers[parent].append(pid)
        return keepers

    def starts(self) -> Counter[tuple[int, int]]:
        """How often the program was really begun, by trial and attempt."""
        starts = self.folder / "starts"
        lines = starts.read_text().splitlines() if starts.exists() else []
        return Counter((int(trial), int(attempt)) for trial, attempt in map(str.split, lines))

    def acknowledged(self) -> list[tuple[int, str]]:
        return acknowledged(self.lines.read_text(errors="replace"))

    def results(self) -> Results:
        with open_store(self.book, readonly=True) as store:
            return store.results("siege")

    @property
    def has_begun(self) -> bool:
        """Whether there is a book with the study."""
        if not (self.book / "book.db").exists():
            return False
        with open_store(self.book, readonly=True) as store:
            return bool(store.studies())

    def check_book(self) -> Results:
        """What must hold of the study at every moment."""
        oracle.check(self.book)
        results = self.results()
        check_acknowledged(results, self.acknowledged())
        assert set(self.starts().values()) <= {1}
        return results

    def check(self) -> Results:
        """What must hold of the study once it has come to its end, whatever happened to it."""
        results = self.check_book()
        for setting in results.study.space.settings():
            assert results.counts(setting) == {"complete": self.trials}
        for record in results:
            kinds = [a.outcome.kind if a.outcome else None for a in record.attempts]
            assert kinds.count(OutcomeKind.COMPLETE) == 1, record
            expected = program.curve(float(record.trial.config["x"]))  # type: ignore[arg-type]
            curve = record.curves["error"]
            assert curve.steps.tolist() == list(range(program.STEPS)), record
            assert curve.values.tolist() == expected, record
        until(lambda: not self.mark.parents(), "no process is left", 10)
        return results


Attack = Callable[[Siege, random.Random, int], int]


def besiege(
    folder: Path, attack: Attack, *, kills: int, trials: int, seed: int, pause: float = 0.003
) -> list[Results]:
    """Run studies under attack until there were so many kills; every one of them must come out."""
    ended: list[Results] = []
    while kills > 0:
        with Siege(folder / f"siege-{len(ended)}", trials, pause=pause) as siege:
            kills -= attack(siege, random.Random(f"{seed}.{len(ended)}"), kills)
            ended.append(siege.check())
    return ended


def resumptions(ended: Sequence[Results]) -> int:
    """How many attempts went on from a checkpoint."""
    attempts = (a for results in ended for record in results for a in record.attempts)
    return sum(attempt.source is not None for attempt in attempts)


def kill_attempts(siege: Siege, chance: random.Random, most: int) -> int:
    """Kill workers, keepers or both, and now and then the fork server, under one coordinator."""
    process = siege.start()
    kills = 0
    while process.poll() is None and kills < most:
        time.sleep(chance.uniform(0.02, 0.12))
        families = sorted(siege.attempts(process.pid).items())
        if families:
            keeper, below = chance.choice(families)
            victims = chance.choice([[keeper], below[:1], below[:1], [keeper, *below]])
            if chance.random() < 0.1:
                victims = siege.serving(process.pid)
            kill(victims)
            kills += bool(victims)
    siege.wait_for(process)
    return kills


def kill_coordinators(siege: Siege, chance: random.Random, most: int) -> int:
    """Kill the coordinator alone, again and again, from its first moment on."""
    return _kill_repeatedly(siege, chance, most, lambda process: kill([process.pid]))


def kill_everything(siege: Siege, chance: random.Random, most: int) -> int:
    """Kill coordinator, server, keepers and workers together, in any order."""

    def strike(process: subprocess.Popen[bytes]) -> None:
        while victims := list(siege.mark.parents()):
            chance.shuffle(victims)
            kill(victims)
            process.poll()

    return _kill_repeatedly(siege, chance, most, strike)


def _kill_repeatedly(
    siege: Siege,
    chance: random.Random,
    most: int,
    strike: Callable[[subprocess.Popen[bytes]], None],
) -> int:
    for kills in range(most):
        process = siege.start()
        _wait_for_an_instant(siege, process, chance)
        if process.poll() is not None:
            siege.wait_for(process)
            return kills
        strike(process)
        process.wait()
        if siege.has_begun:
            siege.check_book()
    siege.finish()
    return most


def _wait_for_an_instant(
    siege: Siege, process: subprocess.Popen[bytes], chance: random.Random
) -> None:
    """A random time after the start of the coordinator, or after the next start of an attempt."""
    if chance.random() < 0.5:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(0.0, 1.2))
        return
    before = siege.starts()
    until(lambda: process.poll() is not None or siege.starts() != before, "an attempt begins")
    time.sleep(chance.uniform(0.0, 0.4))
