"""A book of three trials as a killed coordinator left it, to be copied and damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from contracts import oracle
from faults.harness import HERE
from faults.store_writer import TRIALS
from faults.system_calls import PYTHON
from tunebook.core.results import Results
from tunebook.running.stories import tell
from tunebook.storage.sqlite import open_store

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}
# The store is closed by nobody: its last commits are in the log alone.
KILLED = (
    "import os, sys; from pathlib import Path; from faults import store_writer as w; "
    "from tunebook.storage.sqlite import SQLiteStore; "
    "SQLiteStore.close = lambda self: os.kill(os.getpid(), 9); w.main(Path(sys.argv[1]))"
)


def make(folder: Path) -> Path:
    """All trials were acknowledged; then the coordinator was killed."""
    command = [PYTHON, "-c", KILLED, str(folder)]
    killed = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (killed.returncode, len(killed.stdout.split())) == (-9, TRIALS), killed.stderr
    return folder


def copy(made: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return shutil.copytree(made, to)


def check(folder: Path, made: Path) -> Results:
    """Every acknowledged result is there, of the one attempt that there was: none was run again."""
    attempts = [tell(place) for place in (made / "studies" / "1").glob("*/1")]
    tokens = {story.attempt.token for story in attempts if story is not None}
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    assert results.counts() == {"complete": TRIALS}
    assert {record.attempts[0].token for record in results} == tokens
    for record in results:
        assert len(record.attempts) == 1
        assert record.curves["error"].values.tolist() == [0.0, 1 / 7, 2 / 7]
    return results
