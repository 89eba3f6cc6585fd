"""Row 15: many processes make the same study at the same time; there is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from contracts import oracle
from tunebook.storage.sqlite import open_store

# Forked from one process that has imported everything: they all reach the book at the same time.
CREATORS = """
import os, sys
from pathlib import Path
from coordination import small_study
from tunebook.storage.sqlite import open_store

folder, processes, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for number in range(rounds):
    gate, opener = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.read(gate, 1)
            with open_store(folder / str(number)) as store:
                study = store.create(small_study(3))
                assert store.studies() == (study,)
            os._exit(0)
        children.append(child)
    os.close(gate)
    os.close(opener)
    for child in children:
        _, status = os.waitpid(child, 0)
        assert status == 0
"""


@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.long)])
def test_row_15_twenty_processes_make_one_study(tmp_path: Path, rounds: int) -> None:
    tests = str(Path(__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {tests!r})\n{CREATORS}"
    command = [sys.executable, "-c", start, str(tmp_path), "20", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for number in range(rounds):
        oracle.check(tmp_path / str(number))
        with open_store(tmp_path / str(number), readonly=True) as store:
            assert [study.name for study in store.studies()] == ["small"]
