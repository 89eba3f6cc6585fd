"""Was every setting tuned equally well?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.dimensions import TRIALS_FOR_EACH
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import percent, shown
from tunebook.diagnosis.questions import FAIRNESS
from tunebook.diagnosis.shortage import no_result
from tunebook.diagnosis.surfaces import LEAST_MODELLED, Tuned, tuned
from tunebook.stats.multiplicity import holm
from tunebook.stats.permutation import label_dependence

# A setting with fewer trials than this share of another's had a smaller chance.
EQUAL_TRIALS = 0.8
# Trials are evaluated equally often up to such a share; best over training rewards more looks.
EQUAL_LOOKS = 0.9
# A setting that could still gain so many differences of interest more than another is under-tuned.
UNEQUAL_GAIN = 3.0


def fairness(evidence: Evidence) -> Finding:
    """Trials, parameters, evaluations, infeasible trials and what remains, setting by setting."""
    arms = evidence.arms
    if len(evidence.study.space.settings()) < 2:
        return finding(FAIRNESS, [], "There is one setting: nothing is compared.")
    if not evidence.ranked:
        return unknown(FAIRNESS, *no_result(evidence))
    if len(arms) < 2 or not all(arm.measured.readings for arm in arms):
        missing = [str(s) for s in evidence.study.space.settings() if not _has_results(arms, s)]
        return unknown(
            FAIRNESS,
            f"{len(missing)} of {counted(len(evidence.study.space.settings()), 'setting')} "
            f"{'has' if len(missing) == 1 else 'have'} no result ({missing[0]}).",
            "Run every setting.",
        )
    claims = [
        *_unequal_trials(arms),
        *_unequal_dimensions(arms),
        *unequal_looks(evidence),
        *_unequal_infeasible(arms),
        *_unequal_gains(evidence, tuned(evidence)),
    ]
    fewest = min(_tried(arm) for arm in arms)
    calm = (
        f"The {len(arms)} settings had equal chances: at least {counted(fewest, 'trial')} each, "
        "equally many evaluations, and about the same left to gain."
    )
    return finding(
        FAIRNESS,
        claims,
        calm,
        numbers={f"trials of {arm.setting}": _tried(arm) for arm in arms[:8]},
    )


def unequal_looks(evidence: Evidence) -> list[Claim]:
    """Whether the best over training was taken over more evaluations in one setting."""
    arms = [arm for arm in evidence.arms if arm.measured.readings]
    if evidence.objective.reduction != "best" or len(arms) < 2:
        return []
    name = evidence.objective.metric.name

    def looks(arm: Arm) -> float:
        curves = (r.curve(name) for r in arm.measured.readings)
        return float(np.median([0 if curve is None else len(curve) for curve in curves]))

    few, many = _ends(arms, looks)
    if looks(few) >= EQUAL_LOOKS * looks(many):
        return []
    return [
        Claim(
            f"Trials of {many.setting} were evaluated {looks(many):.0f} times and those of "
            f"{few.setting} {looks(few):.0f} times: the best over training rewards more looks.",
            Verdict.WATCH,
            advice="Evaluate equally often in every setting, or compare by the last value.",
            subject="evaluations",
        )
    ]


def _ends(arms: Sequence[Arm], key: Callable[[Arm], float]) -> tuple[Arm, Arm]:
    return min(arms, key=key), max(arms, key=key)


def _has_results(arms: Sequence[Arm], setting: object) -> bool:
    return any(arm.setting == setting and arm.measured.readings for arm in arms)


def _tried(arm: Arm) -> int:
    return len(arm.sampled.judged) or len(arm.judged)


def _unequal_trials(arms: Sequence[Arm]) -> list[Claim]:
    few, many = _ends(arms, _tried)
    # More parameters may be given more trials: a setting is short only for its own parameters.
    if _tried(few) >= EQUAL_TRIALS * _tried(many) or len(few.parameters) < len(many.parameters):
        return []
    return [
        Claim(
            f"{few.setting} had {counted(_tried(few), 'trial')} and {many.setting} "
            f"{_tried(many)}: the best of more trials is better by luck alone.",
            Verdict.WATCH,
            advice=f"Run {_tried(many) - _tried(few)} more trials of {few.setting}.",
            subject=str(few.setting),
        )
    ]


def _unequal_dimensions(arms: Sequence[Arm]) -> list[Claim]:
    small, large = _ends(arms, lambda arm: len(arm.parameters))
    fewer, more = len(small.parameters), len(large.parameters)
    if fewer == more or not fewer:
        return []
    needed = math.ceil(_tried(small) * more / fewer)
    # Enough trials for each of its parameters, and no lower density than the smaller setting's.
    if _tried(large) >= min(needed, 4 * TRIALS_FOR_EACH * more):
        return []
    return [
        Claim(
            f"{large.setting} searches {counted(more, 'parameter')} with "
            f"{counted(_tried(large), 'trial')} and {small.setting} {fewer} with "
            f"{_tried(small)}: equal trials are not equal tuning.",
            Verdict.WATCH,
            advice=f"Run {needed - _tried(large)} more trials of {large.setting}.",
            subject=str(large.setting),
        )
    ]


def _unequal_infeasible(arms: Sequence[Arm]) -> list[Claim]:
    """Settings in which more trials are infeasible, tested one by one against all the others."""
    labels = np.array(
        [r.standing is Standing.INFEASIBLE for arm in arms for r in arm.sampled.judged.readings]
    )
    where = np.repeat(np.arange(len(arms)), [len(arm.sampled.judged) for arm in arms])
    if not labels.any():
        return []
    tests = [
        label_dependence((where == i)[:, None].astype(float), labels) for i in range(len(arms))
    ]
    p = holm([np.nan if test is None else test.p for test in tests])
    more = [i for i, test in enumerate(tests) if test is not None and test.side == "high"]
    if not more:
        return []
    worst = min(more, key=lambda i: p[i])
    inside, outside = labels[where == worst], labels[where != worst]
    return [
        Claim(
            f"{percent(float(inside.mean()))} of the trials of {arms[worst].setting} are "
            f"infeasible, and {percent(float(outside.mean()))} of the others': it was tuned with "
            f"{int((~inside).sum())} trials that work.",
            Verdict.WATCH,
            p=float(p[worst]),
            advice=f"Give {arms[worst].setting} ranges of its own, or more trials.",
            subject=str(arms[worst].setting),
        )
    ]


def _unequal_gains(evidence: Evidence, models: Tuned | None) -> list[Claim]:
    interest = difference_of_interest(evidence)
    if models is None or interest is None or len(models.arms) < 2:
        return []
    gains = models.contest.remaining_gains
    least, most = int(np.argmin(gains)), int(np.argmax(gains))
    if gains[most] - gains[least] <= UNEQUAL_GAIN * interest:
        return []
    arm = models.arms[most]
    return [
        Claim(
            f"{arm.setting} is likely to gain {shown(gains[most])} more from further tuning, and "
            f"{models.arms[least].setting} only {shown(gains[least])}.",
            Verdict.WATCH,
            advice=f"Run {max(_tried(arm), LEAST_MODELLED)} more trials of {arm.setting}.",
            subject=str(arm.setting),
        )
    ]
