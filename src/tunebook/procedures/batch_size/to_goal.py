"""How many steps to a goal does each batch size need, and which size gets there soonest?"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.evidence import Standing
from tunebook.core.representation import listed
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.procedures.batch_size.bottleneck import Measured
from tunebook.procedures.batch_size.goals import Goal, steps_judge
from tunebook.procedures.batch_size.noise_scale import NoiseScale, mean_square, noise_scale
from tunebook.procedures.batch_size.tried import Fate
from tunebook.procedures.commands import look
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Side, Sweep, orders, readings_of, sweep
from tunebook.stats.critical_batch import BatchScaling, BestSize, NoFit, batch_scaling

SIZES: Final = 4
_RATIO: Final = 4
# Learning rates around the centre at each size: so many in an order of magnitude, either way.
_EACH, _AROUND = 3, 2 / 3
_EVALUATIONS: Final = 50
# On the way to the goal there are so many evaluations at every size: steps are known as closely,
# and luck has as many chances.
_ON_THE_WAY: Final = 25
_MOST_EVALUATIONS: Final = 400
# A larger batch needs no more steps than a smaller one, and noise a little room.
_ROOM: Final = 1.4
# Without a curve, sizes whose times differ by no more standard errors are as good as one another.
_ERRORS: Final = 2.0
# Fewer sizes than this are no comparison.
_FEWEST: Final = 2
_TOO_FEW: Final = NoFit("fewer than two sizes were left to train at")
# Optimisers whose best rate grows with the batch, not with its root. A centre to look around.
_LINEAR: Final = ("sgd", "momentum", "nesterov")


@dataclass(frozen=True, slots=True)
class AtSize:
    """What a batch size needed: the sweep of its learning rate, then its seeds at the best one."""

    size: int
    sweep: Sweep
    seeds: tuple[TrialRecord, ...]
    crossings: tuple[tuple[float, float], ...]
    limit: int
    # Trials that broke for reasons of their own, and have no crossing: those of seeds, or of the
    # whole sweep where none of it worked.
    broken: tuple[TrialRecord, ...] = ()

    @property
    def boundary(self) -> Side | None:
        """At which end of what was tried the best learning rate is."""
        return self.sweep.boundary

    @property
    def reached(self) -> int:
        return sum(math.isfinite(until) for _, until in self.crossings)

    @property
    def steps(self) -> float:
        """The lower median over seeds; +inf where fewer than half of them reached the goal."""
        ordered = sorted(until for _, until in self.crossings)
        return ordered[(len(ordered) - 1) // 2] if ordered else math.inf

    @property
    def is_met(self) -> bool:
        """Whether at least half of its seeds reached the goal."""
        return math.isfinite(self.steps)

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of it, since all of its trials broke."""
        return bool(self.broken) and not self.crossings


@dataclass(frozen=True, slots=True)
class Reached:
    """Steps to the goal by size, the curve through them, and what follows for time and cost."""

    goal: Goal
    current: int
    sizes: tuple[AtSize, ...]
    fit: BatchScaling | NoFit
    seconds: Mapping[int, float]
    soonest: BestSize | None = None
    early: NoiseScale | None = None
    late: NoiseScale | None = None
    decayed: str = ""
    # Whether the machine was, so that times say little.
    busy: bool = False
    # Whether broken trials ended the search for sizes at or below the present one.
    broke: bool = False
    # Why no size above the largest candidate was one, in words.
    end: str = ""
    # The command that shows a trial that broke, if any did.
    look: str = ""
    # Sizes that were asked for and left out, and why, in words.
    left_out: str = ""

    @property
    def met(self) -> tuple[AtSize, ...]:
        """The sizes at which at least half of the seeds reached the goal."""
        return tuple(one for one in self.sizes if one.is_met)

    @property
    def candidates(self) -> tuple[int, ...]:
        """The sizes that may be taken: those with a known time, among those that met the goal."""
        met = [one.size for one in self.met]
        missed = [one.size for one in self.sizes if not one.is_met and not one.is_unknown]
        between = (size for size in self.seconds if met and met[0] <= size <= met[-1])
        return tuple(size for size in between if size not in missed)

    @property
    def soonest_size(self) -> int | None:
        return int(self.soonest.size) if self.soonest is not None else None

    @property
    def is_soon(self) -> bool:
        """Whether the present size may well be the one that reaches the goal soonest."""
        return self.soonest is not None and float(self.current) in self.soonest.possible


def reach_goal(
    subject: Subject, goal: Goal, measured: Measured
) -> Generator[Study, Results, Reached]:
    """Train to the goal at several sizes, each with its own learning rate; for `yield from`."""
    sizes, left_out = _sizes(goal, measured)
    if left_out and len(sizes) < _FEWEST:
        # One size is compared with none: what was timed stands without it.
        return Reached(goal, int(subject.number("batch_size")), (), _TOO_FEW, {}, left_out=left_out)
    current = int(subject.number("batch_size"))
    centre, power = (subject.number("learning_rate"), current), _power(subject)
    found: list[AtSize] = []
    for size in sizes:
        limit = _limit(subject, size, current, found)
        rate = centre[0] * (size / centre[1]) ** power
        one = yield from _at_size(subject, goal, size, orders(rate, _AROUND, _AROUND, _EACH), limit)
        found.append(one)
        if one.sweep.best is not None and one.reached:
            centre = one.sweep.best, size
    return replace(_reached(subject, goal, measured, found), left_out=left_out)


def _at_size(
    subject: Subject, goal: Goal, size: int, rates: Sequence[float], limit: int
) -> Generator[Study, Results, AtSize]:
    knobs, rate = subject.knobs, subject.name("learning_rate")
    fix: dict[str, Value] = {subject.name("batch_size"): size}
    if knobs.eval_interval is not None:
        fix[knobs.eval_interval] = max(limit // _EVALUATIONS, 1)
    # A decay would end with the budget, and move the goal to its end.
    fix |= subject.constant_rate()
    why = f"How many steps to {goal.text} does a batch of {size} need?"
    made = yield from sweep(
        subject,
        f"goal-{size}",
        rate,
        rates,
        goal=why,
        fix=fix,
        steps=limit,
        judge=steps_judge(goal, limit),
    )
    if made.best is None:
        broken = () if made.values else made.records
        return AtSize(size, made, (), (), limit, broken)
    # Fresh seeds: the best of a sweep owes something to luck.
    rows: list[dict[str, Value]] = [{}] * goal.seeds
    best = {**fix, rate: made.best}
    needed = made.scores[made.best]
    if knobs.eval_interval is not None and needed <= limit:
        # Also after a goal that was reached early there is no need of many.
        best[knobs.eval_interval] = max(round(needed / _ON_THE_WAY), limit // _MOST_EVALUATIONS, 1)
    results = yield subject.listed(f"goal-{size}-seeds", rows, best, goal=why, steps=limit)
    return _with_seeds(goal, AtSize(size, made, (), (), limit), results)


def _with_seeds(goal: Goal, one: AtSize, results: Results) -> AtSize:
    """A size with when its seeds reached the goal; one that broke did not miss it."""
    readings = readings_of(results)
    seeds = tuple(r.record for r in readings if r.standing is not Standing.BROKEN)
    broken = tuple(r.record for r in readings if r.standing is Standing.BROKEN)
    crossings = tuple(goal.crossing(record) for record in seeds)
    return replace(one, seeds=seeds, crossings=crossings, broken=broken)


def _sizes(goal: Goal, measured: Measured) -> tuple[tuple[int, ...], str]:
    """As given, or by factors of four down from where throughput stops rising.

    With them, in words, those that were given and not shown to fit: they are left out.
    """
    known = [tried.size for tried in measured.trying.fitting]
    if not goal.sizes:
        wanted = [measured.recommended.size // _RATIO**i for i in range(SIZES)]
        return tuple(sorted(size for size in wanted if size >= known[0])), ""
    too_large = [f"{size:,}" for size in goal.sizes if size > known[-1]]
    left_out = (
        f"Left out, as not shown to fit: {listed(too_large, most=6)} (sizes up to {known[-1]:,} "
        f"were, and {measured.trying.ended})."
    )
    sizes = tuple(size for size in goal.sizes if size <= known[-1])
    return sizes, left_out if too_large else ""


def _limit(subject: Subject, size: int, current: int, found: Sequence[AtSize]) -> int:
    """Steps enough: what the study gives, in examples for smaller sizes; and not more than a
    smaller size needed."""
    given = subject.steps or 1000
    limits = [given * max(current / size, 1.0)]
    limits += [_ROOM * one.steps for one in found if one.is_met]
    return max(math.ceil(min(limits)), 10)


def _power(subject: Subject) -> float:
    names = [str(value).lower() for value in subject.config.values() if isinstance(value, str)]
    return 1.0 if any(name in _LINEAR for name in names) else 0.5


def _reached(subject: Subject, goal: Goal, measured: Measured, found: Sequence[AtSize]) -> Reached:
    observed = [(one.size, *crossing) for one in found for crossing in one.crossings]
    sizes, after, until = ([row[column] for row in observed] for column in range(3))
    fit = batch_scaling(sizes, after, until)
    seconds = _seconds(measured, [one.size for one in found])
    schedule = subject.value("schedule")
    decays = schedule is not None and not subject.constant_rate()
    broken = [record for one in found for record in one.broken]
    reached = Reached(
        goal,
        int(subject.number("batch_size")),
        tuple(found),
        fit,
        seconds,
        early=_early_noise(subject, measured),
        late=_late_noise(subject, found),
        decayed=str(schedule) if decays else "",
        busy=measured.trying.is_busy,
        broke=measured.trying.broke_by(int(subject.number("batch_size"))) is not None,
        end=_end(measured, found),
        look=look(subject, broken) if broken else "",
    )
    return replace(reached, soonest=_soonest(reached))


def _end(measured: Measured, found: Sequence[AtSize]) -> str:
    largest = max((one.size for one in found), default=0)
    if largest > max((one.size for one in found if one.is_met), default=largest):
        return "the largest that is known to reach it"
    best, larger = measured.recommended, [t for t in measured.trying.tried if t.size > largest]
    if largest >= best.size and measured.timed[-1].size > best.size:
        return "where throughput stops rising: a larger one takes no less time"
    if larger and larger[0].fate is Fate.OUT_OF_MEMORY:
        return "the largest that fits into memory"
    return "the largest that was tried: a larger one may be sooner still"


def _seconds(measured: Measured, sizes: Sequence[int]) -> dict[int, float]:
    """Seconds of a step at each size that may be taken: as timed, or by the line."""
    known = {int(size): times.median.estimate for size, times in measured.trying.timed.items()}
    if measured.line is not None:
        known |= {size: measured.line.seconds(size) for size in sizes if size not in known}
    top = measured.recommended.size
    return {size: known[size] for size in sorted(known) if sizes and sizes[0] <= size <= top}


def _soonest(reached: Reached) -> BestSize | None:
    fit, seconds = reached.fit, reached.seconds
    if isinstance(fit, BatchScaling) and reached.candidates:
        sizes = [float(size) for size in reached.candidates]
        return fit.cheapest(lambda size: seconds[int(size)], sizes)
    totals = {one.size: one.steps * seconds[one.size] for one in reached.met if one.size in seconds}
    if not totals:
        return None
    best = min(totals, key=totals.__getitem__)
    errors = {one.size: _log_error(one) for one in reached.met}
    possible = tuple(
        float(size)
        for size, total in totals.items()
        if math.log(total / totals[best]) <= _ERRORS * math.hypot(errors[size], errors[best])
    )
    return BestSize(float(best), possible, tuple(totals.values()))


def _log_error(one: AtSize) -> float:
    """The standard error of a size's log steps: over seeds, and for lying between evaluations.

    +inf where it cannot be told: a single seed, one that missed, or no evaluation before the goal.
    """
    after, until = np.array(one.crossings).T
    if len(until) < 2 or not np.all(np.isfinite(until)) or np.any(after <= 0.0):
        return math.inf
    seeds = float(np.var(np.log(until), ddof=1)) / len(until)
    # Evaluations are at the same steps for all seeds: more of those do not help.
    return math.sqrt(seeds + float(np.mean(np.log(until / after))) ** 2 / 12.0)


def _early_noise(subject: Subject, measured: Measured) -> NoiseScale | None:
    """From the timed trials: the same learning rate, the first steps."""
    name = subject.knobs.grad_norm
    curves = {t.size: t.record.curves.get(name) for t in measured.trying.fitting} if name else {}
    lasts = [int(curve.steps[-1]) for curve in curves.values() if curve is not None and len(curve)]
    if not lasts:
        return None
    until = min(lasts)
    squares = {float(size): mean_square(curve, until, 1.0) for size, curve in curves.items()}
    return noise_scale({size: value for size, value in squares.items() if value is not None})


def _late_noise(subject: Subject, found: Sequence[AtSize]) -> NoiseScale | None:
    """At the goal, where models of all sizes are about equally good."""
    name = subject.knobs.grad_norm
    squares = {}
    for one in found:
        values = [
            mean_square(record.curves.get(name or ""), until)
            for record, (_, until) in zip(one.seeds, one.crossings, strict=True)
            if math.isfinite(until)
        ]
        known = [value for value in values if value is not None]
        if known:
            squares[float(one.size)] = float(np.mean(known))
    return noise_scale(squares)
