"""A small study and an executor without processes, for tests of the loop around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tunebook.core.curves import Block
from tunebook.core.domains import Choice, Float
from tunebook.core.events import Decision, Event, Finished, Logged, Started, Tick, Wait
from tunebook.core.objective import Metric, Objective
from tunebook.core.protocols import Decide, Program, TrainFunction
from tunebook.core.space import Parameter, Role, Space
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Outcome, OutcomeKind

SPACE = Space(
    (
        Parameter("arm", Role.SCIENTIFIC, Choice(("a", "b"))),
        Parameter("x", Role.NUISANCE, Float(0.0, 1.0)),
    )
)
COMPLETE = Outcome(OutcomeKind.COMPLETE, "finished")
FAILED = Outcome(OutcomeKind.FAILED, "ValueError: no")
CRASHED = Outcome(OutcomeKind.CRASHED, "the process was killed by SIGKILL")
PREEMPTED = Outcome(OutcomeKind.PREEMPTED, "interrupted")


def small_study(trials: int = 3, **details: object) -> Study:
    """Two settings with so many trials each."""
    objective = Objective(Metric("error"))
    return Study("small", SPACE, objective, trials=trials, **details)  # type: ignore[arg-type]


def points(attempt: Attempt, first: int, last: int, offset: int = 1) -> Logged:
    """The error at each step from first to last, as if read from a spool up to an offset."""
    rows = [(step, 0.001 * step, [1.0 / (1 + step)]) for step in range(first, last + 1)]
    return Logged(attempt, (Block.of(["error"], rows),), offset)


class NoProgram:
    """The program of an executor that runs none."""

    reference = "none.py:train"

    def load(self) -> TrainFunction:
        raise AssertionError("this program is never loaded")


@dataclass
class Scripted:
    """An executor in which attempts end as they are told to, one step of the script at a time."""

    ends: Callable[[Attempt], Outcome] = lambda _: COMPLETE
    room: int = 1
    seconds: float = 0.1
    taken: list[Attempt] = field(default_factory=list)

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        running: list[Attempt] = []
        exhausted = False
        while True:
            while len(running) < self.room and not exhausted:
                proposed = next(proposals, None)
                exhausted = proposed is None
                if proposed is None or isinstance(proposed, Wait):
                    break
                running.append(proposed)
                self.taken.append(proposed)
                yield Started(proposed, "here", 1)
            leaving = decide(Tick(len(running))) is not Decision.GO_ON
            yield Tick(len(running))
            if not running and (exhausted or leaving):
                return
            if running:
                attempt = running.pop(0)
                yield points(attempt, 0, 4)
                yield Finished(attempt, PREEMPTED if leaving else self.ends(attempt), self.seconds)
            if leaving:
                exhausted = True
