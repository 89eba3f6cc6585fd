"""Results to evidence: which trials count, and which are infeasible by their values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.objective import Objective
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import Cause, OutcomeKind
from tunebook.diagnosis.divergence import divergence, goes_to_the_end
from tunebook.diagnosis.failures import infeasible_by_error

# A trial that gained less than this share of what the best one gained over chance is at chance.
LEAST_GAIN = 0.10
# Further than this from the median, in median absolute deviations, a result is no result.
FAR_OUT = 5.0
# A result beyond this has diverged, or will make every sum of squares overflow.
LARGEST = 1e100
# Fewer values say nothing of their own spread.
LEAST_FOR_SPREAD = 8

_STANDINGS = {
    OutcomeKind.STOPPED: Standing.CENSORED,
    OutcomeKind.INFEASIBLE: Standing.INFEASIBLE,
    OutcomeKind.FAILED: Standing.BROKEN,
    OutcomeKind.CRASHED: Standing.BROKEN,
    OutcomeKind.PREEMPTED: Standing.PENDING,
    OutcomeKind.CANCELLED: Standing.PENDING,
}


def has_diverged(evidence: Evidence, reading: Reading) -> bool:
    """Whether a trial is infeasible because its curves ran away, and not merely for its value."""
    outcome = reading.record.outcome
    if reading.standing is not Standing.INFEASIBLE or outcome is None:
        return False
    if outcome.kind is not OutcomeKind.COMPLETE:
        return outcome.cause is Cause.DIVERGED
    kept = goes_to_the_end(evidence.results.trials, evidence.study.knobs.train_loss)
    return bool(_divergence(evidence.study, reading.record, evidence.objective, kept))


def gather(
    results: Results, objective: Objective | None = None, *, far_out: bool = True
) -> Evidence:
    """The evidence of a study, under its own objective or another one.

    Without `far_out`, results far worse than the median stay results.
    """
    chosen = objective or results.study.objective
    results = _under(chosen, results)
    kept = goes_to_the_end(results.trials, results.study.knobs.train_loss)
    read = tuple(_read(results, record, chosen, kept) for record in results.trials)
    judged = _infeasible_by_value(results, chosen, read, far_out)
    return Evidence(results, chosen, infeasible_by_error(results.study, judged))


def _under(objective: Objective, results: Results) -> Results:
    """The same trials, judged by an objective. What was known of another metric does not hold."""
    study = results.study
    if objective == study.objective:
        return results
    if objective.metric != study.objective.metric:
        study = replace(study, knobs=replace(study.knobs, chance=None, target=None))
    return replace(results, study=replace(study, objective=objective))


def _read(results: Results, record: TrialRecord, objective: Objective, kept: bool) -> Reading:
    outcome = record.outcome
    if outcome is None:
        return Reading(record, Standing.PENDING, why="running")
    if outcome.kind is not OutcomeKind.COMPLETE:
        return Reading(record, _STANDINGS[outcome.kind], why=outcome.reason)
    if diverged := _divergence(results.study, record, objective, kept):
        return Reading(record, Standing.INFEASIBLE, why=diverged)
    measure = objective.measure(record.curves)
    if measure is not None:
        return Reading(record, Standing.MEASURED, measure.value, measure.step)
    if objective.constraints and objective.metric.name in record.curves:
        unmet = " and ".join(map(str, objective.constraints))
        return Reading(record, Standing.INFEASIBLE, why=f"at no step did {unmet} hold")
    return Reading(record, Standing.BROKEN, why=f"it logged no {objective.metric.name}")


def _divergence(study: Study, record: TrialRecord, objective: Objective, kept: bool) -> str:
    """Why a trial that ended by itself has diverged, or nothing."""
    why = divergence(
        record.curves,
        (objective.metric.name, *study.divergence.metrics),
        study.knobs.train_loss,
        kept_to_the_end=kept,
    )
    if not why and (measure := objective.measure(record.curves)) is not None:
        return f"{measure.value:.4g} is too large" if abs(measure.value) > LARGEST else ""
    return why


def _infeasible_by_value(
    results: Results, objective: Objective, readings: tuple[Reading, ...], far_out: bool
) -> tuple[Reading, ...]:
    """Trials no better than chance, or far worse than the median, are infeasible."""
    losses = np.array(
        [objective.metric.loss(r.value) for r in readings if r.value is not None], dtype=float
    )
    if not len(losses):
        return readings
    chance = results.study.knobs.chance
    at_chance, far = np.inf, np.inf
    if chance is not None:
        level = objective.metric.loss(chance)
        at_chance = level - LEAST_GAIN * max(level - float(losses.min()), 0.0)
    if far_out and len(losses) >= LEAST_FOR_SPREAD:
        middle = float(np.median(losses))
        deviation = float(np.median(np.abs(losses - middle)))
        far = middle + FAR_OUT * deviation if deviation > 0 else np.inf

    def judged(reading: Reading) -> Reading:
        if reading.value is None:
            return reading
        loss = objective.metric.loss(reading.value)
        last = float(reading.record.curves[objective.metric.name].values[-1])
        if loss >= at_chance:
            why = f"{reading.value:.4g} is no better than chance ({chance:g})"
        elif objective.metric.loss(last) >= at_chance:
            # Whatever it had reached before, it has lost: that is divergence without a NaN.
            why = f"it ended at {last:.4g}, no better than chance ({chance:g})"
        elif loss > far:
            why = f"{reading.value:.4g} is over {FAR_OUT:g} deviations worse than the median"
        else:
            return reading
        return replace(reading, standing=Standing.INFEASIBLE, value=None, step=None, why=why)

    return tuple(judged(reading) for reading in readings)
