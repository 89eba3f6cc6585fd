"""Many writers of a store, one after another, each to be killed or failed at a system call.

A process that has imported everything forks each of them: they begin at once, and `strace`, which
is slow, sees nothing but their work.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults.harness import HERE, until
from faults.system_calls import PYTHON, attach

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Ended:
    """How a writer ended (negative: by a signal), and what it said."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Nursery:
    """The process that forks writers."""

    process: subprocess.Popen[str]

    def write(self, folder: Path, *options: str, largest: int = resource.RLIM_INFINITY) -> Ended:
        """Let a writer do its work in a folder, with these options of `strace`.

        No file may have more than the `largest` number of bytes: of a write across that border the
        system takes a part, and the next one fails.
        """
        pid = int(self._ask(str(folder)))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, largest))
        with attach(pid, *options):
            os.kill(pid, signal.SIGCONT)
            status = int(self._ask(str(pid)))
        out, err = (folder.with_name(f"{folder.name}.{kind}") for kind in ("out", "err"))
        return Ended(status, out.read_text(), err.read_text())

    def _ask(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery while the block runs."""
    with subprocess.Popen(
        [PYTHON, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()


def main() -> None:
    """Fork a writer for each folder that is named; wait for it when it is asked for."""
    from faults import store_writer

    for line in sys.stdin:
        if line.strip().isdecimal():
            _, status = os.waitpid(int(line), 0)
            sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        else:
            folder = Path(line.strip())
            child = os.fork()
            if child == 0:
                _become_writer(folder, store_writer.run)
            until(lambda pid=child: _state(pid) == "T", "it stops")
            sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def _become_writer(folder: Path, work: Callable[[Path], int]) -> None:
    for descriptor, kind in ((1, "out"), (2, "err")):
        path = folder.with_name(f"{folder.name}.{kind}")
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), descriptor)
    os.kill(os.getpid(), signal.SIGSTOP)
    status = 70
    try:
        status = work(folder)
    finally:
        os._exit(status)


def _state(pid: int) -> str:
    return Path("/proc", str(pid), "stat").read_text().rpartition(") ")[2][0]


if __name__ == "__main__":
    main()
