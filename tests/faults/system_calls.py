"""`strace`, which ends a process at any of its system calls, or lets any of them fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.harness import until

PYTHON = sys.executable
WRITING = ("pwrite64", "write", "fsync", "fdatasync", "rename", "unlink", "link", "ftruncate")
# Not with `--seccomp-bpf`, which is faster: signals are not injected then.
_STRACE = ("strace", "-qq", "-f")


def needs_strace() -> None:
    """Skip where there is no `strace`, or where it may not trace."""
    command = ["strace", "-qq", "-o", "/dev/null", "true"]
    if shutil.which("strace") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("strace is not there, or may not trace")


def fault(calls: str, what: str, when: str) -> tuple[str, ...]:
    """Options of `strace`: these calls fail, or end the process that makes them."""
    return ("-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:{what}:when={when}")


def under(*options: str) -> tuple[str, ...]:
    """The beginning of a command that runs under `strace`."""
    return (*_STRACE, *options)


@contextmanager
def attach(pid: int, *options: str) -> Iterator[None]:
    """Trace a process that exists, until it ends."""
    with subprocess.Popen([*_STRACE, *options, "-p", str(pid)]) as tracer:
        until(lambda: _tracer(pid) == tracer.pid, "strace has attached itself")
        yield


def count(trace: Path) -> Counter[str]:
    """How often a trace has each of the calls. Each line begins with the number of a process."""
    lines = trace.read_text(errors="replace").splitlines()
    return Counter(line.partition("(")[0].split()[-1] for line in lines if "(" in line)


def _tracer(pid: int) -> int:
    status = Path("/proc", str(pid), "status").read_text()
    return int(status.partition("TracerPid:")[2].split()[0])
