"""One owner at a time, by a lock that the kernel frees."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tunebook.core.errors import StudyOwned
from tunebook.files import locks
from tunebook.running import ownership

OWN = """
import sys
from pathlib import Path
from tunebook.running.ownership import owned
with owned(Path(sys.argv[1]), sys.argv[2]):
    print("owned", flush=True)
    sys.stdin.read()
"""


@contextmanager
def owner(folder: Path, study: str) -> Iterator[subprocess.Popen[str]]:
    """A process that owns a study until it is told to leave."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWN, str(folder), study],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "owned\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_second_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with owner(tmp_path, "depth") as first:
        host = socket.gethostname()
        expected = (
            f"depth is being run by process {first.pid} on {host}; wait for it, stop it there "
            "with Ctrl-C, or add workers to it with --join"
        )
        with pytest.raises(StudyOwned, match=re.escape(expected)):
            ownership.owned(tmp_path, "depth").__enter__()
        with ownership.owned(tmp_path, "width"):
            pass


def test_a_dead_owner_is_followed_at_once(tmp_path: Path) -> None:
    with owner(tmp_path, "depth") as first:
        first.kill()
        first.wait()
        with ownership.owned(tmp_path, "depth"):
            assert locks.is_held(ownership.lock_path(tmp_path, "depth"))
    assert not locks.is_held(ownership.lock_path(tmp_path, "depth"))


def test_an_owner_that_has_not_written_its_name_is_waited_for(tmp_path: Path) -> None:
    with owner(tmp_path, "depth") as first:
        path = ownership.lock_path(tmp_path, "depth")
        name = path.read_bytes()
        path.write_bytes(json.dumps({"pid": 2**22 + 1, "host": socket.gethostname()}).encode())
        write = threading.Timer(0.1, path.write_bytes, [name])
        write.start()
        with pytest.raises(StudyOwned, match=f"process {first.pid} on"):
            ownership.owned(tmp_path, "depth").__enter__()
        write.join()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": null, "host": "x"}'])
def test_an_owner_without_a_name_is_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(ownership, "_NAMING_SECONDS", 0.0)
    with owner(tmp_path, "depth"):
        ownership.lock_path(tmp_path, "depth").write_bytes(content)
        with pytest.raises(StudyOwned, match="depth is being run by another process;"):
            ownership.owned(tmp_path, "depth").__enter__()


def test_an_owner_elsewhere_is_taken_at_its_word(tmp_path: Path) -> None:
    with owner(tmp_path, "depth"):
        path = ownership.lock_path(tmp_path, "depth")
        path.write_bytes(json.dumps({"pid": 7, "host": "far.example"}).encode())
        with pytest.raises(StudyOwned, match=r"process 7 on far\.example"):
            ownership.owned(tmp_path, "depth").__enter__()


def test_workers_are_wished_from_the_one_who_runs(tmp_path: Path) -> None:
    assert not ownership.ask_for_workers(tmp_path, "depth", 2)
    with owner(tmp_path, "depth"):
        assert ownership.wished_workers(tmp_path, "depth") == 0
        with ThreadPoolExecutor(4) as pool:
            asked = pool.map(lambda n: ownership.ask_for_workers(tmp_path, "depth", n), range(1, 9))
            assert all(asked)
        assert ownership.wished_workers(tmp_path, "depth") == sum(range(1, 9))


def test_the_wishes_to_one_owner_are_not_those_to_the_next(tmp_path: Path) -> None:
    with owner(tmp_path, "depth"):
        assert ownership.ask_for_workers(tmp_path, "depth", 3)
    with ownership.owned(tmp_path, "depth"):
        assert ownership.wished_workers(tmp_path, "depth") == 0


def test_names_are_no_paths(tmp_path: Path) -> None:
    with ownership.owned(tmp_path, "../../x"):
        assert [path.parent.name for path in tmp_path.rglob("*.lock")] == ["owners"]
    assert os.listdir(tmp_path) == ["owners"]
