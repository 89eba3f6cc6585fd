"""A book of three trials as a killed coordinator left it, to be copied and damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

from contracts import oracle
from faults.harness import HERE
from faults.store_writer import TRIALS
from faults.system_calls import PYTHON
from tunebook.core.results import Results
from tunebook.running.stories import tell
from tunebook.storage.restoring import Story
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


def check(folder: Path, made: Path, again: Collection[int] = ()) -> Results:
    """Every acknowledged result is there; only the trials named were run again.

    All others have the one attempt that there was.
    """
    attempts = [tell(place) for place in (made / "studies" / "1").glob("*/1")]
    tokens = {story.attempt.token for story in attempts if isinstance(story, Story)}
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    assert results.counts() == {"complete": TRIALS}
    for record in results:
        if record.trial.index + 1 not in again:
            assert [attempt.token in tokens for attempt in record.attempts] == [True]
    assert_no_wrong_result(results)
    return results


def assert_no_wrong_result(results: Results) -> None:
    """Whatever is complete has all of its points."""
    for record in results:
        if record.status == "complete":
            assert record.curves["error"].steps.tolist() == [0, 1, 2]
            assert record.curves["error"].values.tolist() == [0.0, 1 / 7, 2 / 7]
