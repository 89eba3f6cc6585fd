"""Row 42: no file of a book can be read by another user, whatever the umask."""

from __future__ import annotations

import os
import stat
import subprocess

from faults.bench import Bench

SAVES = """
    import time
    from pathlib import Path

    def train(run):
        print("hello")
        Path("begun").touch()
        while not Path("joined").exists():
            time.sleep(0.01)
        run.log({"error": run["x"]}, step=0)
        with run.checkpoint(0) as folder:
            (folder / "state").mkdir(mode=0o700)
        (run.folder / "notes").mkdir(mode=0o700)
    """


def test_row_42_every_file_is_its_owners_alone(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program(SAVES)
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], cwd=bench.folder, check=True)
    # What is not committed is kept beside the book.
    (bench.folder / "train.py").write_text(
        (bench.folder / "train.py").read_text() + "\n# changed\n"
    )
    before = os.umask(0)
    try:
        running = bench.start("run", "study.yaml", "--workers", "2")
        bench.wait_for_file("begun")
        assert bench.run("run", "study.yaml", "--join").code == 0
        (bench.folder / "joined").touch()
        assert running.wait().code == 0
    finally:
        os.umask(before)
    book = bench.folder / "book"
    assert list((book / "differences").iterdir())
    seen = [book, *book.rglob("*")]
    names = {path.name for path in seen}
    assert any(name.endswith(".workers") for name in names)
    assert {"book.db", "spool", "log.txt", "lock", "attempt.json", "study.json"} <= names
    open_to_others = {
        str(path.relative_to(book)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in seen
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert open_to_others == {}
