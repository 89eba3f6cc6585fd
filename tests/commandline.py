"""The command line in tests: called in this process, or as a process that gets signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tunebook.app import cli

# A training function as a user writes it: ten lines.
TRAIN = """\
import time

def train(run):
    error = 1.0
    for step in range(10):
        error *= 1 - run["learning_rate"] * (0.5 if run["model"] == "big" else 0.3)
        time.sleep({pause})
        run.log({{"valid/error": error}}, step=step)
        if run.should_stop:
            return
"""
STUDY = """\
study: size
goal: Is the big model better?
program: train.py:train
objective: {metric: valid/error, better: lower}
scientific:
  model: [big, small]
nuisance:
  learning_rate: {log: [1e-3, 1]}
trials: 2
"""


@dataclass(frozen=True)
class Done:
    """What a command has left behind."""

    code: int
    out: str
    err: str


def write_study(folder: Path, pause: float = 0.0) -> Path:
    """`train.py` and `size.yaml`, a study of it."""
    (folder / "train.py").write_text(TRAIN.format(pause=pause))
    (folder / "size.yaml").write_text(STUDY)
    return folder / "size.yaml"


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """Call the command line in this process."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as left:
        patch.setattr(sys, "argv", ["tunebook", *map(str, arguments)])
        cli.main()
    out, err = capsys.readouterr()
    code = left.value.code
    return Done(code if isinstance(code, int) else 0, out, err)


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tunebook", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str], timeout: float = 60) -> Done:
    out, err = process.communicate(timeout=timeout)
    return Done(process.returncode, out, err)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C: every process of the terminal's foreground group gets the signal."""
    os.killpg(process.pid, signal.SIGINT)


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Return once a condition holds, or fail."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this has taken too long"
        time.sleep(0.02)
