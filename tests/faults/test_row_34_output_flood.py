"""Row 34: a program prints without end, binary and without line breaks: nothing grows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attempts import curve, outcome, spec_in, train_here
from tunebook.core.commands import Command
from tunebook.execution import bounded_log, commands

MB = 1 << 20
FLOOD = """
import os, sys
kind, megabytes = sys.argv[1], int(sys.argv[2])
block = {"text": b"x" * 63 + b"\\n", "binary": bytes(range(256)), "endless": b"x"}[kind]
block = block * (1048576 // len(block))
print("first words", flush=True)
for _ in range(megabytes):
    os.write(1, block)
print("\\nloss 0.5\\nlast words", flush=True)
"""


def memory(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def flood(folder: Path, kind: str, megabytes: int) -> None:
    (folder / "flood.py").write_text(FLOOD)
    arguments = (sys.executable, "flood.py", kind, str(megabytes))
    command = Command(arguments, patterns=(r"^loss (?P<loss>\S+)",))
    # From here on, the highest point of memory is that of the flood.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    events = train_here(commands.of(command, folder).load(), spec_in(folder))
    grown = memory("VmHWM") - before
    assert outcome(events).kind.value == "complete"
    assert curve(events) == [(0, 0.5)]
    assert grown < 24 * MB
    log = (folder / "1" / "1" / "log.txt").read_bytes()
    assert log.startswith(b"first words\n")
    assert log.endswith(b"\nloss 0.5\nlast words\n")
    assert b"\n[tunebook left out " in log
    assert len(log) <= bounded_log.FIRST_BYTES + bounded_log.LAST_BYTES + 100


@pytest.mark.parametrize("kind", ["text", "binary", "endless"])
def test_memory_and_log_stay_small(tmp_path: Path, kind: str) -> None:
    flood(tmp_path, kind, megabytes=40)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["text", "binary", "endless"])
def test_a_gigabyte(tmp_path: Path, kind: str) -> None:
    flood(tmp_path, kind, megabytes=1024)
