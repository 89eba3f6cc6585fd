"""Is the baseline clearly better than chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import percent, shown
from tunebook.diagnosis.questions import BASELINE
from tunebook.diagnosis.shortage import no_result
from tunebook.stats.samples import binomial_standard_error

# The best of many trials, each looked at many times, exceeds chance by three or four standard
# errors without having learnt anything; by five, hardly ever.
CLEARLY = 5.0
# Where no error is known, a gain of this share of the chance level is taken for clear.
CLEAR_SHARE = 0.05
# The last evaluations, whose scatter tells how far one evaluation can be trusted.
LAST = 10


def baseline(evidence: Evidence) -> Finding:
    """How far the best trial is above chance, in units of the error of one evaluation."""
    chance, metric = evidence.study.knobs.chance, evidence.objective.metric
    ended = evidence.only(Standing.MEASURED, Standing.INFEASIBLE)
    if not ended:
        return unknown(BASELINE, *no_result(evidence))
    if chance is None:
        return unknown(
            BASELINE,
            f"The value of {metric.name} at chance is not known.",
            f"Give the knob chance: the {metric.name} of guessing.",
        )
    best, learnt = evidence.best, sum(_is_above(evidence, r, chance) for r in ended)
    if best is None or best.value is None:
        return finding(BASELINE, [_nothing_learnt(ended, learnt, chance)], "")
    gain = metric.loss(chance) - metric.loss(best.value)
    error = _error(evidence, best, chance)
    said = f"The best trial ({best.number}) reaches {metric.name} {shown(best.value)}"
    numbers = {"best": best.value, "chance": chance, "gain": gain, "error": error}
    if gain >= CLEARLY * error:
        part = percent(learnt / len(ended))
        share = f"; {part} of the trials are better than that" if learnt < len(ended) else ""
        calm = f"{said}, clearly better than chance ({shown(chance)}){share}."
        return finding(BASELINE, [], calm, numbers=numbers, trials=(best.number,))
    claim = Claim(
        f"{said}, hardly better than chance ({shown(chance)}): the gain is {shown(gain)}, where "
        f"{shown(CLEARLY * error)} would be clear.",
        Verdict.WATCH,
        advice="Find a configuration that clearly learns, by hand if need be, before searching.",
        trials=(best.number,),
    )
    return finding(BASELINE, [claim], "", numbers=numbers)


def _is_above(evidence: Evidence, reading: Reading, chance: float) -> bool:
    """Whether a trial was better than chance, whatever became of it then."""
    measure = evidence.objective.measure(reading.record.curves)
    return measure is not None and evidence.objective.metric.is_better(measure.value, chance)


def _nothing_learnt(ended: Sequence[Reading], learnt: int, chance: float) -> Claim:
    trials, above = tuple(r.number for r in ended), f"better than chance ({shown(chance)})"
    if learnt:
        return Claim(
            f"No trial has a result, though {learnt} of {counted(len(ended), 'trial')} "
            f"{'was' if learnt == 1 else 'were'} {above} at some step.",
            Verdict.PROBLEM,
            advice="See why the trials are infeasible: the program learns, but not to the end.",
            trials=trials,
        )
    return Claim(
        f"None of {counted(len(ended), 'trial')} is {above}.",
        Verdict.PROBLEM,
        advice="Find a simple configuration that learns before searching about it: fewer "
        "steps of warmup, a smaller model, a lower learning rate; then look for a bug.",
        trials=trials,
    )


def _error(evidence: Evidence, best: Reading, chance: float) -> float:
    """The error of one evaluation: of the sample of examples, or seen between evaluations."""
    examples = evidence.study.knobs.valid_examples
    sampling = binomial_standard_error(chance, examples) if examples else None
    curve = best.curve(evidence.objective.metric.name)
    late = np.empty(0) if curve is None else curve.values[-LAST:]
    steps = np.diff(late[np.isfinite(late)])
    # Differences, so that a metric that still improves does not count as one that scatters.
    seen = float(np.std(steps)) / math.sqrt(2) if len(steps) >= 3 else None
    known = [error for error in (sampling, seen) if error]
    return max(known, default=CLEAR_SHARE * abs(chance) / CLEARLY)
