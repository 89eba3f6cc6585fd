"""How long does `tunebook --help` take, from the shell's point of view?

Each repeat starts the installed command in a process of its own; the first one, which may have to
read the files from the disk and compile them, is not counted. Beside it stands Python itself,
started to do nothing, in turns with the command: what is left between the two is ours.

    .venv/bin/python benchmarks/startup.py

The last line is JSON with the raw seconds of every repeat. Where the time goes:

    .venv/bin/python -X importtime -m tunebook --help
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from measuring import claim, print_claims

REPEATS = 15
GOAL = 0.3
COMMANDS = {
    "tunebook --help": [str(Path(sys.executable).with_name("tunebook")), "--help"],
    "python -c pass": [sys.executable, "-c", "pass"],
}


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> int:
    for command in COMMANDS.values():
        seconds(command)
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(REPEATS):
        for name, command in COMMANDS.items():
            measured[name].append(round(seconds(command), 4))
    print(f"seconds, {REPEATS} repeats{'best':>12}{'median':>10}{'worst':>10}")
    for name, values in measured.items():
        ordered = sorted(values)
        cells = (ordered[0], ordered[REPEATS // 2], ordered[-1])
        print(f"{name:<20}" + "".join(f"{cell:>11.3f}" for cell in cells))
    print_claims([claim("tunebook --help, seconds", "<=", GOAL, measured["tunebook --help"])])
    return 0


if __name__ == "__main__":
    sys.exit(main())
