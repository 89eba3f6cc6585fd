"""Attempts to run in tests: made in a folder, run by an executor, and what they told."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tunebook.core.curves import columns
from tunebook.core.domains import Value
from tunebook.core.events import Decision, Event, Finished, Logged, Noted, Started, Tick, Wait
from tunebook.core.objective import Metric
from tunebook.core.protocols import Decide, Executor, Program, TrainFunction
from tunebook.core.space import Setting
from tunebook.core.study import Budget, Divergence
from tunebook.core.trials import Attempt, FromSequence, Outcome, Trial
from tunebook.execution import here, programs, worker
from tunebook.execution.following import Follower
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest, Terms

TERMS = Terms(Metric("loss"), Divergence(), None)


def attempt_in(
    folder: Path,
    trial: int = 1,
    number: int = 1,
    *,
    seed: int = 0,
    config: dict[str, Value] | None = None,
) -> Attempt:
    """An attempt whose folder is named as a store would."""
    content = Trial("study", trial, Setting(), config or {}, seed, FromSequence(trial - 1))
    return Attempt(content, number, f"token-{number}", str(folder / str(trial) / str(number)))


def terms(
    budget: Budget | None = None, watched: Sequence[str] = (), above: float | None = None
) -> Terms:
    return Terms(Metric("loss"), Divergence(tuple(watched), above), budget)


def spec_in(folder: Path, number: int = 1, given: Terms = TERMS, slot: Slot | None = None) -> Spec:
    return Spec(attempt_in(folder, number=number), given, slot or Slot())


def go_on(_: Event) -> Decision:
    return Decision.GO_ON


def program_in(folder: Path, text: str, name: str = "train.py") -> Program:
    """A file with a function `train`."""
    (folder / name).write_text(textwrap.dedent(text))
    return programs.parse(f"{name}:train", folder)


def train_here(
    function: TrainFunction,
    spec: Spec,
    asked: Callable[[], StopRequest | None] | None = None,
) -> list[Event]:
    """Run a function on an attempt in this process: everything it told, with its ending."""
    begun = here.begin(spec, asked)
    assert begun is not None
    try:
        worker.train(function, begun.run)
    finally:
        begun.release()
    return read(spec)


def read(spec: Spec) -> list[Event]:
    """Everything an attempt has told; nothing of it may live."""
    follower = Follower(spec)
    return [*follower.news(), *follower.give_up_if_dead()]


def run(
    executor: Executor,
    program: Program,
    proposed: Iterable[Attempt | Wait],
    decide: Decide = go_on,
) -> list[Event]:
    """Run attempts to their end: what happened, but for the ticks."""
    return rest(running(executor, program, proposed, decide))


def running(
    executor: Executor,
    program: Program,
    proposed: Iterable[Attempt | Wait],
    decide: Decide = go_on,
) -> Iterator[Event]:
    return executor.run(program, iter(proposed), decide)


def next_started(events: Iterator[Event]) -> Started:
    """Wait for the next attempt to begin."""
    return next(event for event in events if isinstance(event, Started))


def rest(events: Iterator[Event]) -> list[Event]:
    """What is still to happen, but for the ticks."""
    return [event for event in events if not is_tick(event)]


def is_tick(event: Event) -> bool:
    return isinstance(event, Tick)


def outcomes(events: Iterable[Event]) -> dict[int, Outcome]:
    """How each trial ended."""
    ended = [event for event in events if isinstance(event, Finished)]
    assert len({event.attempt.name for event in ended}) == len(ended)
    return {event.attempt.trial.number: event.outcome for event in ended}


def outcome(events: Iterable[Event]) -> Outcome:
    """How the one attempt ended."""
    (only,) = outcomes(events).values()
    return only


def curve(events: Iterable[Event], metric: str = "loss", trial: int = 1) -> list[tuple[int, float]]:
    """The points of a metric that were told."""
    blocks = [
        block
        for event in events
        if isinstance(event, Logged) and event.attempt.trial.number == trial
        for block in event.blocks
    ]
    found = columns(blocks).get(metric)
    return (
        [] if found is None else list(zip(found.steps.tolist(), found.values.tolist(), strict=True))
    )


def notes(events: Iterable[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Noted)]


def wait_for(condition: Callable[[], object], what: str = "it") -> None:
    """Wait until something has happened; a test's own limit of time is far away."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited for {what} in vain"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process lives; a zombie does not."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


def descendants() -> set[int]:
    """The living descendants of this process. What has died is reaped where nobody else will."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        if is_alive(process.pid):
            found.add(process.pid)
        else:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
    return found


def in_a_child(work: Callable[[], bool]) -> bool:
    """What a forked child of this process says."""
    pid = os.fork()
    if pid == 0:
        answer = 2
        try:
            answer = int(work())
        finally:
            os._exit(answer)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 1)
    return bool(code)
