"""The command line as a user has it: a folder, a study file, a program, and processes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from contracts import oracle
from faults.harness import Mark, until
from tunebook.core.results import Results
from tunebook.storage.sqlite import open_store

STUDY = {
    "study": "depth",
    "goal": "Does it survive?",
    "objective": {"metric": "error", "better": "lower"},
    "scientific": {"arm": ["a", "b"]},
    "nuisance": {"x": {"linear": [0, 1]}},
    "trials": 2,
}


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


@dataclass
class Bench:
    """A folder in which commands are run; what they print is kept."""

    folder: Path
    mark: Mark = field(default_factory=Mark)
    started: list[Running] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)

    def write_study(self, **changes: object) -> None:
        """The study file, with some of its entries changed. (JSON is YAML.)

        A study with a command has no program.
        """
        program = {} if "command" in changes else {"program": "train.py:train"}
        study = {**STUDY, **program, **changes}
        (self.folder / "study.yaml").write_text(json.dumps(study, indent=1))

    def write_program(self, content: str) -> None:
        (self.folder / "train.py").write_text(textwrap.dedent(content))

    def start(self, *arguments: str, under: tuple[str, ...] = ()) -> Running:
        """A command in the background, perhaps under another program such as `strace`."""
        number = len(self.started) + 1
        streams = [self.folder / f"{number}.{kind}" for kind in ("out", "err")]
        with streams[0].open("wb") as out, streams[1].open("wb") as err:
            process = subprocess.Popen(
                [*under, sys.executable, "-m", "tunebook", *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**self.mark.environment, "TUNEBOOK_DIR": str(self.folder / "book")},
            )
        self.started.append(Running(process, *streams))
        return self.started[-1]

    def run(self, *arguments: str) -> Done:
        """A command to its end."""
        return self.start(*arguments).wait()

    def run_study(self, *options: str) -> Done:
        return self.run("run", "study.yaml", *options)

    def results(self, study: str = "depth") -> Results:
        oracle.check(self.folder / "book")
        with open_store(self.folder / "book", readonly=True) as store:
            return store.results(study)

    def keeper(self, trial: int) -> int:
        """The process that keeps the running attempt of a trial, once the book knows it."""
        until(lambda: self.results()[trial].attempts[-1].pid, "the keeper is known")
        pid = self.results()[trial].attempts[-1].pid
        assert pid is not None
        return pid

    def end(self) -> None:
        """Kill everything, and leave nothing behind."""
        self.mark.end()
        for running in self.started:
            running.process.wait()

    def is_quiet(self) -> None:
        """No process of any command is left."""
        until(lambda: not self.mark.parents(), "no process is left", 10)

    def wait_for_file(self, name: str) -> None:
        until((self.folder / name).exists, f"the program writes {name}")


@dataclass(frozen=True)
class Running:
    """A command in the background."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def wait(self, seconds: float = 90.0) -> Done:
        try:
            code = self.process.wait(timeout=seconds)
        finally:
            self.process.kill()
        return Done(code, self.out.read_text(), self.err.read_text())
