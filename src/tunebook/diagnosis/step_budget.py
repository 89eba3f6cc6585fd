"""Is the number of steps right? The best steps of the good trials against the whole training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from tunebook.core.evidence import Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.decay import ONLY_THE_DECAY, decays
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import percent, shown
from tunebook.diagnosis.questions import STEP_BUDGET
from tunebook.diagnosis.shortage import more_trials, no_result
from tunebook.diagnosis.signals import all_equal, losses_of
from tunebook.stats.curves import late_noise

# The playbook's rules: best in the first tenth, far too many steps; in the last quarter, too few.
FIRST = 0.10
LAST = 0.25
# Good trials: this share of those measured, and never fewer than the least.
GOOD = 0.25
LEAST_GOOD = 5
# Curves with fewer points have no first tenth.
LEAST_POINTS = 10
# What healthy trials do by luck. On a plateau that begins half-way the best step is anywhere in the
# second half, so the last quarter has it every other time; one in the first tenth is rare.
LUCKY_FIRST = 0.25
LUCKY_LAST = 0.5


@dataclass(frozen=True, slots=True)
class BestStep:
    """Where in its training a trial was best, what the last quarter brought it, and its noise."""

    number: int
    share: float
    late_gain: float
    noise: float


def step_budget(evidence: Evidence) -> Finding:
    """The 10% and the 25% rule on the good trials; what was stopped by a rule is left out."""
    interest = difference_of_interest(evidence)
    good = best_steps(evidence)
    if equal := all_equal(evidence):
        return unknown(STEP_BUDGET, equal, "See that the metric is computed.")
    if interest is None or len(good) < LEAST_GOOD:
        return _too_few(evidence, len(good))
    shares = np.array([best.share for best in good])
    first, last = int(np.sum(shares <= FIRST)), int(np.sum(shares > 1 - LAST))
    gain, noise = (
        float(np.median(x)) for x in zip(*((b.late_gain, b.noise) for b in good), strict=True)
    )
    numbers = {"trials": len(good), "first": first, "last": last, "late_gain": gain}
    of = f"of the {len(good)} best trials"
    claims = [
        Claim(
            f"{first} {of} are best in the first {percent(FIRST)} of their training: there are far "
            "too many steps.",
            Verdict.PROBLEM,
            p=_p(first, len(good), LUCKY_FIRST),
            advice="Train for a quarter of the steps, with the decay planned for them, and spend "
            "the rest on more trials.",
            trials=tuple(best.number for best in good if best.share <= FIRST),
            numbers=numbers,
        ),
        Claim(
            f"{last} {of} are best in the last {percent(LAST)} of their training, which brought "
            f"them {shown(gain)} (median): {_short(evidence)}",
            Verdict.WATCH,
            p=_p(last, len(good), LUCKY_LAST) if gain >= max(interest, noise) else 1.0,
            advice="Train longer, and tune the decay of the learning rate again for the new "
            "number of steps.",
            trials=tuple(best.number for best in good if best.share > 1 - LAST),
            numbers=numbers,
        ),
    ]
    return finding(
        STEP_BUDGET,
        claims,
        f"{last} {of} are best in the last {percent(LAST)} of their training, which brought them "
        f"{shown(max(gain, 0.0))} (median), and {first or 'none'} in the first {percent(FIRST)}.",
        method="binomial tests on the best steps of the good trials; the last quarter counts "
        "where it brings more than the difference of interest and than noise",
        numbers=numbers,
    )


def _too_few(evidence: Evidence, good: int) -> Finding:
    """Trials or points, whichever are too few: more of the others would be in vain."""
    results, name = len(evidence.ranked), evidence.objective.metric.name
    often = f"Evaluate at least {LEAST_POINTS} times in a trial, at regular steps."
    if results >= LEAST_GOOD:
        said = f"Fewer than {LEAST_GOOD} finished trials have {LEAST_POINTS} points of {name}."
        return unknown(STEP_BUDGET, said, often)
    if not results:
        return unknown(STEP_BUDGET, *no_result(evidence))
    said = f"Only {counted(results, 'trial')} finished with a result, and {LEAST_GOOD} are needed."
    more = more_trials(evidence, LEAST_GOOD - results)
    return unknown(STEP_BUDGET, said, more if good == results else f"{more} {often}")


def _short(evidence: Evidence) -> str:
    decaying = evidence.best is not None and decays(evidence, evidence.best, LAST)
    return (
        f"the training may be too short. {ONLY_THE_DECAY}"
        if decaying
        else ("the training is too short.")
    )


def best_steps(evidence: Evidence) -> list[BestStep]:
    """Where the good trials were best, the best trial first."""
    wanted = max(LEAST_GOOD, round(GOOD * len(evidence.ranked)))
    found = (_best_step(evidence, reading) for reading in evidence.ranked[:wanted])
    return [best for best in found if best is not None]


def _best_step(evidence: Evidence, reading: Reading) -> BestStep | None:
    steps, losses = losses_of(evidence, reading)
    if len(losses) < LEAST_POINTS or steps[-1] <= 0:
        return None
    shares = steps / steps[-1]
    before = losses[shares <= 1 - LAST]
    gain = float(before.min() - losses.min()) if len(before) else 0.0
    noise = late_noise(losses) or 0.0
    return BestStep(reading.number, float(shares[np.argmin(losses)]), gain, noise)


def _p(count: int, trials: int, lucky: float) -> float:
    """The chance of so many by luck."""
    return float(special.bdtrc(count - 1, trials, lucky)) if count else 1.0
