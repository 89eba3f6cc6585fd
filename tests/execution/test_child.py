"""A process in a session of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from attempts import wait_for
from tunebook.core.errors import ProgramError
from tunebook.execution.child import Child


@contextmanager
def started(folder: Path, script: str, **variables: str) -> Iterator[Child]:
    child = Child([sys.executable, "-c", script], folder, variables)
    try:
        yield child
    finally:
        child.kill()
        child.close()


def everything(child: Child) -> dict[int, bytes]:
    found = {1: b"", 2: b""}
    while child.status is None:
        for stream, content in child.output(0.05):
            found[stream] += content
    for stream, content in child.rest():
        found[stream] += content
    return found


def test_both_streams_are_told_apart(tmp_path: Path) -> None:
    script = "import os; os.write(1, b'a' * 200_000); os.write(2, os.environ['X'].encode())"
    with started(tmp_path, script, X="b") as child:
        assert everything(child) == {1: b"a" * 200_000, 2: b"b"}
        assert child.status == 0


def test_output_that_is_closed_early(tmp_path: Path) -> None:
    script = "import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(7)"
    with started(tmp_path, script) as child:
        assert everything(child) == {1: b"", 2: b""}
        assert child.status == 7


def test_a_child_of_the_child_does_not_hold_it_up(tmp_path: Path) -> None:
    script = "import subprocess; subprocess.Popen(['sleep', '600']); print('done', flush=True)"
    with started(tmp_path, script) as child:
        assert everything(child)[1] == b"done\n"
        assert child.status == 0


def test_the_whole_session_is_asked(tmp_path: Path) -> None:
    script = """
import os, signal, subprocess, sys
below = subprocess.Popen([sys.executable, "-c", "import time; print('in', flush=True); "
    "time.sleep(600)"])
signal.signal(signal.SIGTERM, lambda *_: None)
code = below.wait()
os._exit(-code)
"""
    with started(tmp_path, script) as child:
        wait_for(lambda: any(b"in" in content for _, content in child.output(0.05)))
        child.ask()
        everything(child)
        assert child.status == 15


def test_it_leads_a_session(tmp_path: Path) -> None:
    with started(tmp_path, "import os; print(os.getsid(0) == os.getpid(), os.getcwd())") as child:
        assert everything(child)[1].decode().split() == ["True", str(tmp_path)]


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"cannot start 'nothing-here' in .*: No such file"):
        Child(["nothing-here"], tmp_path, {})
    with pytest.raises(ProgramError, match=r"cannot start 'a' in .*: embedded null byte"):
        Child(["a", "\0"], tmp_path, {})
