"""A sweep of one parameter over orders of magnitude, extended where its best is at the edge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results, TrialRecord
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.diagnosis.gathering import gather
from tunebook.procedures.subjects import Subject
from tunebook.stats.beyond import gain_beyond_p

# What a value is worth: lower is better, infinity that it does not work, NaN that nobody knows. It
# is also asked of single trials, whose spread is the noise.
Judge: TypeAlias = Callable[[Sequence[Reading]], float]
Side: TypeAlias = Literal["low", "high"]

MOST_EXTENSIONS: Final = 2
# The best values, so many at least, tell how noisy results are.
LEAST_GOOD: Final = 4
# As many values inside that are as good as the one at the end make a plateau.
PLATEAU: Final = 2


@dataclass(frozen=True, slots=True)
class Sweep:
    """What came of each value, in rising order. `scores` are lower for better ones.

    `noise` is the standard error of a score beside others, from replicates that share their seeds;
    None where there are none. `single` are the scores of the single trials.
    """

    parameter: str
    readings: Mapping[float, tuple[Reading, ...]]
    scores: Mapping[float, float]
    noise: float | None = None
    single: Mapping[float, tuple[float, ...]] = field(default_factory=dict)

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """All trials."""
        return tuple(reading.record for found in self.readings.values() for reading in found)

    @property
    def values(self) -> tuple[float, ...]:
        """Values of which something is known: not those whose trials broke for other reasons."""
        return tuple(value for value, score in self.scores.items() if not math.isnan(score))

    @property
    def broken(self) -> tuple[float, ...]:
        """Values whose trials broke for reasons that are not theirs."""
        return tuple(value for value, score in self.scores.items() if math.isnan(score))

    @property
    def working(self) -> tuple[float, ...]:
        return tuple(value for value in self.values if math.isfinite(self.scores[value]))

    @property
    def best(self) -> float | None:
        """The best value, the lowest of equals; None where none works."""
        return min(self.working, key=self.scores.__getitem__, default=None)

    @property
    def end(self) -> Side | None:
        """At which end of what was tried the best value is, or may be but for noise.

        The last value that works is no end: beyond it is an edge of the program's own.
        """
        values, best = self.values, self.best
        if best is None:
            return None
        if best == values[0] or (best == values[1] and self.is_as_good(values[0])):
            return "low"
        if best == values[-1] or (best == values[-2] and self.is_as_good(values[-1])):
            return "high"
        return None

    @property
    def boundary(self) -> Side | None:
        """At which end the best value is, unless it lies on a plateau.

        One value further inside that is as good may be a slope seen through noise; two are not.
        """
        inside = (value for value in self.values[1:-1] if value != self.best)
        return None if sum(map(self.is_as_good, inside)) >= PLATEAU else self.end

    def is_as_good(self, value: float) -> bool:
        """Whether a value is within the noise of the best: one standard error of a difference."""
        if self.best is None:
            return False
        margin = math.sqrt(2.0) * (self.noise or 0.0)
        return self.scores[value] <= self.scores[self.best] + margin

    @property
    def plateau(self) -> tuple[float, ...]:
        """The values next to the best, and next to these, that are as good; the best alone if none.

        Which of them is the best is luck.
        """
        values, best = self.values, self.best
        if best is None:
            return ()
        at = values.index(best)
        below = itertools.takewhile(self.is_as_good, reversed(values[:at]))
        above = itertools.takewhile(self.is_as_good, values[at + 1 :])
        return (*reversed(tuple(below)), best, *above)

    @property
    def middle(self) -> float | None:
        """The middle of the plateau, of two the lower one: far from where it gets worse."""
        good = self.plateau
        return good[(len(good) - 1) // 2] if good else None

    @property
    def broken_above(self) -> float | None:
        """The smallest value above the best from which nothing works."""
        above = [value for value in self.values if self.best is not None and value > self.best]
        found = None
        for value in reversed(above):
            if math.isfinite(self.scores[value]):
                break
            found = value
        return found


def sweep(
    subject: Subject,
    stage: str,
    parameter: str,
    values: Sequence[float],
    *,
    goal: str,
    fix: Config | None = None,
    steps: int | None = None,
    replicates: int = 1,
    judge: Judge | None = None,
    tells: Callable[[float], bool] = math.isfinite,
    extensions: int = MOST_EXTENSIONS,
) -> Generator[Study, Results, Sweep]:
    """Try values of a parameter; while the best is at an end, go on in its direction.

    For `yield from` in a procedure. Each extension is a study of its own. `tells` says of which
    scores of single trials the spread is noise.
    """
    judge = judge or mean_loss(subject.study.objective.metric)
    records: list[TrialRecord] = []
    tried: set[float] = set()
    more: Sequence[float] = sorted(values)
    for number in itertools.count(1):
        name = stage if number == 1 else f"{stage}-{number}"
        tried |= set(more)
        results = yield subject.stage(
            name,
            {parameter: more},
            fix,
            goal=goal,
            steps=steps,
            replicates=replicates,
            seeds_of=stage,
        )
        records += results.trials
        # Judged together: whether a trial is infeasible may depend on the others.
        whole = subject.stage(stage, {parameter: sorted(tried)}, fix, goal=goal, steps=steps)
        made = judged(Results(whole, tuple(records)), parameter, judge, tells)
        if made.end is None or number > extensions:
            return made
        more = _beyond(made, _ratio(values), len(values) // 2)
    raise AssertionError("unreachable")


def judged(
    results: Results,
    parameter: str,
    judge: Judge,
    tells: Callable[[float], bool] = math.isfinite,
) -> Sweep:
    """What a study says of the values of one parameter."""
    readings = by_value(results, parameter)
    scores = {value: judge(found) for value, found in readings.items()}
    working = sorted((v for v in scores if math.isfinite(scores[v])), key=scores.__getitem__)
    # What is good is what is compared: far from it, results differ more from seed to seed.
    good = working[: max(LEAST_GOOD, math.ceil(len(working) / 2))]
    single = {v: tuple(judge((reading,)) for reading in found) for v, found in readings.items()}
    near = [tuple(x if tells(x) else math.nan for x in single[value]) for value in good]
    effects = _seed_effects(near)
    fair = {v: score - _luck(single[v], effects) for v, score in scores.items()}
    noise = _noise(near)
    return Sweep(parameter, readings, fair, noise.error if noise else None, single)


def promise(made: Sweep, multiple: float) -> float:
    """The p-value that so many times the best value would be better still, were nothing in its way.

    By how results change over the last three values up to the best: see `stats.beyond`. Results
    above 0 are seen by their logs: a loss that falls tenfold and tenfold again does not level off.
    The noise is that of values up to the best, since beyond an edge seeds fare very differently.
    One half where there are no replicates, which tell the noise.
    """
    working = made.working
    near = [value for value in working if made.best is not None and value <= made.best]
    table = [made.single.get(value, ()) for value in near[-LEAST_GOOD:]]
    scores = np.array([made.scores[value] for value in working])
    known = [one for row in table for one in row if math.isfinite(one)]
    if np.all(scores > 0.0) and all(one > 0.0 for one in known):
        # A trial that broke has no result, and its log is none either.
        scores = np.log(scores)
        table = [tuple(math.log(x) if math.isfinite(x) else x for x in row) for row in table]
    noise = _noise(table)
    if made.best is None or noise is None:
        return 0.5
    at = np.log(working)
    return gain_beyond_p(at, scores, noise.error, noise.freedom, math.log(multiple * made.best))


def by_value(results: Results, parameter: str) -> dict[float, tuple[Reading, ...]]:
    """The readings of a study by the value of one parameter."""
    found: dict[float, list[Reading]] = {}
    for reading in readings_of(results):
        value = reading.record.trial.config[parameter]
        found.setdefault(float(value or 0), []).append(reading)
    return {value: tuple(found[value]) for value in sorted(found)}


def readings_of(results: Results) -> tuple[Reading, ...]:
    """The readings of a stage, in the order of its trials.

    A result far from the others is a result: a procedure goes where results are bad, and a seed
    far out is part of what a configuration does.
    """
    return gather(results, far_out=False).readings


def worse_by(metric: Metric, readings: Sequence[Reading], than: Sequence[Reading]) -> float:
    """By how much trainings are worse than others, on average over the seeds that both have.

    A seed that one of them lacks, because its trial broke, would count as the other's merit.
    Infinite where one came to nothing, NaN where no seed tells.
    """
    if any(reading.standing is Standing.INFEASIBLE for reading in readings):
        return math.inf
    ours, theirs = (
        {r.record.trial.seed: metric.loss(r.value) for r in several if r.value is not None}
        for several in (readings, than)
    )
    seeds = ours.keys() & theirs.keys()
    return float(np.mean([ours[s] - theirs[s] for s in sorted(seeds)])) if seeds else math.nan


@dataclass(frozen=True, slots=True)
class _Noise:
    """The standard error of a row's mean beside other rows, and its degrees of freedom."""

    error: float
    freedom: int


def _noise(table: Sequence[Sequence[float]]) -> _Noise | None:
    """The noise of a table whose columns, seeds, are the same in every row; None of too few.

    What a seed adds to all values alike does not count: it parts no value from another.
    """
    y = _whole_rows(table)
    if len(y) < 2 or y.shape[1] < 2:
        return None
    left = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    freedom = (len(y) - 1) * (y.shape[1] - 1)
    return _Noise(math.sqrt(float(np.sum(left**2)) / freedom / y.shape[1]), freedom)


def _seed_effects(table: Sequence[Sequence[float]]) -> Floats:
    """What each seed adds to the results of all values; nothing where no row tells."""
    y = _whole_rows(table)
    return np.asarray((y - y.mean(axis=1, keepdims=True)).mean(axis=0)) if y.size else np.array([])


def _luck(single: Sequence[float], effects: Floats) -> float:
    """What the seeds whose trials did not break add to the mean of a value; 0 where all are there.

    A value that lacks its worst seed would look the better for it.
    """
    there = ~np.isnan(np.array(single))
    if len(single) != len(effects) or np.all(there) or not np.any(there):
        return 0.0
    return float(effects[there].mean())


def _whole_rows(table: Sequence[Sequence[float]]) -> Floats:
    """The rows with a result of every seed."""
    wide = max(map(len, table), default=0)
    return np.array([row for row in table if len(row) == wide and np.all(np.isfinite(row))])


def mean_loss(metric: Metric) -> Judge:
    """The mean result, turned so that lower is better; a value that fails once does not work."""

    def judge(readings: Sequence[Reading]) -> float:
        if any(reading.standing is Standing.INFEASIBLE for reading in readings):
            return math.inf
        losses = [metric.loss(r.value) for r in readings if r.value is not None]
        return float(np.mean(losses)) if losses else math.nan

    return judge


def orders(centre: float, below: float, above: float, each: int) -> list[float]:
    """Values around a centre, `each` in an order of magnitude, in round numbers.

    >>> orders(0.01, below=1, above=1, each=2)
    [0.001, 0.0032, 0.01, 0.032, 0.1]
    """
    powers = range(-round(below * each), round(above * each) + 1)
    return [float(f"{centre * 10 ** (power / each):.2g}") for power in powers]


def _ratio(values: Sequence[float]) -> float:
    ordered = sorted(set(values))
    if len(ordered) < 2 or ordered[0] <= 0:
        raise ValueError(f"a sweep needs two values above 0, got {ordered}")
    return float((ordered[-1] / ordered[0]) ** (1 / (len(ordered) - 1)))


def _beyond(made: Sweep, ratio: float, count: int) -> list[float]:
    """So many values, at the same ratio, beyond the end at which the best is."""
    # Also beyond those that broke: more failures at one side tell that they depend on the value.
    last = min(made.readings) if made.end == "low" else max(made.readings)
    factor = 1 / ratio if made.end == "low" else ratio
    further = {float(f"{last * factor**power:.2g}") for power in range(1, max(count, 2) + 1)}
    return sorted(further - set(made.readings))
