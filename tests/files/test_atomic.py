"""Files and folders that are there as a whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.files import atomic

names = st.sampled_from(["a", "b", "c.bin", "manifest.json", "inner/a", "inner/deeper/é.txt"])
trees = st.dictionaries(names, st.binary(max_size=60), max_size=4)


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def content_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != atomic.MANIFEST
    }


def entries(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property; each begins with `fresh`."""
    return tmp_path_factory.mktemp("folders")


def fresh(place: Path, files: dict[str, bytes]) -> Path:
    shutil.rmtree(place)
    place.mkdir()
    with atomic.new_folder(place / "target", {"step": 7}) as folder:
        fill(folder, files)
    return place / "target"


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic.write_file(path, b"one")
    atomic.write_file(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert entries(tmp_path) == {"file"}


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_file_that_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "file"
    atomic.write_file(path, b"one")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if broken == "fsync" else Path, broken, fail)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert entries(tmp_path) == {"file"}


@given(files=trees)
def test_a_folder_is_whole(place: Path, files: dict[str, bytes]) -> None:
    target = fresh(place, files)
    assert content_of(target) == files
    assert atomic.flaw(target) is None
    assert atomic.read_about(target) == {"step": 7}
    assert entries(place) == {"target"}


@given(before=trees, after=trees)
def test_a_folder_takes_the_place_of_another(
    place: Path, before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    target = fresh(place, before)
    with atomic.new_folder(target) as folder:
        fill(folder, after)
        assert content_of(target) == before
    assert content_of(target) == after
    assert atomic.flaw(target) is None
    assert entries(place) == {"target"}


@given(before=trees, after=trees, error=st.sampled_from([OSError, KeyboardInterrupt, SystemExit]))
def test_an_exception_leaves_the_old_folder(
    place: Path, before: dict[str, bytes], after: dict[str, bytes], error: type[BaseException]
) -> None:
    target = fresh(place, before)
    with pytest.raises(error), atomic.new_folder(target) as folder:
        fill(folder, after)
        raise error
    assert content_of(target) == before
    assert atomic.flaw(target) is None
    assert entries(place) == {"target"}


@pytest.mark.parametrize("exists", [True, False])
def test_an_exception_in_the_last_rename_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    target = tmp_path / "target"
    if exists:
        with atomic.new_folder(target) as folder:
            fill(folder, {"a": b"old"})
    rename = Path.rename

    def fail(path: Path, to: Path) -> Path:
        if path.name.endswith(".partial"):
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="Input/output"), atomic.new_folder(target) as folder:
        fill(folder, {"a": b"new"})
    assert entries(tmp_path) == ({"target"} if exists else set())
    if exists:
        assert content_of(target) == {"a": b"old"}


@given(files=trees, data=st.data())
def test_a_truncated_file_is_found(
    place: Path, files: dict[str, bytes], data: st.DataObject
) -> None:
    target = fresh(place, files)
    path = data.draw(st.sampled_from(sorted(p for p in target.rglob("*") if p.is_file())))
    size = path.stat().st_size
    if size:
        os.truncate(path, data.draw(st.integers(0, size - 1)))
        assert atomic.flaw(target) is not None


@given(files=trees, data=st.data())
def test_a_changed_byte_is_found(place: Path, files: dict[str, bytes], data: st.DataObject) -> None:
    target = fresh(place, files)
    filled = [path for path in target.rglob("*") if path.is_file() and path.stat().st_size]
    path = data.draw(st.sampled_from(sorted(filled)))
    content = bytearray(path.read_bytes())
    place_in_file = data.draw(st.integers(0, len(content) - 1))
    content[place_in_file] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    assert atomic.flaw(target) is not None


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda folder: (folder / atomic.MANIFEST).unlink(), "it has no manifest"),
        (lambda folder: (folder / atomic.MANIFEST).write_text("{"), "its manifest cannot be read"),
        (lambda folder: (folder / atomic.MANIFEST).write_text("[]"), "its manifest cannot be read"),
        (
            lambda folder: (folder / atomic.MANIFEST).write_text('{"about": {}, "files": {}}'),
            "its manifest has changed",
        ),
        (lambda folder: (folder / "a").unlink(), "a is missing"),
        (lambda folder: (folder / "a").write_bytes(b"on"), "a has 2 bytes instead of 3"),
        (lambda folder: (folder / "a").write_bytes(b"two"), "a has changed"),
        (lambda folder: shutil.rmtree(folder), "it has no manifest"),
    ],
)
def test_a_flaw_is_named(tmp_path: Path, damage: object, text: str) -> None:
    target = tmp_path / "target"
    with atomic.new_folder(target) as folder:
        fill(folder, {"a": b"one"})
    damage(target)  # type: ignore[operator]
    assert atomic.flaw(target) == text


def test_a_file_that_cannot_be_read_is_a_flaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    with atomic.new_folder(target) as folder:
        fill(folder, {"a": b"one"})
    whole = Path.open

    def fail(path: Path, mode: str, *rest: Any, **named: Any) -> object:
        if path.name == "a":
            raise OSError(errno.EIO, "Input/output error")
        return whole(path, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", fail)
    assert atomic.flaw(target) == "a cannot be read: Input/output error"


def test_a_user_s_own_manifest_is_kept(tmp_path: Path) -> None:
    with atomic.new_folder(tmp_path / "target") as folder:
        fill(folder, {"manifest.json": b"mine"})
    assert content_of(tmp_path / "target") == {"manifest.json": b"mine"}
    assert atomic.flaw(tmp_path / "target") is None


def test_the_copy_of_a_whole_folder_gets_a_manifest_of_its_own(tmp_path: Path) -> None:
    with atomic.new_folder(tmp_path / "one", {"step": 1}) as folder:
        fill(folder, {"a": b"one"})
    with atomic.new_folder(tmp_path / "two", {"step": 2}) as folder:
        shutil.copytree(tmp_path / "one", folder, dirs_exist_ok=True)
        fill(folder, {"b": b"two"})
    assert atomic.flaw(tmp_path / "two") is None
    assert atomic.read_about(tmp_path / "two") == {"step": 2}
    files = json.loads((tmp_path / "two" / atomic.MANIFEST).read_bytes())["files"]
    assert list(files) == ["a", "b"]


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    text = "inner/link is a symbolic link; copy the file into the folder instead"
    with pytest.raises(ValueError, match=text), atomic.new_folder(tmp_path / "target") as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "link").symlink_to("elsewhere")
    assert entries(tmp_path) == set()


def test_everything_is_synced_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync, rename = os.fsync, Path.rename

    def note_sync(descriptor: int) -> None:
        happened.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name.split(".")[-1])
        sync(descriptor)

    def note_rename(path: Path, to: Path) -> Path:
        moved = rename(path, to)
        happened.append(f"-> {to.name}")
        return moved

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "rename", note_rename)
    with atomic.new_folder(tmp_path / "target") as folder:
        fill(folder, {"inner/a": b"one"})
    # The file and its folder, the manifest and the new folder; then the folder of the rename.
    last = tmp_path.name.split(".")[-1]
    assert happened == ["inner", "a", "partial", "partial", "-> target", last]


def test_only_its_owner_reads_a_folder(tmp_path: Path) -> None:
    with atomic.new_folder(tmp_path / "target"):
        pass
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o700


def test_leftovers_are_removed(tmp_path: Path) -> None:
    with atomic.new_folder(tmp_path / "target") as folder:
        fill(folder, {"a": b"one"})
    (tmp_path / ".other.1234.partial").mkdir()
    (tmp_path / ".other.1234.partial" / "a").touch()
    (tmp_path / ".target.1234.replaced").mkdir()
    (tmp_path / ".file.1234.partial").touch()
    atomic.remove_leftovers(tmp_path)
    assert entries(tmp_path) == {"target"}
    assert atomic.flaw(tmp_path / "target") is None
    atomic.remove_leftovers(tmp_path / "nowhere")


def test_a_file_in_pieces_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic.new_file(path, mode=0o644) as file:
        file.write(b"one ")
        assert path.read_bytes() == b"old"
        file.write(b"two")
    assert path.read_bytes() == b"one two"
    assert path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(KeyboardInterrupt), atomic.new_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"one two"
    assert entries(tmp_path) == {"file"}
