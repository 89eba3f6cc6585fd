"""Row 6: a full disk pauses a study, which goes on by itself when there is room again.

The test runs itself in a mount namespace of its own, where the book is on a small disk.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faults.harness import HERE, Siege, until

SMALL, LARGE = "24m", "128m"


def body(folder: Path) -> None:
    """Fill the disk while trials run, look, and make room."""
    with Siege(folder / "siege", trials=4, pause=0.02) as siege:
        siege.book.mkdir(mode=0o700)
        mount("-t", "tmpfs", "-o", f"size={SMALL},mode=700", "tmpfs", str(siege.book))
        process = siege.start()
        until(lambda: siege.acknowledged(), "a trial ends")
        with (siege.book / "ballast").open("wb") as ballast:
            fill(ballast.fileno())
        until(lambda: "Paused: " in siege.lines.read_text(), "the study pauses")
        before = len(siege.acknowledged())
        assert process.poll() is None
        mount("-o", f"remount,size={LARGE}", str(siege.book))
        siege.wait_for(process)
        said = siege.lines.read_text()
        assert re.search(r"Paused: (no room for|the disk of) \S+.* \d+ bytes free", said)
        assert before < len(siege.acknowledged()) == 8
        results = siege.check()
        assert {len(record.attempts) for record in results} == {1}


def fill(descriptor: int) -> None:
    try:
        while True:
            os.write(descriptor, b"\0" * 4096)
    except OSError:
        return


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def test_row_6_a_study_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    alone = ["unshare", "-m", "--propagation", "private"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a mount namespace needs root")
    done = subprocess.run(
        [*alone, sys.executable, __file__, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


if __name__ == "__main__":
    body(Path(sys.argv[1]))
