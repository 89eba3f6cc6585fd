"""Memory of an attempt: its limit, what its processes use, and whether the system killed one."""

from __future__ import annotations

import resource
from pathlib import Path


def limit_data(limit: int) -> None:
    """Let this process and its children allocate this much on top of what it already has.

    Not `RLIMIT_AS`: it counts address space that torch and CUDA reserve without using it.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit + _status_bytes("VmData"), most))


def lift_limit() -> None:
    """Undo `limit_data`, so that a process out of memory can still say so."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def private_bytes(pid: int) -> int:
    """Memory of a process that is its own: pages shared with its parent count in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    wanted = ("Pss_Anon:", "Pss_Shmem:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted)) * 1024


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory in this process's group."""
    total = 0
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            counters = Path(f"/sys/fs/cgroup{path}/memory.events")
        elif "memory" in controllers.split(","):
            counters = Path(f"/sys/fs/cgroup/memory{path}/memory.oom_control")
        else:
            continue
        total += sum(
            int(entry.split()[1])
            for entry in _read(counters).splitlines()
            if entry.startswith("oom_kill ")
        )
    return total


def _status_bytes(field: str) -> int:
    for line in _read(Path("/proc/self/status")).splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
