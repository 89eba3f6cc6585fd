"""Are there loss spikes or outlier gradients?

Spikes are seen, not inferred: the thresholds are such that no plausible noise reaches them, and a
spike that reaches them is a fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, percent, times
from tunebook.diagnosis.questions import SPIKES
from tunebook.diagnosis.signals import Signal, Wanted, finite_points, signal, to_log
from tunebook.stats.instability import Spike, loss_spikes

# How many times its level a spike is: half as much again is felt in a loss; the norms of single
# batches vary more.
LEAST_FACTOR: dict[Wanted, float] = {"train_loss": 1.5, "grad_norm": 5.0}
# And how many robust deviations of the log. Batches have heavier tails than the normal law, in
# which six would do.
LEAST_DEVIATIONS = 10.0
# The fewest points that show what is usual, and the share of the beginning that has no level yet:
# norms rise and fall while the learning rate warms up.
LEAST_POINTS = 20
BEGINNING = 0.05
# Cheap first: whether a point could be a spike at all, by the mean of so many points before it. It
# must rise above that by these shares of the factor and of the deviations, half for safety.
SCREEN_WINDOW = 9
SCREEN_SHARE = 0.5
# Of a larger study as many trials, evenly spread, and the best ones tell how common spikes are.
MOST_LOOKED_AT = 400
# Spikes that come back in one trial are a problem; a single one is watched.
RECURRENT = 3
# Beside the best trials, spikes in more than this share of all trials are watched.
COMMON = 0.1

Seen: TypeAlias = Mapping[int, Sequence[Spike]]


def spikes(evidence: Evidence) -> Finding:
    """Spikes of the training loss and of the gradient norm, in the best trials and in all."""
    found = [signal(evidence, "train_loss"), signal(evidence, "grad_norm")]
    signals = [one for one in found if one is not None]
    if not signals:
        return unknown(
            SPIKES,
            "Neither a training loss nor a gradient norm is logged.",
            f"{to_log(evidence, 'grad_norm')} {to_log(evidence, 'train_loss')}",
        )
    looked = [(one, _look(evidence, one)) for one in signals]
    if not any(seen for _, seen in looked):
        return unknown(
            SPIKES,
            f"No trial has {LEAST_POINTS} points of {' or '.join(one.metric for one in signals)}.",
            "Log them more often: spikes hide between rare points.",
        )
    return finding(
        SPIKES,
        [claim for one, seen in looked for claim in _claims(evidence, one, seen)],
        _calm(looked),
        method=f"points above their recent level by {LEAST_DEVIATIONS:g} deviations and a factor "
        "of " + " or ".join(f"{LEAST_FACTOR[one.wanted]:g} ({one.metric})" for one in signals),
        numbers={f"trials with spikes of {one.metric}": len(_spiky(seen)) for one, seen in looked},
    )


def _look(evidence: Evidence, one: Signal) -> Seen:
    """The spikes of each trial that has enough points, by number."""
    readings = evidence.only(Standing.MEASURED, Standing.INFEASIBLE, Standing.CENSORED)
    every = -(-len(readings) // MOST_LOOKED_AT) or 1
    bests = tuple(arm.best for arm in evidence.arms if arm.best)
    seen = {reading.number: _spikes_of(reading, one) for reading in (*bests, *readings[::every])}
    return {number: spikes for number, spikes in seen.items() if spikes is not None}


def _spikes_of(reading: Reading, one: Signal) -> tuple[Spike, ...] | None:
    steps, values = finite_points(reading.curve(one.metric))
    positive = values > 0
    steps, values = steps[positive], values[positive]
    factor = LEAST_FACTOR[one.wanted]
    if len(values) < LEAST_POINTS:
        return None
    if not _may_spike(values, factor):
        return ()
    found = loss_spikes(steps, values, LEAST_DEVIATIONS, factor)
    settled = steps[0] + BEGINNING * (steps[-1] - steps[0])
    # A loss that leaves for good has diverged, which is another question.
    return tuple(spike for spike in found if spike.recovered and spike.step > settled)


def _may_spike(values: Floats, factor: float) -> bool:
    """Whether any value rises enough above the mean of those before it: a hundred times cheaper."""
    height = np.log(values)
    sums = np.concatenate([[0.0], np.cumsum(height)])
    means = (sums[SCREEN_WINDOW:-1] - sums[: -SCREEN_WINDOW - 1]) / SCREEN_WINDOW
    usual = float(np.median(np.abs(np.diff(height))))
    least = SCREEN_SHARE * max(float(np.log(factor)), LEAST_DEVIATIONS * usual)
    return bool(np.any(height[SCREEN_WINDOW:] - means > least))


def _claims(evidence: Evidence, one: Signal, seen: Seen) -> list[Claim]:
    claims = []
    for arm in evidence.arms:
        best = arm.best
        if best is None or not seen.get(best.number):
            continue
        own = seen[best.number]
        where = best_trial(evidence, arm, best.number)
        claims.append(
            Claim(
                f"In {where} {one.metric} {_happened(own)}.",
                Verdict.PROBLEM if len(own) >= RECURRENT else Verdict.WATCH,
                advice=_advice(one),
                subject=f"{one.metric} in {where}",
                trials=(best.number,),
                numbers={"spikes": len(own), "factor": max(spike.factor for spike in own)},
            )
        )
    spiky = _spiky(seen)
    if len(spiky) > COMMON * len(seen):
        claims.append(
            Claim(
                f"{one.metric} spikes in {percent(len(spiky) / len(seen))} of the trials "
                f"({len(spiky)} of {len(seen)}).",
                Verdict.WATCH,
                advice=_advice(one),
                subject=f"{one.metric} in {counted(len(spiky), 'trial')}",
                trials=spiky,
                numbers={"share": len(spiky) / len(seen)},
            )
        )
    return claims


def _spiky(seen: Seen) -> tuple[int, ...]:
    return tuple(number for number, spikes in seen.items() if spikes)


def _happened(spikes: Sequence[Spike]) -> str:
    worst = max(spikes, key=lambda spike: spike.factor)
    level = f"{times(worst.factor)} its level at step {worst.step:,.0f}"
    if len(spikes) == 1:
        return f"jumps to {level}"
    return f"spikes {len(spikes)} times, once to {level}"


def _advice(one: Signal) -> str:
    note = f" ({one.note}.)" if one.guessed else ""
    return (
        "Clip gradients at the 90th percentile of their norms, and try a longer warmup if spikes "
        f"come early.{note}"
    )


def _calm(looked: Sequence[tuple[Signal, Seen]]) -> str:
    parts = []
    for one, seen in looked:
        if spiky := _spiky(seen):
            parts.append(f"{one.metric} spikes in {len(spiky)} of {counted(len(seen), 'trial')}")
        elif seen:
            parts.append(f"{one.metric} has no spikes in {counted(len(seen), 'trial')}")
    notes = "".join(f" ({one.note}.)" for one, _ in looked if one.guessed)
    return f"{'; '.join(parts)}. The best trials have none.{notes}"
