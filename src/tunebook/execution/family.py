"""Processes as a family: children die with their parent, and none of them escapes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import NoReturn

import psutil

from tunebook.execution.libc import libc

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36

# The exit code of a process that was refused by the disk.
COULD_NOT_WRITE = os.EX_IOERR
# What forks faster than it can be killed, or cannot be killed at all, is left after five seconds.
_MOST_ROUNDS = 50
_ROUND_SECONDS = 0.1


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process, even daemons."""
    if libc is not None:
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """Let this process be killed when its parent dies."""
    if libc is not None:
        libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def fork(work: Callable[[], None]) -> int:
    """Do some work in a child process; returns its id."""
    # What is in the buffers now would be written by both.
    _flush()
    pid = os.fork()
    if pid == 0:
        do_and_leave(work)
    return pid


def do_and_leave(work: Callable[[], None]) -> NoReturn:
    """Do the work of this process and end it, without waiting for the threads of anybody's program.

    A forked process also has exit handlers that are its parent's to run.
    """
    code = 0
    try:
        work()
    except BaseException as error:
        code = COULD_NOT_WRITE if isinstance(error, OSError) else 1
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def children() -> frozenset[int]:
    """The process ids of this process's children."""
    return frozenset(child.pid for child in psutil.Process().children())


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def kill_descendants(spare: Collection[int] = ()) -> None:
    """Kill every descendant but those to be spared (and theirs), and reap what has died."""
    for _ in range(_MOST_ROUNDS):
        if not _has_children():
            return
        victims = _without(spare)
        # With none to spare, a child that is not seen has only just been born.
        if spare and not victims:
            return
        for victim in victims:
            with suppress(psutil.Error):
                victim.kill()
        # Those whose parent was killed too become our children, and are seen in the next round.
        psutil.wait_procs(victims, timeout=_ROUND_SECONDS)


def reap() -> dict[int, int]:
    """Exit codes of the children that have died, by process id."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The program may have closed or replaced them.
        with suppress(Exception):
            stream.flush()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _without(spare: Collection[int]) -> list[psutil.Process]:
    """The descendants that are neither spared nor descend from one that is."""
    spared = set(spare)
    victims = []
    # Parents come before their children.
    for process in descendants():
        with suppress(psutil.NoSuchProcess):
            if process.pid in spared or process.ppid() in spared:
                spared.add(process.pid)
            else:
                victims.append(process)
    return victims
