"""Row 34: a program prints without end, binary and without line breaks: nothing grows."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from attempts import curve, outcome, spec_in, train_here
from faults.bench import Bench
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


def memory(field: str, pid: int | str = "self") -> int:
    """A field of a process's status in bytes; 0 if it has ended."""
    lines = []
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = (int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    return next(found, 0)


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
def test_row_34_memory_and_log_of_a_command_stay_small(tmp_path: Path, kind: str) -> None:
    flood(tmp_path, kind, megabytes=40)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["text", "binary", "endless"])
def test_row_34_a_gigabyte_of_a_command(tmp_path: Path, kind: str) -> None:
    flood(tmp_path, kind, megabytes=1024)


# A function prints in every way there is: Python's, that of C, and a child's.
FUNCTION = """
    import ctypes, os, subprocess, sys, time

    def wait_for_room():
        deadline = time.monotonic() + 60
        while os.fstat(1).st_blocks * 512 > 32 << 20:
            assert time.monotonic() < deadline, "nobody gives the disk's room back"
            time.sleep(0.01)

    def train(run):
        print("first words", flush=True)
        block = {"text": b"x" * 63 + b"\\n", "binary": bytes(range(256)), "endless": b"x"}["KIND"]
        block = block * (1048576 // len(block))
        libc = ctypes.CDLL(None)
        for number in range(MEGABYTES // 4):
            # On a busy machine the keeper may sleep while all of it is written.
            if number % 8 == 0:
                wait_for_room()
            os.write(1, block)
            os.write(2, block)
            libc.write(1, block, len(block))
            sys.stdout.buffer.write(block)
        command = "head -c 12000000 /dev/zero; echo; echo words of a child >&2"
        subprocess.run(["sh", "-c", command], check=True)
        run.log({"error": run["x"]}, step=0)
        print("last words", flush=True)
"""


def flood_of_a_function(bench: Bench, kind: str, megabytes: int) -> None:
    """The keeper's memory, the room on the disk, and what is left in the end."""
    text = FUNCTION.replace("KIND", kind).replace("MEGABYTES", str(megabytes))
    bench.write_program(text)
    bench.write_study(scientific={}, trials=1)
    run = bench.start("run", "study.yaml", "--workers", "1")
    highest, room = 0, 0
    while run.process.poll() is None:
        for pid in bench.mark.parents():
            highest = max(highest, memory("VmHWM", pid))
        for path in (bench.folder / "book").rglob("log.txt"):
            room = max(room, path.stat().st_blocks * 512)
        time.sleep(0.05)
    done = run.wait()
    assert done.code == 0, done.err
    assert highest < 150 * MB
    # The program waits whenever it has written 32 MB more.
    assert room < 100 * MB
    log = Path(bench.results()[1].attempts[0].folder, "log.txt").read_bytes()
    assert log.startswith(b"first words\n")
    assert log.endswith(b"\nwords of a child\nlast words\n")
    assert b"\n[tunebook left out " in log
    assert len(log) <= bounded_log.FIRST_BYTES + bounded_log.LAST_BYTES + 100


@pytest.mark.parametrize("kind", ["text", "binary", "endless"])
def test_row_34_a_function_that_floods(bench: Bench, kind: str) -> None:
    flood_of_a_function(bench, kind, megabytes=100)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["text", "binary", "endless"])
def test_row_34_a_gigabyte_of_a_function(bench: Bench, kind: str) -> None:
    flood_of_a_function(bench, kind, megabytes=1024)
