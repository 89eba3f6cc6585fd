"""Files and folders that exist as a whole or not at all.

The order is always the same: write beside the target, sync the content, rename, sync the folder.
A folder is whole when its manifest, which is written last, names every file with size and hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MANIFEST = "manifest.json"
_PARTIAL = ".partial"
_REPLACED = ".replaced"


def write_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file in one step; with `durable` it is on the disk when this returns."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames within a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to write into; it takes the target's place only when all is written and synced.

    An error inside leaves the target as it was and removes what was written so far.
    """
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_PARTIAL}")
    partial.mkdir(mode=0o700, parents=True)
    try:
        yield partial
        _seal(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _put_in_place(partial, target)


def flaw(folder: Path) -> str | None:
    """Why a folder is not whole, or None if every file is as its manifest says."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        files = {str(name): (entry["size"], entry["sha256"]) for name, entry in manifest.items()}
    except FileNotFoundError:
        return "it has no manifest"
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return "its manifest cannot be read"
    for name, (size, sha256) in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != size:
            return f"{name} has {path.stat().st_size} bytes instead of {size}"
        if _sha256(path) != sha256:
            return f"the content of {name} has changed"
    return None


def remove_leftovers(parent: Path) -> None:
    """Remove what interrupted writers left in a folder; only its owner may call this."""
    for entry in list(parent.glob(f".*{_PARTIAL}")) + list(parent.glob(f".*{_REPLACED}")):
        shutil.rmtree(entry, ignore_errors=True)


def _seal(folder: Path) -> None:
    manifest = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise ValueError(
                f"{path.name} is a symbolic link; copy the file into the folder instead"
            )
        if path.is_file():
            _sync_file(path)
            entry = {"size": path.stat().st_size, "sha256": _sha256(path)}
            manifest[path.relative_to(folder).as_posix()] = entry
    for inner in sorted(folder.rglob("*/")):
        sync_folder(inner)
    write_file(folder / MANIFEST, json.dumps(manifest, indent=1).encode())


def _put_in_place(partial: Path, target: Path) -> None:
    replaced = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_REPLACED}")
    with suppress(FileNotFoundError):
        target.rename(replaced)
    partial.rename(target)
    sync_folder(target.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
