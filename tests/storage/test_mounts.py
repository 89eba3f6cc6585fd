"""Network file systems are known by the kernel's list of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunebook.core.errors import StoreError
from tunebook.storage import mounts
from tunebook.storage.mounts import network_type, refuse_network

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:26 / /proc rw,nosuid shared:5 - proc proc rw
40 22 0:35 / /home rw,relatime shared:1 master:2 - nfs4 server:/home rw,vers=4.2
41 40 254:1 / /home/ada/scratch rw - xfs /dev/vdb rw
42 22 0:36 / /mnt/with\\040space rw - cifs //server/share rw
43 22 0:37 / /data rw - ext4 /dev/vdc rw
44 22 0:38 / /data rw - lustre mds:/fs rw
a line that is none
50 22 0:40 / /short
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", None),
        ("/var/lib", None),
        ("/home", "nfs4"),
        ("/home/ada/book", "nfs4"),
        ("/home/ada/scratch/book", None),
        ("/homework", None),
        ("/mnt/with space/book", "cifs"),
        ("/data/book", "lustre"),
        ("/short/book", None),
    ],
)
def test_the_deepest_mount_on_top_counts(path: str, expected: str | None) -> None:
    assert network_type(Path(path), MOUNTS) == expected


@pytest.mark.parametrize(
    "kind",
    [
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs"),
        *("9p", "vboxsf", "afs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone"),
    ],
)
def test_a_network_is_known(kind: str) -> None:
    assert network_type(Path("/a"), f"1 0 0:1 / / rw - {kind} source rw") == kind


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.fuse-overlayfs"]
)
def test_a_local_disk_is_known(kind: str) -> None:
    assert network_type(Path("/a"), f"1 0 0:1 / / rw - {kind} source rw") is None


def test_nothing_known_is_nothing_refused() -> None:
    assert network_type(Path("/a"), "") is None


def test_the_refusal_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"1 0 0:1 / {tmp_path} rw - nfs4 server:/ rw\n")
    monkeypatch.setattr(mounts, "_MOUNTINFO", mountinfo)
    with pytest.raises(StoreError) as refusal:
        refuse_network(tmp_path / "book")
    assert str(refusal.value) == (
        f"{tmp_path}/book is on a network file system (nfs4), where SQLite can lose data; "
        "put the book on a local disk with `--dir` or TUNEBOOK_DIR. "
        "The attempts' own files may stay on the shared one: TUNEBOOK_ATTEMPTS"
    )


def test_a_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"1 0 0:1 / {tmp_path}/shared rw - nfs server:/ rw\n")
    monkeypatch.setattr(mounts, "_MOUNTINFO", mountinfo)
    (tmp_path / "shared").mkdir()
    (tmp_path / "link").symlink_to("shared")
    refuse_network(tmp_path / "local")
    with pytest.raises(StoreError, match="network file system"):
        refuse_network(tmp_path / "link" / "book")


def test_without_a_list_of_mounts_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "_MOUNTINFO", tmp_path / "missing")
    refuse_network(tmp_path)


def test_the_list_of_this_machine_can_be_read(tmp_path: Path) -> None:
    refuse_network(tmp_path)
