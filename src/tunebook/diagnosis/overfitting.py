"""Do trials overfit? On the objective's metric: a validation loss that rises alone is a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.core.space import Role
from tunebook.diagnosis.combining import BEST_FEW, CLEAR, p_of_any, p_of_best
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, shown, times
from tunebook.diagnosis.questions import OVERFITTING
from tunebook.diagnosis.rises import LEAST_RISE, RisingCurve, clear, fall, screened, turned, without
from tunebook.diagnosis.shortage import no_result
from tunebook.diagnosis.signals import finite_points, losses_of, signal, validation_losses
from tunebook.stats.permutation import rank_sum_p

# Parameters that regularise by their usual names, where no knob names any.
REGULARISERS = ("weight_decay", "dropout", "smoothing", "mixup", "augment", "l2", "cutout")
# A trial that loses more than this share of all that it had gained has collapsed.
COLLAPSE = 0.5
# How surely overfitting must go with high rates before the rate is called a regulariser.
RATE_LEVEL = CLEAR


def overfitting(evidence: Evidence) -> Finding:
    """Whether the objective gets worse again after its best, beyond its noise."""
    scientific = _scientific_regulariser(evidence)
    if scientific is not None:
        return unknown(
            OVERFITTING,
            f"The study is about {scientific}: that trials with little of it overfit is what it "
            "measures, and no fault.",
            f"Ask in a study that fixes {scientific}.",
        )
    if not evidence.ranked:
        return unknown(OVERFITTING, *no_result(evidence))
    interest = difference_of_interest(evidence) or 0.0
    curves = {r.number: losses_of(evidence, r) for r in evidence.only(Standing.MEASURED)}
    rising = _sound(evidence, curves, screened(curves, dict.fromkeys(curves, interest)))
    bests = {arm: arm.best.number for arm in evidence.arms if arm.best}
    if not any(number in rising for number in bests.values()):
        return unknown(
            OVERFITTING,
            f"The best trials have too few points of {evidence.objective.metric.name}.",
            "Evaluate at least 10 times in a trial, at regular steps.",
        )
    claims = [
        _best_claim(evidence, arm, rising) for arm, number in bests.items() if number in rising
    ]
    others = without(rising, set(bests.values()))
    if others:
        claims.append(_any_claim(evidence, others))
    note = _note(evidence, rising)
    return finding(
        OVERFITTING,
        claims,
        f"{evidence.objective.metric.name} does not get worse again in the best trials, beyond "
        f"its noise.{note}",
        method="a valley-shaped against a falling fit, with correlated noise as the null, in the "
        f"best {BEST_FEW} trials of each setting and in all; rises below the difference of "
        "interest, and those of trials whose training went wrong, do not count",
        numbers={"difference": interest, "trials": len(rising)},
    )


def _best_claim(evidence: Evidence, arm: Arm, rising: Mapping[int, RisingCurve]) -> Claim:
    few = [rising[r.number] for r in arm.ranked[:BEST_FEW] if r.number in rising]
    curve = few[0]
    return Claim(
        f"In {best_trial(evidence, arm, curve.number)} {_worsens(evidence, curve)}, "
        f"{times(curve.rise.sds)} its noise.",
        Verdict.PROBLEM,
        p=p_of_best([one.p for one in few]),
        advice=f"Search a regulariser more strongly in the next study ({_suggested(evidence)}); "
        f"until then keep the checkpoint of step {curve.step:,}.",
        subject=best_trial(evidence, arm, curve.number),
        trials=(curve.number,),
        numbers={"rise": curve.rise.rise, "step": curve.step},
    )


def _any_claim(evidence: Evidence, others: Mapping[int, RisingCurve]) -> Claim:
    """Overfitting of trials that are not the best of their setting."""
    overfit = clear(others)
    worst = overfit[0] if overfit else min(others.values(), key=lambda curve: curve.p)
    numbers = tuple(curve.number for curve in overfit)
    return Claim(
        f"{counted(len(overfit), 'other trial')} of {len(others)} "
        f"{'overfits' if len(overfit) == 1 else 'overfit'}: in trial {worst.number} "
        f"{_worsens(evidence, worst)}.{_rate_regularises(evidence, numbers)}",
        Verdict.WATCH,
        p=p_of_any([curve.p for curve in others.values()]),
        advice="See which parameters they share: where regularisation is weak, raise the lower end "
        "of its range.",
        subject=counted(len(overfit), "other trial"),
        trials=numbers,
        numbers={"overfitting": len(overfit), "trials": len(others)},
    )


def _sound(
    evidence: Evidence,
    curves: Mapping[int, tuple[Floats, Floats]],
    rising: dict[int, RisingCurve],
) -> dict[int, RisingCurve]:
    """The same, with no rise where training itself went wrong: collapse is not overfitting."""
    loss, risen = signal(evidence, "train_loss"), clear(rising)
    training: dict[int, RisingCurve] = {}
    if loss is not None and risen:
        readings = {r.number: r for r in evidence.readings}
        own = {c.number: finite_points(readings[c.number].curve(loss.metric)) for c in risen}
        training = screened(own, {n: LEAST_RISE * fall(y) for n, (_, y) in own.items()})
    for curve in risen:
        number = curve.number
        collapsed = curve.rise.rise > COLLAPSE * fall(curves[number][1])
        if collapsed or (number in training and training[number].is_clear):
            rising[number] = replace(curve, p=1.0)
    return rising


def _worsens(evidence: Evidence, curve: RisingCurve) -> str:
    metric = evidence.objective.metric
    verb = "rises" if metric.better == "lower" else "falls"
    own = curve if metric.better == "lower" else turned(curve)
    return (
        f"{metric.name} {verb} from {shown(own.low)} at step {curve.step:,} to {shown(own.end)} "
        "at the end"
    )


def _rate_regularises(evidence: Evidence, overfit: Sequence[int]) -> str:
    """A sentence where trials with high rates overfit and the winner has a low one."""
    name, best = evidence.study.knobs.learning_rate, evidence.best
    if name is None or best is None or len(overfit) < 2:
        return ""
    rates = {
        r.number: float(value)
        for r in evidence.only(Standing.MEASURED)
        if isinstance(value := r.record.trial.config.get(name), int | float)
    }
    chosen = [number in overfit for number in rates]
    if best.number not in rates or not any(chosen):
        return ""
    ranks = rankdata(-np.array(list(rates.values())))
    p = rank_sum_p(ranks, sum(chosen), float(ranks[np.array(chosen)].sum()))
    typical = float(np.median([rates[n] for n in overfit if n in rates]))
    if p > RATE_LEVEL or rates[best.number] >= typical:
        return ""
    return (
        f" They have high rates ({name} about {shown(typical)}) and the best trial a low one "
        f"({shown(rates[best.number])}): the rate acts as the regulariser."
    )


def _note(evidence: Evidence, rising: Mapping[int, RisingCurve]) -> str:
    """A validation loss that rises in the best trial while the objective does not."""
    best = evidence.best
    if best is None or best.number not in rising:
        return ""
    for name in validation_losses(evidence):
        points = {best.number: finite_points(best.curve(name))}
        curve = screened(points, {best.number: 0.0}).get(best.number)
        if curve is not None and curve.is_clear:
            return (
                f" {name} alone rises in trial {best.number}, from {shown(curve.low)} to "
                f"{shown(curve.end)}: the model grows too sure of itself, which is no fault by "
                "itself."
            )
    return ""


def _scientific_regulariser(evidence: Evidence) -> str | None:
    knobs = evidence.study.knobs
    named = {name for name, _ in (*knobs.no_regularisation, *knobs.no_augmentation)}
    for parameter in evidence.study.space.by_role(Role.SCIENTIFIC):
        usual = any(word in parameter.name.lower() for word in REGULARISERS)
        if parameter.name in named or (not named and usual):
            return parameter.name
    return None


def _suggested(evidence: Evidence) -> str:
    """The study's own regularisers, or the usual ones."""
    known = [name for name, _ in evidence.study.knobs.no_regularisation]
    known += [
        p.name
        for p in evidence.study.space
        if p.name not in known and any(word in p.name.lower() for word in REGULARISERS)
    ]
    return ", ".join(known[:3]) if known else "weight decay, dropout, augmentation"
