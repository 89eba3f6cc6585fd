"""Attempts one after another in this process: for debuggers, tests and tiny functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tunebook.core.events import Decision, Event, Tick, Wait
from tunebook.core.protocols import Decide, Program, TrainFunction
from tunebook.core.trials import Attempt, OutcomeKind
from tunebook.execution import here, worker
from tunebook.execution.beginning import has_begun
from tunebook.execution.following import Follower
from tunebook.execution.processes import WAIT_SECONDS
from tunebook.execution.spec import Spec, StopRequest, Terms

_LEAVE = (Decision.DRAIN, Decision.ABORT)


class Inline:
    """An executor without processes. Ctrl-C preempts the current trial and ends the run."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        function = program.load()
        for proposed in proposals:
            if isinstance(proposed, Wait):
                time.sleep(WAIT_SECONDS)
            else:
                follower = Follower(Spec(proposed, self._terms))
                told: list[Event] = []
                interrupted = False
                if not has_begun(follower.spec):
                    interrupted = _attempt(function, follower, decide, told)
                yield from told
                yield from _rest(follower, decide)
                if interrupted:
                    return
            yield Tick(0)
            if decide(Tick(0)) in _LEAVE:
                return


def _attempt(
    function: TrainFunction, follower: Follower, decide: Decide, told: list[Event]
) -> bool:
    """Run the function here; True if the user interrupted it. `told` gets what was decided on."""
    begun = here.begin(follower.spec, _asker(follower, decide, told))
    if begun is None:
        return False
    run = begun.run
    try:
        worker.train(function, run)
    finally:
        begun.release()
    ended = run.outcome
    return ended is not None and ended.kind is OutcomeKind.PREEMPTED and run.obeyed is None


def _rest(follower: Follower, decide: Decide) -> Iterator[Event]:
    while True:
        for event in (*follower.news(), *follower.give_up_if_dead()):
            decide(event)
            yield event
        if follower.finished:
            return
        # Another process holds the attempt: it was adopted, and is to be waited for.
        time.sleep(WAIT_SECONDS)


def _asker(
    follower: Follower, decide: Decide, told: list[Event]
) -> Callable[[], StopRequest | None]:
    """What `run.should_stop` asks: a decision on whatever was logged since it last asked."""

    def ask() -> StopRequest | None:
        stop = False
        for event in follower.news():
            told.append(event)
            stop = decide(event) is Decision.STOP or stop
        if stop:
            return StopRequest("stop", "stopped by a rule", grace=0.0)
        if decide(Tick(1)) in _LEAVE:
            return StopRequest("preempt", "interrupted", grace=0.0)
        return None

    return ask
