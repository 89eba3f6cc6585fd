"""An attempt in this very process."""

from __future__ import annotations

from pathlib import Path

from attempts import curve, outcome, read, spec_in
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution import here
from tunebook.files import locks


def test_a_run_and_its_lock(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    begun = here.begin(spec)
    assert begun is not None
    assert locks.is_held(spec.lock)
    assert here.begin(spec) is None
    begun.run.log({"loss": 1.0})
    begun.run.end(Outcome(OutcomeKind.COMPLETE, "finished"))
    begun.release()
    assert not locks.is_held(spec.lock)
    assert here.begin(spec) is None
    events = read(spec)
    assert curve(events) == [(0, 1.0)]
    assert outcome(events).kind is OutcomeKind.COMPLETE
