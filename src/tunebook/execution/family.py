"""Processes as a family: children die with their parent, and none of them escapes."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

import psutil

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
# Loaded once, before any fork: a child of a threaded process must not load libraries.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process, even daemons."""
    if _libc is not None:
        _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """Let this process be killed when its parent dies."""
    if _libc is not None:
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def descendants() -> list[psutil.Process]:
    try:
        return psutil.Process().children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def kill_descendants(spare: frozenset[int] = frozenset()) -> None:
    """Kill every descendant but those to be spared (and theirs), and reap what has died."""
    for _ in range(50):
        if not _has_children():
            return
        spared = set(spare)
        victims = []
        for child in psutil.Process().children(recursive=True):
            parent = _parent(child)
            if child.pid in spared or parent in spared:
                spared.add(child.pid)
            else:
                victims.append(child)
        if not victims:
            return
        for victim in victims:
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(victims, timeout=0.1)
        if not spare:
            reap()


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


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.NoSuchProcess:
        return None
