"""Is the warmup too long?"""

from __future__ import annotations

from tunebook.core.domains import Value
from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, percent, shown
from tunebook.diagnosis.questions import WARMUP
from tunebook.diagnosis.shortage import no_result

# The longest warmup that is worth trying, as a share of the training.
LONGEST = 0.10
# Beyond this the steps at the full rate are missed: the budget should grow by the warmup.
FREE = 0.05


def warmup(evidence: Evidence) -> Finding:
    """The warmup of the best trials against 5% and 10% of the training."""
    name = evidence.study.knobs.warmup_steps
    if name is None:
        return unknown(
            WARMUP,
            "No knob says which parameter is the length of the warmup.",
            "Name it under knobs: warmup_steps (a fixed 0 where there is none).",
        )
    shares = [
        (arm, arm.best, share)
        for arm in evidence.arms
        if arm.best and (share := _share(evidence, arm.best, name)) is not None
    ]
    if not evidence.ranked:
        return unknown(WARMUP, *no_result(evidence))
    if not shares:
        return unknown(
            WARMUP,
            f"No finished trial says both {name} and the number of steps.",
            "Give the study max_steps, or name the number of steps under knobs: steps.",
        )
    longest = max(share for _, _, share in shares)
    calm = (
        f"The best trials warm up for {percent(longest)} of the training at most."
        if longest > 0
        else "The best trials have no warmup."
    )
    return finding(
        WARMUP,
        [_claim(evidence, arm, best, share, name) for arm, best, share in shares if share > FREE],
        calm,
        method=f"{name} over the number of steps, in the best trial of each setting",
        numbers={"share": longest},
    )


def _claim(evidence: Evidence, arm: Arm, best: Reading, share: float, name: str) -> Claim:
    steps = _steps(evidence, best)
    warmup = share * (steps or 0)
    who = best_trial(evidence, arm, best.number)
    sentence = f"{who[0].upper()}{who[1:]} warms up for {percent(share)} of its training"
    sentence += f" ({shown(warmup)} of {shown(steps)} steps)." if steps else "."
    if share > LONGEST:
        level = Verdict.PROBLEM
        advice = (
            f"Search {name} on a log scale up to {percent(LONGEST)} of the training, and take the "
            "shortest warmup that is stable at the best learning rate."
        )
    else:
        level = Verdict.WATCH
        advice = (
            "Try a shorter warmup; if this one is needed, lengthen the training by as many steps, "
            "so that the full learning rate is used as long as before."
        )
    return Claim(
        sentence,
        level,
        advice=advice,
        subject=str(arm.setting),
        trials=(best.number,),
        numbers={"share": share, **({"warmup": warmup, "steps": steps} if steps else {})},
    )


def _share(evidence: Evidence, reading: Reading, name: str) -> float | None:
    """The share of a trial's training that is warmup; a fraction below 1 is one already."""
    warmup = _number(reading.record.trial.config.get(name))
    if warmup is None or warmup < 0:
        return None
    if 0 < warmup < 1:
        return warmup
    steps = _steps(evidence, reading)
    return min(warmup / steps, 1.0) if steps else (0.0 if warmup == 0 else None)


def _steps(evidence: Evidence, reading: Reading) -> float | None:
    """The length of a trial: by its own parameter, by the budget, or by what it logged."""
    knobs, budget = evidence.study.knobs, evidence.study.budget
    if knobs.steps is not None and knobs.steps_unit == "steps":
        planned = _number(reading.record.trial.config.get(knobs.steps))
        if planned:
            return planned
    if budget is not None and budget.unit == "steps":
        return budget.amount
    last = max((int(c.steps[-1]) for c in reading.record.curves.values() if len(c)), default=0)
    return float(last) if last > 0 else None


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None
