"""Memory: limits, what a process has of its own, and what the kernel killed."""

from __future__ import annotations

import mmap
import os
import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from attempts import in_a_child
from tunebook.execution import cgroups, memory

MB = 1 << 20


def fits(size: int) -> bool:
    try:
        return len(bytearray(size)) == size
    except MemoryError:
        return False


def test_a_limit_comes_on_top_of_what_there_is() -> None:
    def child() -> bool:
        memory.limit_data(100 * MB)
        return fits(50 * MB) and not fits(200 * MB)

    assert in_a_child(child)


def test_a_limit_is_lifted() -> None:
    def child() -> bool:
        before = resource.getrlimit(resource.RLIMIT_DATA)
        memory.limit_data(10 * MB)
        memory.lift_limit()
        return fits(100 * MB) and resource.getrlimit(resource.RLIMIT_DATA) == before

    assert in_a_child(child)


def test_lifting_nothing_changes_nothing() -> None:
    def child() -> bool:
        own = 3 << 30
        resource.setrlimit(resource.RLIMIT_DATA, (own, resource.RLIM_INFINITY))
        memory.lift_limit()
        return resource.getrlimit(resource.RLIMIT_DATA)[0] == own

    assert in_a_child(child)


def test_a_limit_respects_the_system_s() -> None:
    def child() -> bool:
        resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
        memory.limit_data(1 << 40)
        return resource.getrlimit(resource.RLIMIT_DATA) == (2 << 30, 2 << 30)

    assert in_a_child(child)


def test_what_is_shared_with_a_parent_counts_in_part() -> None:
    shared = bytearray(b"x") * (64 * MB)
    parent = memory.private_bytes(os.getpid())

    def child() -> bool:
        before = memory.private_bytes(os.getpid())
        own = bytearray(b"x") * (64 * MB)
        after = memory.private_bytes(os.getpid())
        return len(own) == len(shared) and after - before > 60 * MB and parent - before > 30 * MB

    assert in_a_child(child)


def test_memory_shared_between_processes_counts() -> None:
    before = memory.private_bytes(os.getpid())
    with mmap.mmap(-1, 32 * MB) as shared:
        shared.write(bytes(32 * MB))
        assert memory.private_bytes(os.getpid()) - before > 30 * MB


def test_a_process_that_is_gone_has_nothing() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert memory.private_bytes(pid) == 0


def test_kills_of_the_group_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "MEMBERSHIP", tmp_path / "membership")
    (tmp_path / "membership").write_text("0::/\n")
    (tmp_path / "memory.events").write_text("oom 5\noom_kill 3\noom_group_kill 9\n")
    assert memory.oom_kills() == 3


def test_kills_of_the_machine_are_counted_where_no_group_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "MEMBERSHIP", tmp_path / "membership")
    assert memory.oom_kills() >= 0
    monkeypatch.setattr(cgroups, "content_of", lambda path: f"a 1\noom_kill {len(str(path))}\n")
    monkeypatch.setattr(cgroups, "read", lambda *_, **__: "")
    assert memory.oom_kills() == len("/proc/vmstat")


def test_a_status_without_the_field() -> None:
    assert memory._in_status("VmNothing") == 0
    assert memory._in_status("VmData") > 0


def test_what_children_have_is_counted_too() -> None:
    code = "import time; held = bytearray(64 * 2**20); print('held', flush=True); time.sleep(60)"
    before = memory.resident_bytes()
    assert before > 2**20
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()
            assert memory.resident_bytes() > before + 50 * 2**20
        finally:
            child.kill()
    assert memory.resident_bytes() < before + 50 * 2**20


def test_a_child_that_ends_meanwhile_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    process = psutil.Process(gone.pid)
    gone.wait()
    # Other tests may have left children to this process.
    monkeypatch.setattr(psutil.Process, "children", lambda self, recursive: [])
    alone = memory.resident_bytes()
    monkeypatch.setattr(psutil.Process, "children", lambda self, recursive: [process])
    assert memory.resident_bytes() == pytest.approx(alone, rel=0.2)


def test_what_is_free_ends_at_the_limit_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    free = memory.free_bytes()
    assert 0 < free <= psutil.virtual_memory().total
    files = {"memory.max": str(300 * MB), "memory.current": str(100 * MB)}
    monkeypatch.setattr(cgroups, "read", lambda *_, v1, v2: files[v2])
    assert memory.free_bytes() == min(200 * MB, free) or free < 200 * MB
    files["memory.max"] = "max\n"
    assert memory.free_bytes() > 0
