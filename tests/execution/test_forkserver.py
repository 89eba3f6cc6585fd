"""The fork server and what becomes of its attempts, their children, and of itself."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from attempts import (
    TERMS,
    attempt_in,
    is_alive,
    next_started,
    outcome,
    outcomes,
    program_in,
    rest,
    run,
    running,
    wait_for,
)
from tunebook.core.events import Decision, Event, Finished, Started, Tick, Wait
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution import family, forkserver
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot

TWO = (Slot(0), Slot(1))


def server_of(started: Started) -> int:
    return int(psutil.Process(started.pid).ppid())


LEAVES_CHILDREN = """
    import os, time
    from pathlib import Path

    def sleep(note):
        (note / str(os.getpid())).touch()
        while True:
            time.sleep(60)

    def train(run):
        note = Path(run["note"])
        run.log({"loss": 1.0})
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                sleep(note)
            os._exit(0)
        if os.fork() == 0:
            os.setsid()
            sleep(note)
        while len(list(note.iterdir())) < 2:
            time.sleep(0.01)
        (note.parent / "ready").touch()
        if run["stays"]:
            time.sleep(600)
"""


def children_in(note: Path) -> list[int]:
    return [int(path.name) for path in note.iterdir()]


def test_row_33_nothing_lives_when_the_end_is_told(tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.mkdir()
    program = program_in(tmp_path, LEAVES_CHILDREN)
    proposed = [attempt_in(tmp_path, config={"note": str(note), "stays": False})]
    for event in running(Processes(TERMS, TWO), program, proposed):
        if isinstance(event, Finished):
            assert len(children_in(note)) == 2
            assert not any(map(is_alive, children_in(note)))
            assert event.outcome.kind is OutcomeKind.COMPLETE


@pytest.mark.parametrize("coordinator", ["stays", "leaves"])
def test_row_33_nothing_lives_after_kill_9_of_the_keeper(tmp_path: Path, coordinator: str) -> None:
    note = tmp_path / "note"
    note.mkdir()
    program = program_in(tmp_path, LEAVES_CHILDREN)
    config = {"note": str(note), "stays": True}
    proposed = [attempt_in(tmp_path, n, config=config) for n in (1,)]
    events = running(Processes(TERMS, TWO), program, proposed)
    started = next_started(events)
    wait_for((tmp_path / "ready").exists)
    if coordinator == "leaves":
        events.close()  # type: ignore[attr-defined]
    assert all(map(is_alive, children_in(note)))
    os.kill(started.pid, signal.SIGKILL)
    wait_for(lambda: not any(map(is_alive, children_in(note))), "the death of the children")
    if coordinator == "leaves":
        events = running(Processes(TERMS, TWO), program, proposed)
    ended = outcome(rest(events))
    assert ended == Outcome(OutcomeKind.CRASHED, "its processes died without a word")


def test_row_33_the_neighbour_of_a_killed_keeper_lives(tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.mkdir()
    program = program_in(
        tmp_path,
        LEAVES_CHILDREN
        + """
    stay = train

    def train(run):
        if run["note"]:
            stay(run)
        while not run.should_stop:
            run.log({"loss": 1.0})
            time.sleep(0.01)
        """,
    )
    configs = ({"note": str(note), "stays": True}, {"note": "", "stays": False})
    proposed = [attempt_in(tmp_path, n, config=config) for n, config in enumerate(configs, 1)]
    first: Started | None = None
    ended: dict[int, Outcome] = {}

    def decide(event: Event) -> Decision:
        return Decision.DRAIN if ended and isinstance(event, Tick) else Decision.GO_ON

    for event in running(Processes(TERMS, TWO), program, proposed, decide):
        if isinstance(event, Started) and event.attempt.trial.number == 1:
            first = event
        if first is not None and (tmp_path / "ready").exists() and is_alive(first.pid):
            os.kill(first.pid, signal.SIGKILL)
        if isinstance(event, Finished):
            ended[event.attempt.trial.number] = event.outcome
    assert ended[1].kind is OutcomeKind.CRASHED
    assert ended[2].kind is OutcomeKind.PREEMPTED
    assert ended[2].reason.startswith("interrupted at step")
    assert not any(map(is_alive, children_in(note)))


def test_children_that_the_import_started_are_not_an_attempt_s(tmp_path: Path) -> None:
    note = tmp_path / "helper"
    program = program_in(
        tmp_path,
        f"""
        import os, subprocess, time
        helper = subprocess.Popen(["sleep", "600"])
        open({str(note)!r}, "w").write(str(helper.pid))

        def train(run):
            if run["dies"]:
                os.kill(os.getppid(), 9)
                time.sleep(60)
            return 1.0
        """,
    )
    proposed = [attempt_in(tmp_path, n, config={"dies": n == 1}) for n in (1, 2)]
    try:
        ended = outcomes(run(Processes(TERMS, [Slot()]), program, proposed))
        assert ended[1].kind is OutcomeKind.CRASHED
        assert ended[2].kind is OutcomeKind.COMPLETE
        assert is_alive(int(note.read_text()))
    finally:
        # Whose it is sees to its end; here that is nobody.
        os.kill(int(note.read_text()), signal.SIGKILL)


def test_a_killed_server_is_noticed_and_its_attempts_go_on(tmp_path: Path) -> None:
    program = program_in(
        tmp_path,
        f"""
        import time
        from pathlib import Path

        def train(run):
            if run["waits"]:
                while not Path({str(tmp_path / "go")!r}).exists():
                    time.sleep(0.01)
            return 1.0
        """,
    )
    servers: list[int] = []
    ended: dict[int, Outcome] = {}

    def proposals() -> Iterator[Attempt | Wait]:
        for number in (1, 2):
            yield attempt_in(tmp_path, number, config={"waits": number == 1})
        while not ended:
            yield Wait()
        # What is asked of a server that is dead, but not known to be, has crashed.
        yield Wait()
        yield Wait()
        yield attempt_in(tmp_path, 3, config={"waits": False})

    for event in running(Processes(TERMS, TWO), program, proposals()):
        if isinstance(event, Started) and is_alive(event.pid):
            servers.append(server_of(event))
            if event.attempt.trial.number == 1:
                os.kill(servers[0], signal.SIGKILL)
        if isinstance(event, Finished):
            ended[event.attempt.trial.number] = event.outcome
            if len(ended) == 2:
                (tmp_path / "go").touch()
    assert ended[1] == ended[3] == Outcome(OutcomeKind.COMPLETE, "finished")
    # The second may have been asked for at the very moment of the server's death.
    assert ended[2].kind in (OutcomeKind.COMPLETE, OutcomeKind.CRASHED)
    assert not is_alive(servers[0])


def test_attempts_that_a_killed_server_never_began_are_not_lost(tmp_path: Path) -> None:
    program = program_in(tmp_path, "def train(run):\n    return 1.0")
    before = family.children()

    def proposals() -> Iterator[Attempt | Wait]:
        yield attempt_in(tmp_path, 1)
        (server,) = family.children() - before
        os.kill(server, signal.SIGSTOP)
        yield attempt_in(tmp_path, 2)
        os.kill(server, signal.SIGKILL)
        while not (tmp_path / "2" / "1" / "fenced").exists():
            yield Wait()
        yield attempt_in(tmp_path, 3)

    executor = Processes(TERMS, (Slot(0), Slot(1), Slot(2)))
    ended = outcomes(run(executor, program, proposals()))
    assert set(ended) == {1, 2, 3}
    assert ended[2] == Outcome(OutcomeKind.CRASHED, "its processes died without a word")
    assert ended[3].kind is OutcomeKind.COMPLETE


def test_what_cannot_be_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    def obstacle_with(cuda: bool, threads: int) -> str | None:
        torch = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: cuda))
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "torch", torch)
            patch.setattr(Path, "iterdir", lambda _: iter(range(1 + threads)))
            return forkserver._obstacle()

    assert obstacle_with(cuda=False, threads=0) is None
    assert obstacle_with(cuda=False, threads=1) == "importing it started 1 thread"
    assert obstacle_with(cuda=True, threads=3) == "importing it started 3 threads"
    assert obstacle_with(cuda=True, threads=0) == "importing it initialised CUDA"


def test_a_machine_without_processes_to_spare_ends_the_attempt(tmp_path: Path) -> None:
    program = program_in(
        tmp_path,
        """
        import os
        left = [1]
        fork = os.fork

        def once():
            if not left:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            left.pop()
            return fork()

        os.fork = once

        def train(run):
            return 1.0
        """,
    )
    proposed = [attempt_in(tmp_path, n) for n in (1, 2)]
    ended = outcomes(run(Processes(TERMS, [Slot()]), program, proposed))
    assert {outcome.kind.value for outcome in ended.values()} == {"crashed"}
