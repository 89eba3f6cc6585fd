"""Row 42: no file of a book can be read by another user, whatever the umask.

What tunebook writes is its owner's alone. What a program writes has the permissions that it is
given, in folders that no other user can enter.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.bench import Bench
from tunebook.storage.connections import PAGE_BYTES

SAVES = """
    import time
    from pathlib import Path

    def write(folder):
        (folder / "below").mkdir()
        (folder / "below" / "theirs").write_text("weights")
        (folder / "theirs").write_text("weights")

    def train(run):
        print("hello")
        Path("begun").touch()
        while not Path("joined").exists():
            time.sleep(0.01)
        run.log({"error": run["x"]}, step=0)
        with run.checkpoint(0) as folder:
            write(folder)
        write(run.folder)
    """
SCRIPT = """
    import sys
    from pathlib import Path
    from train import write

    print("error", sys.argv[3])
    for folder in map(Path, sys.argv[1:3]):
        write(folder)
    """
COMMAND = [sys.executable, "script.py", "{run_dir}", "{checkpoint_dir}", "{x}", "{arm}"]
THEIRS = ("theirs", "below")


@contextmanager
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def within_reach(folder: Path) -> Iterator[Path]:
    """What is in a folder, for somebody who may enter it and is neither its owner nor root."""
    for path in folder.iterdir():
        yield path
        if path.is_dir() and mode(path) & 0o011:
            yield from within_reach(path)


def open_to_others(folder: Path) -> dict[str, str]:
    """What others may read, write or enter in a folder that they may enter."""
    return {
        str(path.relative_to(folder)): oct(mode(path))
        for path in within_reach(folder)
        if mode(path) & 0o077
    }


def check(*folders: Path) -> set[str]:
    """Nothing in folders is open to others; the names of all that is there."""
    names = set()
    for folder in folders:
        assert open_to_others(folder) == {}
        own = [path for path in folder.rglob("*") if not {*THEIRS} & set(path.parts)]
        assert [path for path in own if mode(path) & 0o077] == []
        names |= {path.name for path in folder.rglob("*")}
    return names


def commit(folder: Path) -> None:
    """What is not committed, here a comment, is kept beside the book."""
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    with (folder / "train.py").open("a") as program:
        program.write("\n# changed\n")


def run_a_function(bench: Bench, *folders: Path) -> None:
    bench.write_program(SAVES)
    bench.write_study(trials=1)
    commit(bench.folder)
    running = bench.start("run", "study.yaml", "--workers", "2")
    bench.wait_for_file("begun")
    assert bench.run("run", "study.yaml", "--join").code == 0
    assert {"book.db", "book.db-wal", "book.db-shm"} <= check(*folders)
    (bench.folder / "joined").touch()
    assert running.wait().code == 0


def run_a_command(bench: Bench) -> None:
    (bench.folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    pattern = {"pattern": r"^error (?P<error>\S+)"}
    bench.write_study(study="script", trials=1, command=COMMAND, metrics=pattern)
    done = bench.run_study("--workers", "2")
    assert done.code == 0, done.err


def recover(bench: Bench) -> None:
    book = bench.folder / "book" / "book.db"
    with book.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(b"\0" * PAGE_BYTES)
    done = bench.run("recover")
    assert "Nothing was lost." in done.out, done


@pytest.mark.parametrize("kind", ["new", "there before"])
def test_row_42_every_file_is_its_owners_alone(
    bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a new folder; and in two, for book and attempts, that others may enter and list."""
    folders = [bench.folder / "book"]
    if kind == "there before":
        folders.append(bench.folder / "attempts")
        monkeypatch.setenv("TUNEBOOK_ATTEMPTS", str(folders[1]))
        for folder in folders:
            folder.mkdir()
            folder.chmod(0o755)
    with no_umask():
        run_a_function(bench, *folders)
        run_a_command(bench)
        names = check(*folders)
        recover(bench)
    assert any(name.endswith(".workers") for name in names)
    assert any(name.endswith(".patch") for name in names)
    assert {"book.db", "spool", "log.txt", "lock", "attempt.json", "study.json"} <= names
    assert any(name.startswith("book.db.damaged-") for name in check(*folders))
    # The programs' own files are as open as they were made: what is closed is the way to them.
    theirs = [path for path in folders[-1].rglob("*") if path.name in THEIRS]
    assert {mode(path) for path in theirs} == {0o666, 0o777}
    assert {path.parent.name for path in theirs} == {"0", "below", "files", "run", "checkpoints"}
    assert [mode(folder) for folder in folders] == ([0o700] if kind == "new" else [0o755] * 2)
