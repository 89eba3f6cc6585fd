"""Attempts one after another in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attempts import (
    TERMS,
    attempt_in,
    curve,
    outcome,
    outcomes,
    program_in,
    run,
    spec_in,
    terms,
)
from contracts.executor_contract import ExecutorContract, Make
from tunebook.core.events import Decision, Event, Finished, Started, Tick
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution.inline import Inline


class TestInline(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Make:
        return lambda **given: Inline(terms(**given))


def test_it_runs_in_this_process(tmp_path: Path) -> None:
    text = "import os\ndef train(run):\n    return os.getpid()"
    events = run(Inline(TERMS), program_in(tmp_path, text), [attempt_in(tmp_path)])
    assert curve(events) == [(0, float(os.getpid()))]
    started = events[0]
    assert isinstance(started, Started)
    assert started.pid == os.getpid()


def test_ctrl_c_preempts_and_ends_the_run(tmp_path: Path) -> None:
    text = "def train(run):\n    run.log({'loss': 1.0})\n    raise KeyboardInterrupt"
    proposed = iter([attempt_in(tmp_path, n) for n in (1, 2)])
    events = run(Inline(TERMS), program_in(tmp_path, text), proposed)
    assert outcomes(events) == {1: Outcome(OutcomeKind.PREEMPTED, "interrupted")}
    assert next(proposed).trial.number == 2


@pytest.mark.parametrize("decision", [Decision.DRAIN, Decision.ABORT])
def test_leaving_between_two_attempts(tmp_path: Path, decision: Decision) -> None:
    ended: list[Event] = []

    def decide(event: Event) -> Decision:
        ended.extend([event] if isinstance(event, Finished) else [])
        return decision if ended and isinstance(event, Tick) else Decision.GO_ON

    proposed = iter([attempt_in(tmp_path, n) for n in (1, 2)])
    made = program_in(tmp_path, "def train(run):\n    return 1.0")
    events = run(Inline(TERMS), made, proposed, decide)
    assert {n: ended.kind.value for n, ended in outcomes(events).items()} == {1: "complete"}


def test_an_attempt_of_another_process_is_waited_for(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    spec.write()
    script = """
import sys, time
from pathlib import Path
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution import here
from tunebook.execution.spec import Spec
begun = here.begin(Spec.read(Path(sys.argv[1])))
print("begun", flush=True)
time.sleep(0.5)
begun.run.log({"loss": 7.0})
begun.run.end(Outcome(OutcomeKind.COMPLETE, "finished elsewhere"))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(spec.folder)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"begun\n"
        made = program_in(tmp_path, "def train(run):\n    return 1.0")
        events = run(Inline(TERMS), made, [spec.attempt])
    assert outcome(events) == Outcome(OutcomeKind.COMPLETE, "finished elsewhere")
    assert curve(events) == [(0, 7.0)]
