"""Does the training loss rise? After a steady fall that is a bug, not a matter of tuning."""

from __future__ import annotations

from collections.abc import Mapping

from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.combining import BEST_FEW, p_of_any, p_of_best
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, shown
from tunebook.diagnosis.questions import TRAINING_LOSS
from tunebook.diagnosis.rises import LEAST_RISE, RisingCurve, clear, fall, screened, without
from tunebook.diagnosis.signals import Signal, finite_points, signal, to_log

BUG = (
    "Look for a bug: a learning-rate schedule that rises again, data whose order changes, a "
    "regulariser that grows, a checkpoint that was restored in part."
)


def training_loss(evidence: Evidence) -> Finding:
    """Whether the training loss rises for good after it had fallen, in trials that did not
    diverge."""
    loss = signal(evidence, "train_loss")
    if loss is None:
        return unknown(TRAINING_LOSS, "No training loss is logged.", to_log(evidence, "train_loss"))
    curves = {
        r.number: finite_points(r.curve(loss.metric)) for r in evidence.only(Standing.MEASURED)
    }
    if not curves:
        return unknown(
            TRAINING_LOSS,
            f"No trial has a result, so the rise of {loss.metric} in trials that worked is not "
            "known.",
            "Find out first why no trial has a result.",
        )
    rising = screened(curves, {n: LEAST_RISE * fall(y) for n, (_, y) in curves.items()})
    if not rising:
        return unknown(
            TRAINING_LOSS,
            f"No finished trial has enough finite points of {loss.metric}: the most is "
            f"{max(len(steps) for steps, _ in curves.values())}.",
            f"Log {loss.metric} at least 10 times in a trial, at regular steps.",
        )
    bests = {arm: arm.best.number for arm in evidence.arms if arm.best}
    claims = [
        _best_claim(evidence, arm, rising, loss)
        for arm, number in bests.items()
        if number in rising
    ]
    others = without(rising, set(bests.values()))
    if others:
        claims.append(_any_claim(others, loss))
    return finding(
        TRAINING_LOSS,
        claims,
        f"{loss.metric} keeps falling or stays level"
        + (f". ({loss.note}.)" if loss.guessed else "."),
        method="a valley-shaped against a falling fit, with correlated noise as the null; rises "
        f"below {LEAST_RISE:.0%} of the fall do not count",
        numbers={"trials": len(rising)},
    )


def _best_claim(
    evidence: Evidence, arm: Arm, rising: Mapping[int, RisingCurve], loss: Signal
) -> Claim:
    few = [rising[r.number] for r in arm.ranked[:BEST_FEW] if r.number in rising]
    where = best_trial(evidence, arm, few[0].number)
    return Claim(
        f"In {where} {_rises(few[0], loss)}.",
        Verdict.PROBLEM,
        p=p_of_best([curve.p for curve in few]),
        advice=BUG,
        subject=where,
        trials=(few[0].number,),
        numbers={"rise": few[0].rise.rise, "step": few[0].step},
    )


def _any_claim(others: Mapping[int, RisingCurve], loss: Signal) -> Claim:
    risen = clear(others)
    worst = risen[0] if risen else min(others.values(), key=lambda curve: curve.p)
    return Claim(
        f"{loss.metric} rises in {counted(len(risen), 'other trial')} of {len(others)}: in trial "
        f"{worst.number} {_rises(worst, loss)}.",
        Verdict.WATCH,
        p=p_of_any([curve.p for curve in others.values()]),
        advice=f"See whether they have the highest learning rates; if not: {_lowered(BUG)}",
        subject=counted(len(risen), "other trial"),
        trials=tuple(curve.number for curve in risen),
        numbers={"rising": len(risen), "trials": len(others)},
    )


def _rises(curve: RisingCurve, loss: Signal) -> str:
    return (
        f"{loss.metric} rises again, from {shown(curve.low)} at step {curve.step:,} to "
        f"{shown(curve.end)} at the end"
    )


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
