"""The run of this process; that functions find it is in test_worker.py and the contract."""

from __future__ import annotations

from pathlib import Path

from attempts import spec_in
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution import current
from tunebook.execution.run import SpoolRun


def test_it_is_remembered(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    spec.write()
    run = SpoolRun(spec)
    current.set_run(run)
    assert current.get_run() is run
    current.set_run(None)
    assert current.get_run() is None
    run.end(Outcome(OutcomeKind.COMPLETE, "finished"))
