"""Row 6: a full disk pauses a study, which goes on by itself when there is room again.

Each test runs itself in a mount namespace of its own, where the book or the attempts are on a small
disk. Nothing is left free on it for the study to keep away from, so that the system itself refuses.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faults import program
from faults.harness import HERE, Siege, until
from tunebook.execution import records
from tunebook.files import spool

SMALL, LARGE = "2m", "64m"
TRIALS = 3
FULL = {"FAULTS_LEAST_BYTES": "0", program.MORE: "100"}


def the_book(folder: Path) -> None:
    """No commit can be written; trials go on, and what they told is taken in later."""
    with small_disk(folder, "book") as siege:
        process = pause(siege, r"Paused: no room for \S+/book\.db: its disk has \d+ bytes free\.")
        make_room(siege.book)
        goes_on(siege, process)
        assert "The book can be written again: the study goes on" in siege.lines.read_text()


def the_attempts(folder: Path) -> None:
    """No spool can be written; the trials wait with what they have to tell, and none is begun."""
    with small_disk(folder, "attempts") as siege:
        os.environ["FAULTS_LEAST_BYTES"] = "1"
        process = pause(siege, r"Paused: the disk of \S+/attempts has 0 bytes free, and a trial ")
        # Longer than a trial takes: those that ran have come to their end, and cannot write it.
        time.sleep(1.5)
        spools = list(folder.glob("attempts/1/*/1/spool"))
        assert sum(map(has_ended, spools)) < len(siege.starts())
        make_room(folder / "attempts")
        goes_on(siege, process)


def everything(folder: Path) -> None:
    """Book and attempts: whoever leaves then leaves in order, and the next run has it all."""
    with small_disk(folder, "book") as siege:
        del os.environ["TUNEBOOK_ATTEMPTS"]
        process = pause(siege, r"Paused: no room \S+.* its disk has \d+ bytes free\.")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        said = siege.lines.read_text()
        assert "Traceback" not in said, said
        siege.check_book()
        make_room(siege.book)
        siege.finish()
        siege.check()


def a_book_that_is_left(folder: Path) -> None:
    """The attempts have room: they are asked to leave, and their spools say how they did."""
    with small_disk(folder, "book") as siege:
        process = pause(siege, r"Paused: no room for \S+/book\.db")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        until(lambda: not siege.mark.parents(), "no process is left", 10)
        said = siege.lines.read_text()
        assert "Leaving: what trials tell from now on is taken into the book by the next" in said
        assert "Traceback" not in said, said
        siege.check_book()
        make_room(siege.book)
        siege.finish()
        siege.check()


BODIES: dict[str, Callable[[Path], None]] = {
    body.__name__: body for body in (the_book, the_attempts, everything, a_book_that_is_left)
}


def small_disk(folder: Path, name: str) -> Siege:
    siege = Siege(folder / "siege", TRIALS, pause=0.02)
    os.environ["TUNEBOOK_ATTEMPTS"] = str(folder / "attempts")
    place = siege.book if name == "book" else folder / name
    place.mkdir(mode=0o700)
    mount("-t", "tmpfs", "-o", f"size={SMALL},mode=700", "tmpfs", str(place))
    (place / "ballast").touch()
    return siege


def pause(siege: Siege, expected: str) -> subprocess.Popen[bytes]:
    """Fill the disk while trials run; the study says, once, what it waits for."""
    process = siege.start()
    until(lambda: siege.acknowledged() and len(siege.starts()) > 2, "a trial ends, and others run")
    with next(siege.folder.parent.rglob("ballast")).open("wb") as ballast:
        fill(ballast.fileno())
        until(lambda: "Paused: " in siege.lines.read_text(), "the study pauses")
        fill(ballast.fileno())
    said = siege.lines.read_text()
    assert re.search(expected, said), said
    assert said.count("Paused: ") == 1, said
    assert process.poll() is None
    assert len(siege.acknowledged()) < 2 * TRIALS
    return process


def goes_on(siege: Siege, process: subprocess.Popen[bytes]) -> None:
    """To its end, with all that was told before, and without a second attempt at anything."""
    siege.wait_for(process)
    assert len(siege.acknowledged()) == 2 * TRIALS
    assert {len(record.attempts) for record in siege.check()} == {1}


def make_room(place: Path) -> None:
    mount("-o", f"remount,size={LARGE}", str(place))


def has_ended(path: Path) -> bool:
    return any(records.is_finished(record) for record, _ in spool.read(path))


def fill(descriptor: int) -> None:
    try:
        while True:
            os.write(descriptor, b"\0" * 4096)
    except OSError:
        return


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


@pytest.mark.parametrize(
    "full",
    [
        "the_book",
        "the_attempts",
        "everything",
        pytest.param("a_book_that_is_left", marks=pytest.mark.long),
    ],
)
def test_row_6_a_study_waits_for_room(tmp_path: Path, full: str) -> None:
    alone = ["unshare", "-m", "--propagation", "private"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a mount namespace needs root")
    done = subprocess.run(
        [*alone, sys.executable, __file__, full, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent), **FULL},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


if __name__ == "__main__":
    BODIES[sys.argv[1]](Path(sys.argv[2]))
