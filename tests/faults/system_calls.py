"""`strace`, which ends a process at any of its system calls, or lets any of them fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

WRITING = ("pwrite64", "write", "fsync", "fdatasync", "rename", "unlink", "link", "ftruncate")


def needs_strace() -> None:
    """Skip where there is no `strace`, or where it may not trace."""
    command = ["strace", "-qq", "-o", "/dev/null", "true"]
    if shutil.which("strace") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("strace is not there, or may not trace")


def inject(calls: str, what: str, when: str, *, children: bool = False) -> tuple[str, ...]:
    """The beginning of a command whose system calls fail, or end it."""
    follow = ("-f", "--seccomp-bpf") if children else ()
    fault = f"inject={calls}:{what}:when={when}"
    return ("strace", "-qq", *follow, "-o", "/dev/null", "-e", f"trace={calls}", "-e", fault)


def count(command: list[str], folder: Path, environment: dict[str, str]) -> Counter[str]:
    """How often a command that runs to its end makes each of the calls that write."""
    trace = folder / "trace"
    under = ["strace", "-qq", "-o", str(trace), "-e", f"trace={','.join(WRITING)}"]
    subprocess.run([*under, *command], check=True, capture_output=True, env=environment)
    lines = trace.read_text(errors="replace").splitlines()
    return Counter(line.partition("(")[0] for line in lines if "(" in line)


PYTHON = sys.executable
