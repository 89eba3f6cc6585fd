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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

# Not `manifest.json`: that may be a file of whoever fills the folder.
MANIFEST = "tunebook-manifest.json"
_PARTIAL = ".partial"
_REPLACED = ".replaced"


def write_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file in one step; with `durable` it is on the disk when this returns."""
    with new_file(path, durable=durable) as file:
        file.write(content)


@contextmanager
def new_file(path: Path, *, mode: int = 0o600, durable: bool = True) -> Iterator[BinaryIO]:
    """A file to write into; it takes the path's place only when all is written.

    An error inside leaves what was there before, and nothing of what was written so far.
    """
    partial = _beside(path, _PARTIAL)
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def sync(path: Path) -> None:
    """Make the content of a file, or the names within a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(target: Path, about: Mapping[str, Any] | None = None) -> Iterator[Path]:
    """A folder to write into; it takes the target's place only when all is written and synced.

    An error inside leaves the target as it was and removes what was written so far. `about` is kept
    in the manifest, for `read_about`.
    """
    partial = _beside(target, _PARTIAL)
    partial.mkdir(mode=0o700, parents=True)
    try:
        yield partial
        _seal(partial, about or {})
        _put_in_place(partial, target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def flaw(folder: Path) -> str | None:
    """Why a folder is not whole, or None if every file is as its manifest says."""
    try:
        content = (folder / MANIFEST).read_bytes()
        manifest = json.loads(content)
        intact = content == _manifest(manifest["about"], manifest["files"])
    except FileNotFoundError:
        return "it has no manifest"
    except (OSError, ValueError, TypeError, KeyError):
        return "its manifest cannot be read"
    if not intact:
        return "its manifest has changed"
    for name, entry in manifest["files"].items():
        reason = _file_flaw(folder / name, entry["size"], entry["sha256"])
        if reason is not None:
            return f"{name} {reason}"
    return None


def read_about(folder: Path) -> dict[str, Any]:
    """What was said about a folder when it was made."""
    about: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())["about"]
    return about


def remove_leftovers(parent: Path) -> None:
    """Remove what interrupted writers left in a folder; only its owner may call this."""
    for entry in (*parent.glob(f".*{_PARTIAL}"), *parent.glob(f".*{_REPLACED}")):
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}")


def _seal(folder: Path, about: Mapping[str, Any]) -> None:
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise ValueError(f"{name} is a symbolic link; copy the file into the folder instead")
        # A manifest that came with the copy of another such folder is replaced by this one's.
        if path.is_file() and name != MANIFEST:
            sync(path)
            files[name] = {"size": path.stat().st_size, "sha256": _sha256(path)}
        elif path.is_dir():
            sync(path)
    write_file(folder / MANIFEST, _manifest(dict(about), files))


def _manifest(about: Any, files: Any) -> bytes:
    """A manifest with the hash of its own content: no byte of it can change unseen."""
    content = {"about": about, "files": files}
    own = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return json.dumps({**content, "sha256": own}, indent=1).encode()


def _put_in_place(partial: Path, target: Path) -> None:
    replaced = _beside(target, _REPLACED)
    with suppress(FileNotFoundError):
        target.rename(replaced)
    try:
        partial.rename(target)
    except BaseException:
        with suppress(FileNotFoundError):
            replaced.rename(target)
        raise
    sync(target.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _file_flaw(path: Path, size: int, sha256: str) -> str | None:
    try:
        if not path.is_file():
            return "is missing"
        if path.stat().st_size != size:
            return f"has {path.stat().st_size} bytes instead of {size}"
        return None if _sha256(path) == sha256 else "has changed"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
