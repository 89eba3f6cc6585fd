"""The study's own training at the first guess, and at twice, four and eight times as many steps.

The guess is made without what regularises. Whether the study itself needs more is seen by doubling
its steps, on the same seeds, until that gains nothing above noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.evidence import Reading
from tunebook.core.objective import Metric
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.procedures.steps.gains import Gain, gain_of, losses_of
from tunebook.procedures.steps.rates import Rates, compared, is_far
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import readings_of

STAGE: Final = "own"
SEEDS: Final = 4
# How much longer than the guess; the last only while the training before it still gained.
FACTORS: Final = (1, 2, 4, 8)
# In doubt, longer: a gain need not be beyond doubt, only above its standard error.
ABOVE_NOISE: Final = 1.0
# Equally many for all: who is looked at more often is seen at a better moment.
EVALUATIONS: Final = 20


@dataclass(frozen=True, slots=True)
class Rung:
    """Trials of so many steps each."""

    steps: int
    readings: tuple[Reading, ...]

    def losses(self, metric: Metric) -> dict[int, float]:
        """Results by seed, lower for better ones; infinity for those that came to nothing."""
        return losses_of(self.readings, metric)


@dataclass(frozen=True, slots=True)
class Longer:
    """Ever longer trainings of the study's own, from the first guess up to `longest` steps.

    `rates` is how their learning rate was chosen, where the start's was far from the fastest.
    """

    metric: Metric
    guess: int
    longest: int
    rungs: tuple[Rung, ...] = ()
    rates: Rates | None = None

    def gain(self, shorter: int, longer: int) -> Gain | None:
        """What one rung gains over another; None where fewer than two seeds tell."""
        return gain_of(*(self.rungs[i].losses(self.metric) for i in (shorter, longer)))

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """The trials of all lengths."""
        return tuple(reading.record for rung in self.rungs for reading in rung.readings)

    @property
    def is_known(self) -> bool:
        """Whether every doubling can be judged, there is one, and something works at all."""
        pairs = itertools.pairwise(range(len(self.rungs)))
        works = any(r.value is not None for rung in self.rungs for r in rung.readings)
        return works and len(self.rungs) > 1 and all(self.gain(*pair) is not None for pair in pairs)

    @property
    def enough(self) -> int:
        """The first rung over which no longer one gains above noise.

        All longer ones are asked, not the next alone: what luck hides of one doubling shows over
        two.
        """
        last = len(self.rungs) - 1
        return next((i for i in range(last) if not self._is_surpassed(i)), max(last, 0))

    @property
    def steps(self) -> int:
        """The steps that are enough; the guess where nothing tells."""
        return self.rungs[self.enough].steps if self.is_known else self.guess

    @property
    def may_gain(self) -> bool:
        """Whether the longest training was still better: more steps may still help."""
        return not self.is_known or self.enough == len(self.rungs) - 1

    @property
    def total(self) -> int:
        """The steps that all this took."""
        return sum(rung.steps * len(rung.readings) for rung in self.rungs)

    def _is_surpassed(self, rung: int) -> bool:
        gains = (self.gain(rung, later) for later in range(rung + 1, len(self.rungs)))
        return any(gain is not None and gain.is_above(ABOVE_NOISE) for gain in gains)


def lengthened(
    subject: Subject,
    guess: int,
    longest: int | None,
    *,
    goal: str,
    fastest: float | None = None,
) -> Generator[Study, Results, Longer]:
    """Train the study's own configuration ever longer; for `yield from` in a procedure.

    `longest` caps the steps of a trial. All together take at most 15 times the guess on each seed,
    and twice more where the start's rate is far from `fastest`, which fitted the training set in
    the fewest steps: then the better of both is trained longer.
    """
    cap = FACTORS[-1] * guess if longest is None else longest
    made = Longer(subject.study.objective.metric, guess, cap)
    if FACTORS[1] * guess > cap:
        return made
    own: dict[str, Value] = {}
    if fastest is not None and is_far(subject.number("learning_rate"), fastest):
        planned = _planned(subject, guess)
        rates = yield from compared(subject, fastest, guess, planned, goal=goal, seeds=SEEDS)
        made = replace(made, rates=rates)
        own = {subject.name("learning_rate"): rates.better} if rates.is_other else {}
    for factor in FACTORS:
        still = made.is_known and made.enough == len(made.rungs) - 1
        if factor * guess > cap or (factor == FACTORS[-1] and not still):
            break
        results = yield subject.listed(
            f"{STAGE}-{factor}",
            [{}] * SEEDS,
            {**_planned(subject, factor * guess), **own},
            goal=goal,
            steps=factor * guess,
            seeds_of=STAGE,
        )
        rung = Rung(factor * guess, readings_of(results))
        made = replace(made, rungs=(*made.rungs, rung))
    return made


def _planned(subject: Subject, steps: int) -> dict[str, Value]:
    """What goes with a number of steps: how often to evaluate, and how long to decay."""
    fix: dict[str, Value] = {}
    every = subject.value("eval_interval")
    # A parameter of the reference loop; another program may call something else so.
    decay = subject.config.get("decay_steps") if subject.study.task is not None else None
    # None leaves it to the program, which goes by its steps.
    if subject.knobs.eval_interval is not None and every is not None:
        fix[subject.knobs.eval_interval] = max(steps // EVALUATIONS, 1)
    if isinstance(decay, int) and subject.steps:
        # As large a share of the training as in the study: else what is added is spent at a rate
        # near 0.
        fix["decay_steps"] = max(round(decay * steps / subject.steps), 1)
    return fix
