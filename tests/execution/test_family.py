"""Processes as a family. The tests act in a child: this process has children of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from attempts import in_a_child, is_alive, wait_for
from tunebook.execution import family


def sleeper(then: Callable[[], object] = lambda: None) -> int:
    """A child that does something and sleeps for ever."""

    def sleep() -> None:
        then()
        while True:
            time.sleep(60)

    return family.fork(sleep)


def daemon(note: Path) -> None:
    """A daemon as books tell how to make one: its parent is gone and its session is new."""

    def begin() -> None:
        os.setsid()
        note.write_text(str(sleeper()))

    os.waitpid(family.fork(begin), 0)


def test_a_child_does_its_work_and_leaves() -> None:
    pid = family.fork(lambda: None)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def fail() -> None:
    raise ValueError("said on standard error")


def refuse() -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (fail, 1),
        (refuse, family.COULD_NOT_WRITE),
        (lambda: sys.exit(0), 1),
        (lambda: sys.stdout.close(), 0),
        (lambda: setattr(sys, "stdout", None), 0),
    ],
)
def test_a_child_never_returns(work: Callable[[], None], code: int) -> None:
    def child() -> bool:
        os.close(2)
        os.open(os.devnull, os.O_WRONLY)
        pid = family.fork(work)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code

    assert in_a_child(child)


def test_threads_and_exit_handlers_are_not_waited_for(tmp_path: Path) -> None:
    script = f"""
import atexit, threading, time
from pathlib import Path
from tunebook.execution import family
atexit.register(lambda: Path({str(tmp_path / "handled")!r}).touch())
threading.Thread(target=time.sleep, args=(600,)).start()
print("a last word")
family.do_and_leave(lambda: None)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"a last word\n")
    assert not (tmp_path / "handled").exists()


def test_what_is_buffered_is_written_once() -> None:
    script = """
import os
from tunebook.execution import family
print("once")
os.waitpid(family.fork(lambda: print("child")), 0)
print("parent")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"once\nchild\nparent\n"


def test_descendants_are_killed_even_daemons(tmp_path: Path) -> None:
    def child() -> bool:
        family.adopt_orphans()
        children = [sleeper(), sleeper(os.setsid), sleeper(lambda: sleeper())]
        daemon(tmp_path / "daemon")
        wait_for(lambda: (tmp_path / "daemon").exists() and len(family.descendants()) == 5)
        family.kill_descendants()
        return not any(map(is_alive, [*children, int((tmp_path / "daemon").read_text())])) and (
            family.descendants() == []
        )

    assert in_a_child(child)


def test_what_forks_and_leaves_for_ever_is_killed(tmp_path: Path) -> None:
    def hydra() -> None:
        for _ in range(100_000):
            if os.fork():
                os._exit(0)
        os._exit(0)

    def child() -> bool:
        family.adopt_orphans()
        family.fork(hydra)
        family.kill_descendants()
        return not family._has_children() and family.descendants() == []

    assert in_a_child(child)


def test_some_are_spared_with_their_own(tmp_path: Path) -> None:
    def child() -> bool:
        family.adopt_orphans()
        spared = sleeper(lambda: sleeper())
        wait_for(lambda: len(family.descendants()) == 2)
        grandchild = next(p.pid for p in family.descendants() if p.pid != spared)
        victim = sleeper(lambda: sleeper())
        daemon(tmp_path / "daemon")
        wait_for(lambda: (tmp_path / "daemon").exists() and len(family.descendants()) == 5)
        family.kill_descendants(spare={spared})
        left = {process.pid for process in family.descendants()}
        alive = is_alive(spared) and is_alive(grandchild) and not is_alive(victim)
        family.kill_descendants()
        return alive and left == {spared, grandchild} and not family._has_children()

    assert in_a_child(child)


def test_nobody_to_kill() -> None:
    def child() -> bool:
        family.kill_descendants()
        family.kill_descendants(spare={1})
        return family.children() == frozenset()

    assert in_a_child(child)


def test_a_process_that_may_not_be_killed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def child() -> bool:
        pid = sleeper()

        def refuse_kill(process: psutil.Process) -> None:
            raise psutil.AccessDenied(process.pid)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(psutil.Process, "kill", refuse_kill)
            patch.setattr(family, "_MOST_ROUNDS", 2)
            family.kill_descendants()
        alive = is_alive(pid)
        family.kill_descendants()
        return alive

    assert in_a_child(child)


def test_the_dead_are_reaped_with_their_codes() -> None:
    def child() -> bool:
        good, bad = family.fork(lambda: None), family.fork(lambda: os._exit(3))
        killed = sleeper()
        os.kill(killed, signal.SIGKILL)
        ended: dict[int, int] = {}
        while len(ended) < 3:
            ended |= family.reap()
        return ended == {good: 0, bad: 3, killed: -9} and family.reap() == {}

    assert in_a_child(child)


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    note = tmp_path / "note"

    def parent() -> None:
        me = os.getpid()

        def child() -> None:
            family.die_with(me)
            note.write_text(str(os.getpid()))
            while True:
                time.sleep(60)

        family.fork(child)
        wait_for(lambda: note.exists() and note.read_text())
        os.kill(me, signal.SIGKILL)

    os.waitpid(family.fork(parent), 0)
    wait_for(lambda: not is_alive(int(note.read_text())), "the child's death")


def test_an_orphan_leaves_at_once() -> None:
    pid = family.fork(lambda: family.die_with(1))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
