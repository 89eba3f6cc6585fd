"""Attempts are started through a server, and through a new one where one has died."""

from __future__ import annotations

from pathlib import Path

import psutil

from attempts import outcome, program_in, read, spec_in, wait_for
from tunebook.core.protocols import Program
from tunebook.execution.beginning import has_begun
from tunebook.execution.spec import Spec
from tunebook.execution.starting import Starter
from tunebook.files import locks

THREADED = """
    import threading, time
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()

    def train(run):
        return 1.0
"""


def starter(program: Program) -> tuple[Starter, list[str]]:
    told: list[str] = []
    return Starter(program, told.append, lambda: True), told


def see_through(starter: Starter, spec: Spec) -> str:
    spec.write()
    starter.start(spec.attempt.folder)
    wait_for(lambda: has_begun(spec) and not locks.is_held(spec.lock), "its end")
    return outcome(read(spec)).kind.value


def servers() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "forkserver" in " ".join(p.cmdline())]


def test_attempts_come_from_one_server(tmp_path: Path) -> None:
    start, told = starter(program_in(tmp_path, "def train(run):\n    return 1.0"))
    assert see_through(start, spec_in(tmp_path, 1)) == "complete"
    assert see_through(start, spec_in(tmp_path, 2)) == "complete"
    assert len(servers()) == 1
    start.close()
    assert told == []


def test_a_dead_server_is_replaced(tmp_path: Path) -> None:
    start, _ = starter(program_in(tmp_path, "def train(run):\n    return 1.0"))
    assert start.wait(0.0) is None
    assert see_through(start, spec_in(tmp_path, 1)) == "complete"
    (server,) = servers()
    server.kill()
    server.wait()
    wait_for(lambda: start.wait(0.05) is None, "the news of its death")
    assert see_through(start, spec_in(tmp_path, 2)) == "complete"
    start.close()


def test_a_program_that_cannot_be_forked_is_told_of_once(tmp_path: Path) -> None:
    program = program_in(tmp_path, THREADED)
    start, told = starter(program)
    for number in (1, 2):
        assert see_through(start, spec_in(tmp_path, number)) == "complete"
    start.close()
    assert told == [
        "Each trial starts a Python of its own, which takes longer: train.py:train cannot be "
        "forked, since importing it started 1 thread."
    ]
