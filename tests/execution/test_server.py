"""The fork server as a coordinator sees it: programs that cannot be imported, or not be forked."""

from __future__ import annotations

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
    running,
)
from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot

TWO = (Slot(0), Slot(1))


THREADED = """
    import threading, time
    threading.Thread(target=time.sleep, args=(600,)).start()
    import random, os

    def train(run):
        run.log({"loss": random.random(), "threads": int(os.environ["OMP_NUM_THREADS"])})
        print("told")
"""


def test_a_program_that_starts_threads_is_not_forked(tmp_path: Path) -> None:
    notices: list[str] = []
    executor = Processes(TERMS, [Slot(0, cpus=3), Slot(1, cpus=3)], notice=notices.append)
    proposed = [attempt_in(tmp_path, n, seed=seed) for n, seed in enumerate((7, 7, 8), 1)]
    events = run(executor, program_in(tmp_path, THREADED), proposed)
    assert notices == [
        "Each trial starts a Python of its own, which takes longer: train.py:train "
        "cannot be forked, since importing it started 1 thread."
    ]
    assert {ended.kind.value for ended in outcomes(events).values()} == {"complete"}
    first, second, third = (curve(events, trial=n) for n in (1, 2, 3))
    assert first == second != third
    assert curve(events, "threads") == [(0, 3.0)]
    assert (tmp_path / "1" / "1" / "log.txt").read_text() == "told\n"


def test_a_program_that_breaks_in_a_python_of_its_own(tmp_path: Path) -> None:
    text = f"""
    import threading, time
    from pathlib import Path
    threading.Thread(target=time.sleep, args=(600,)).start()
    if Path({str(tmp_path / "broken")!r}).exists():
        raise ImportError("broken since")

    def train(run):
        Path({str(tmp_path / "broken")!r}).touch()
        return 1.0
    """
    proposed = [attempt_in(tmp_path, n) for n in (1, 2)]
    ended = outcomes(run(Processes(TERMS, [Slot()]), program_in(tmp_path, text), proposed))
    assert ended[1].kind is OutcomeKind.COMPLETE
    assert ended[2].kind is OutcomeKind.FAILED
    assert ended[2].reason.startswith(
        "ProgramError: importing train.py failed: ImportError: broken since (train.py:6)"
    )


@pytest.mark.parametrize("threads", [True, False])
def test_a_program_finds_no_arguments(tmp_path: Path, threads: bool) -> None:
    text = f"""
    import sys, threading, time
    if {threads}:
        threading.Thread(target=time.sleep, args=(600,)).start()
    arguments = sys.argv[1:]

    def train(run):
        run.log({{"loss": len(arguments) + len(sys.argv[1:])}})
    """
    events = run(Processes(TERMS, TWO), program_in(tmp_path, text), [attempt_in(tmp_path)])
    assert curve(events) == [(0, 0.0)]


def test_an_import_that_says_much_is_no_trouble(tmp_path: Path) -> None:
    text = "print('x' * 1_000_000)\ndef train(run):\n    print('hi')\n    return 1.0"
    events = run(Processes(TERMS, TWO), program_in(tmp_path, text), [attempt_in(tmp_path)])
    assert outcome(events).kind is OutcomeKind.COMPLETE
    assert (tmp_path / "1" / "1" / "log.txt").read_text() == "hi\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import os; os._exit(3)", "importing train.py:train ended the process: exit code 3"),
        (
            "import os; print('no licence', flush=True); os.kill(os.getpid(), 9)",
            "importing train.py:train ended the process: exit code -9, after it said 'no licence'",
        ),
        (
            "import os; print('x' * 1_000_000, flush=True); os._exit(3)",
            f"importing train.py:train ended the process: exit code 3, after it said '{'x' * 199}",
        ),
    ],
)
def test_an_import_that_ends_the_process(tmp_path: Path, text: str, reason: str) -> None:
    events: list[Event] = []
    with pytest.raises(ProgramError) as raised:
        for event in running(
            Processes(TERMS, TWO), program_in(tmp_path, text), [attempt_in(tmp_path)]
        ):
            events.append(event)
    assert str(raised.value) == reason
    # The attempt was claimed and never began.
    assert outcome(events) == Outcome(OutcomeKind.PREEMPTED, "the program could not be loaded")


@pytest.mark.parametrize("decision", [Decision.DRAIN, Decision.ABORT])
@pytest.mark.parametrize(
    ("text", "patience"),
    [("import time; time.sleep(600)", 1), ("import os; os.kill(os.getpid(), 2)", 0)],
)
def test_the_user_may_leave_while_the_program_is_imported(
    tmp_path: Path, decision: Decision, text: str, patience: int
) -> None:
    """Also where Ctrl-C ends the process that imports it."""
    program = program_in(tmp_path, text)
    ticks = 0

    def decide(event: Event) -> Decision:
        nonlocal ticks
        ticks += 1
        return decision if ticks > patience else Decision.GO_ON

    proposed = iter([attempt_in(tmp_path, n) for n in (1, 2)])
    events = run(Processes(TERMS, TWO), program, proposed, decide)
    assert outcomes(events) == {1: Outcome(OutcomeKind.PREEMPTED, "interrupted before it began")}
    assert next(proposed).trial.number == 2


def test_a_function_of_the_main_module_runs_in_processes(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from attempts import TERMS, attempt_in, curve, run
from tunebook.execution import programs
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot

factor = 6

def train(r):
    return factor * 7

attempt = attempt_in(Path({str(tmp_path)!r}))
print(curve(run(Processes(TERMS, [Slot()]), programs.of_function(train), [attempt])))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[(0, 42.0)]\n"
