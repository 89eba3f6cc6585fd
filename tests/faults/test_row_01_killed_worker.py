"""Row 1: `kill -9` of workers and keepers at random instants."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from attempts import TERMS, attempt_in, outcomes, program_in, run
from faults.harness import besiege, kill_attempts, resumptions
from tunebook.core.trials import OutcomeKind
from tunebook.execution.processes import Processes
from tunebook.execution.server import ForkServer
from tunebook.execution.slots import Slot


def test_row_1_killed_attempts_come_back_and_nothing_is_lost(tmp_path: Path) -> None:
    assert resumptions(besiege(tmp_path, kill_attempts, kills=30, trials=10, seed=1)) > 0


def test_row_1_a_server_that_dies_between_two_starts_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = ForkServer.start
    died: list[ForkServer] = []

    def start(server: ForkServer, folder: str) -> bool:
        """The first request reaches a server that will never read it."""
        if died:
            return send(server, folder)
        died.append(server)
        os.kill(server._process.pid, signal.SIGSTOP)
        sent = send(server, folder)
        server._process.kill()
        server._process.wait()
        return sent

    monkeypatch.setattr(ForkServer, "start", start)
    program = program_in(tmp_path, "def train(run): run.log({'loss': 1.0}, step=0)")
    executor = Processes(TERMS, [Slot(0), Slot(1)])
    ended = outcomes(run(executor, program, [attempt_in(tmp_path, trial) for trial in (1, 2)]))
    assert [outcome.kind for outcome in ended.values()] == [OutcomeKind.COMPLETE] * 2


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_row_1_hundreds_of_kills(tmp_path: Path, seed: int) -> None:
    assert resumptions(besiege(tmp_path, kill_attempts, kills=100, trials=50, seed=seed)) > 0


@pytest.mark.soak
def test_row_1_thousands_of_kills(tmp_path: Path) -> None:
    besiege(tmp_path, kill_attempts, kills=5000, trials=50, seed=1)
