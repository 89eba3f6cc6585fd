"""Files of the control groups of this process, in either version of Linux's hierarchy."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def read(controller: str, *, v1: str = "", v2: str = "") -> str:
    """What a file of the group says, whose name depends on the version; "" where there is none."""
    for line in content_of(MEMBERSHIP).splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            hierarchy, name = ROOT, v2
        elif controller in controllers.split(","):
            hierarchy, name = ROOT / controller, v1
        else:
            continue
        # A container may see its own group as the root of the hierarchy.
        for place in (hierarchy / group.lstrip("/"), hierarchy):
            content = content_of(place / name)
            if content:
                return content
    return ""


def content_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
