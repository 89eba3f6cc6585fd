"""Which file system a path is on: SQLite's locks and shared memory do not cross a network."""

from __future__ import annotations

import re
from pathlib import Path

from tunebook.core.errors import StoreError

_MOUNTINFO = Path("/proc/self/mountinfo")

_NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs")
)
_NETWORK |= {"afs", "coda", "orangefs", "panfs", "wekafs"}
_NETWORK |= {"9p", "vboxsf", "prl_fs", "vmhgfs"}  # folders that a virtual machine is lent
# Layers over a local disk of the same machine; any other FUSE may be a network in disguise.
_LOCAL_FUSE = frozenset(
    ("fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.ntfs-3g")
)


def network_type(path: Path, mountinfo: str) -> str | None:
    """The type of the network file system an absolute path is on, or None if it is local.

    >>> line = "40 28 0:35 / /home rw,relatime shared:1 - nfs4 server:/home rw"
    >>> network_type(Path("/home/ada/book"), line)
    'nfs4'
    """
    found = _type_of(path, mountinfo)
    shared = found in _NETWORK or (found.startswith("fuse.") and found not in _LOCAL_FUSE)
    return found if shared else None


def refuse_network(folder: Path) -> None:
    """Raise `StoreError` for a folder in which SQLite would lose data."""
    try:
        mountinfo = _MOUNTINFO.read_text(errors="surrogateescape")
    except OSError:  # no Linux: nothing is known, so nothing is refused
        return
    found = network_type(folder.resolve(), mountinfo)
    if found:
        raise StoreError(
            f"{folder} is on a network file system ({found}), where SQLite can lose data; "
            "put the book on a local disk with `--dir` or TUNEBOOK_DIR. "
            "The attempts' own files may stay on the shared one: TUNEBOOK_ATTEMPTS"
        )


def _type_of(path: Path, mountinfo: str) -> str:
    """The type of the deepest mount above the path; of equal ones the last, which is on top."""
    deepest, found = -1, ""
    for line in mountinfo.splitlines():
        mount, separator, source = line.partition(" - ")
        fields = mount.split(" ")
        if not separator or len(fields) < 5:
            continue
        point = Path(_unescape(fields[4]))
        depth = len(point.parts)
        if depth >= deepest and path.is_relative_to(point):
            deepest, found = depth, source.split(" ")[0]
    return found


def _unescape(text: str) -> str:
    r"""Mount points write space, tab, newline and backslash in octal, such as `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
