"""A coordinator's work without its processes: claims, spools, events; each result is printed.

Run again, it does what is not done yet, as `tunebook run` does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from contracts.store_contract import CODE, COMPLETE, STUDY, proposal
from tunebook.core.curves import Block
from tunebook.core.errors import TunebookError
from tunebook.core.trials import RetryPolicy
from tunebook.execution import beginning, records
from tunebook.execution.following import Follower
from tunebook.execution.spec import Spec, Terms
from tunebook.files import atomic
from tunebook.running.ledger import Ledger
from tunebook.running.stories import tell
from tunebook.storage.sqlite import SQLiteStore, open_store

TRIALS = 3


def main(folder: Path) -> None:
    """Bring the study to its number of trials."""
    with open_store(folder) as store:
        store.create(STUDY)
        store.take_in("depth", tell)
        ledger = Ledger(store.results("depth"), RetryPolicy(crashes=10**9), CODE)
        todo = ledger.unfinished()
        todo += [
            store.claim("depth", proposal(trial.index), CODE) for trial in ledger.to_try_again()
        ]
        known = {record.trial.index for record in store.results("depth")}
        for index in range(TRIALS):
            if index not in known:
                todo.append(store.claim("depth", proposal(index), CODE))
        for attempt in todo:
            attend(store, Spec(attempt, Terms.of(STUDY)))
    if any(r.status != "complete" for r in open_store(folder, readonly=True).results("depth")):
        main(folder)


def attend(store: SQLiteStore, spec: Spec) -> None:
    """Run an attempt that has not begun, and take in what its spool says."""
    if not beginning.has_begun(spec):
        spec.write()
        lock = beginning.take(spec)
        assert lock is not None
        with lock:
            block = Block.of(["error"], [(step, 0.0, [step / 7]) for step in range(3)])
            beginning.write(spec, records.points([block]))
            with atomic.new_folder(spec.folder / "checkpoints" / "2") as saved:
                (saved / "state").write_text("saved")
            beginning.write(spec, records.finished(COMPLETE, 1.0))
    follower = Follower(spec)
    for event in (*follower.news(), *follower.give_up_if_dead()):
        store.append(event)
    if store.results("depth")[spec.attempt.trial.number].status == "complete":
        sys.stdout.write(f"{spec.attempt.trial.number}\n")
        sys.stdout.flush()


def run(folder: Path) -> int:
    """The same as a command: its exit code, and what went wrong in words."""
    try:
        main(folder)
    except (TunebookError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.stderr.flush()
        return 1
    return 0
