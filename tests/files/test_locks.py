"""Locks show life: held by a living process, freed at its death, never inherited."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from attempts import in_a_child
from tunebook.files import locks

HOLD = """
import sys
from pathlib import Path
from tunebook.files import locks
lock = locks.acquire(Path(sys.argv[1]))
lock.write(b"me")
{then}
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


class Holder:
    """A Python that holds a lock until it is let go or killed."""

    def __init__(self, path: Path, then: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD.format(then=then), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def __enter__(self) -> Holder:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_a_free_lock_is_taken_once(path: Path) -> None:
    assert not locks.is_held(path)
    with locks.acquire(path) as lock:
        assert isinstance(lock, locks.Lock)
        assert locks.acquire(path) is None
        assert locks.is_held(path)
    assert not locks.is_held(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_looking_at_a_lock_of_our_own_does_not_lose_it(path: Path) -> None:
    with locks.acquire(path):
        assert locks.is_held(path)
        assert locks.holder(path) == b""
        assert locks.acquire(path) is None
        assert in_a_child(lambda: locks.is_held(path))


def test_a_lock_has_one_file_whatever_its_name(path: Path, tmp_path: Path) -> None:
    with locks.acquire(path):
        (tmp_path / "link").symlink_to(path)
        assert locks.acquire(tmp_path / "link") is None
        assert in_a_child(lambda: locks.is_held(path))


def test_a_lock_can_be_taken_again(path: Path) -> None:
    for _ in range(3):
        with locks.acquire(path):
            assert in_a_child(lambda: locks.is_held(path))
        assert not in_a_child(lambda: locks.is_held(path))


def test_a_lock_is_held_by_a_living_process(path: Path) -> None:
    with Holder(path):
        assert locks.is_held(path)
        assert locks.acquire(path) is None
        assert locks.holder(path) == b"me"
        assert locks.is_held(path)


def test_a_lock_is_freed_by_kill_9(path: Path) -> None:
    with Holder(path) as holder:
        holder.process.send_signal(signal.SIGKILL)
        holder.process.wait()
        assert not locks.is_held(path)
        with locks.acquire(path):
            assert locks.is_held(path)


def test_a_grandchild_does_not_keep_a_dead_process_s_lock(path: Path) -> None:
    then = """
import os, time
child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(then=then), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    try:
        assert holder.stdout.readline() == b"held\n"
        assert locks.is_held(path)
        holder.kill()
        holder.wait()
        os.kill(child, 0)
        assert not locks.is_held(path)
    finally:
        os.kill(child, signal.SIGKILL)
        holder.communicate()


def test_a_forked_child_does_not_inherit_the_lock(path: Path) -> None:
    with locks.acquire(path) as lock:
        assert lock is not None

        def child() -> bool:
            lock.release()
            return locks.is_held(path)

        assert in_a_child(child)
        assert in_a_child(lambda: locks.acquire(path) is None)


def test_what_the_holder_says_is_replaced(path: Path) -> None:
    with locks.acquire(path) as lock:
        assert lock is not None
        lock.write(b"a long sentence")
        lock.write(b"short")
        assert not in_a_child(lambda: locks.holder(path) != b"short")
    assert locks.holder(path) == b"short"


def test_a_lock_that_nobody_made_says_nothing(path: Path) -> None:
    assert locks.holder(path) == b""
    assert not locks.is_held(path)
    assert not path.exists()


def test_another_trouble_is_not_taken_for_a_holder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(fcntl, "lockf", broken)
    with pytest.raises(OSError, match="No locks available"):
        locks.acquire(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_of_many_threads_one_gets_the_lock_and_keeps_it(path: Path) -> None:
    barrier = threading.Barrier(8)
    taken: list[locks.Lock] = []

    def take() -> None:
        barrier.wait()
        for _ in range(50):
            lock = locks.acquire(path)
            if lock is not None:
                taken.append(lock)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (lock,) = taken
    assert in_a_child(lambda: locks.is_held(path))
    lock.release()
