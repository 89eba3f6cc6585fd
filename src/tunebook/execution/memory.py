"""Memory of an attempt: its limit, what its processes use, and whether the system killed one."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

from tunebook.execution import cgroups

_before: int | None = None


def limit_data(limit: int) -> None:
    """Let this process, and each of its children, allocate this much on top of what it has.

    Not `RLIMIT_AS`: it counts address space that torch and CUDA reserve without using it.
    """
    global _before
    _before, most = resource.getrlimit(resource.RLIMIT_DATA)
    wished = limit + _in_status("VmData")
    allowed = wished if most == resource.RLIM_INFINITY else min(wished, most)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


def lift_limit() -> None:
    """Undo `limit_data`, so that a process out of memory can still say so."""
    global _before
    if _before is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_before, most))
        _before = None


def private_bytes(pid: int) -> int:
    """Memory of a process that is its own: pages shared with its parent count in part."""
    lines = cgroups.content_of(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    wanted = ("Pss_Anon:", "Pss_Shmem:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted)) * 1024


def resident_bytes() -> int:
    """What this process and its descendants have in memory, whether they share it or not."""
    import psutil

    this = psutil.Process()
    used = 0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):
            used += process.memory_info().rss
    return used


def free_bytes() -> int:
    """What could be allocated now: what the machine has free, as far as the group's limit goes."""
    import psutil

    free = int(psutil.virtual_memory().available)
    limit = cgroups.read("memory", v1="memory.limit_in_bytes", v2="memory.max").strip()
    used = cgroups.read("memory", v1="memory.usage_in_bytes", v2="memory.current").strip()
    # "max" means no limit.
    if limit.isdigit() and used.isdigit():
        free = min(free, max(int(limit) - int(used), 0))
    return free


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory, in this group if it knows."""
    counters = cgroups.read("memory", v1="memory.oom_control", v2="memory.events")
    counters = counters or cgroups.content_of(Path("/proc/vmstat"))
    lines = (line.split() for line in counters.splitlines())
    return sum(int(line[1]) for line in lines if line[0] == "oom_kill")


def _in_status(field: str) -> int:
    """A field of this process's status, in bytes."""
    for line in cgroups.content_of(Path("/proc/self/status")).splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0
