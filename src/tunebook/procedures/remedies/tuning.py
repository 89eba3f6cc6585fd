"""The learning rate tuned again with a remedy, and what a study must change to use it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Choice, Float, Int, Value
from tunebook.core.edits import SetParameter, widened
from tunebook.core.evidence import Reading
from tunebook.core.results import Results
from tunebook.core.space import Config, Derived, Fixed
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Side, mean_loss, orders, sweep

# Seeds of each rate that is tuned: one alone is luck.
REPLICATES: Final = 2
# How far inside its range a rate must lie for the range to stay as it is.
_MARGIN: Final = 10**0.5


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration by what it changes, and the steps of its trials."""

    fix: Config
    steps: int


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best learning rate of a variant, and the highest up to which all work.

    `end` is the end of what was tried at which the best is: there may be a better one beyond.
    """

    rate: float
    highest: float
    end: Side | None = None


def tuned(
    subject: Subject,
    stage: str,
    variant: Variant,
    rates: Sequence[float],
    *,
    goal: str,
    refused: Callable[[Sequence[Reading]], bool] = lambda _: False,
) -> Generator[Study, Results, Tuned | None]:
    """The best learning rate of a variant at its full length; None where none works.

    A rate whose trainings are `refused` does not work, however good their results are.
    """
    name = subject.name("learning_rate")
    loss = mean_loss(subject.study.objective.metric)

    def judge(readings: Sequence[Reading]) -> float:
        return math.inf if refused(readings) else loss(readings)

    made = yield from sweep(
        subject,
        stage,
        name,
        rates,
        goal=goal,
        fix=variant.fix,
        steps=variant.steps,
        replicates=REPLICATES,
        judge=judge,
        extensions=1,
    )
    if made.best is None:
        return None
    # Above one that does not work, what does is luck.
    above = itertools.takewhile(
        lambda rate: math.isfinite(made.scores[rate]), (r for r in made.values if r >= made.best)
    )
    return Tuned(made.best, max(above), made.boundary)


def rates_up_to(low: float, high: float) -> list[float]:
    """Half orders of magnitude from just below one rate up to another."""
    found = [rate for rate in orders(low, 0.5, 6, 2) if rate <= 1.1 * high]
    return found if len(found) > 1 else orders(low, 0.5, 0, 2)


def with_rate(subject: Subject, variant: Variant, rate: Value) -> Variant:
    return Variant({**variant.fix, subject.name("learning_rate"): rate}, variant.steps)


def rate_edit(
    subject: Subject, rate: float, because: str, highest: float = math.inf
) -> tuple[SetParameter, ...]:
    """What must change so that a learning rate is used, or is well inside what is searched.

    No range is widened beyond the highest rate of which it is known that it works.
    """
    name = subject.name("learning_rate")
    source = subject.study.space[name].source
    match source:
        case Float() | Int():
            ends = (rate / _MARGIN, max(min(rate * _MARGIN, highest), rate))
            low, high = (float(f"{end:.2g}") for end in ends)
            wider = widened(source, low, high)
            return (SetParameter(name, wider, because),) if wider != source else ()
        case Choice():
            if source.contains(rate):
                return ()
            return (SetParameter(name, Choice((*source.values, rate)), because),)
        case Fixed() if source == Fixed(rate):
            return ()
        case Derived():
            return ()
        case _:
            return (SetParameter(name, Fixed(rate), because),)


def by_hand(subject: Subject, rate: float) -> str:
    """What to do where a study computes its rate, and no edit can set it; nothing where one can."""
    name = subject.name("learning_rate")
    source = subject.study.space[name].source
    if not isinstance(source, Derived) or subject.value("learning_rate") == rate:
        return ""
    return f"{name} is computed, as {source.expression}: see to it that it is {shown(rate)}."
