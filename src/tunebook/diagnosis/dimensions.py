"""Are there enough trials for the parameters searched?"""

from __future__ import annotations

from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.core.trials import Replicate
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.questions import DIMENSIONS
from tunebook.diagnosis.shortage import no_result, nothing_works

# The playbook tunes one parameter of the optimiser with fewer than ten trials and two with up to
# twenty-five: between five and ten trials for each. Below five a range is hardly seen.
TRIALS_FOR_EACH = 5
# With fewer trials than this for each parameter, not even two ends of every range are seen.
HOPELESS_FOR_EACH = 2


def dimensions(evidence: Evidence) -> Finding:
    """Whether every setting has enough trials for the parameters searched in it."""
    arms = [arm for arm in evidence.arms if arm.parameters]
    if not arms:
        if evidence.readings:
            return finding(DIMENSIONS, [], "No parameter is searched.")
        return unknown(DIMENSIONS, "No trial has been run.", "Run the study.")
    claims = [claim for arm in arms if (claim := _too_few(evidence, arm)) is not None]
    running = [arm for arm in arms if _ended(arm) < _needed(arm) <= _planned(evidence, arm)]
    if not claims and running:
        arm = running[0]
        return unknown(
            DIMENSIONS,
            f"{_ended(arm)} of {_planned(evidence, arm)} trials have ended{_of(evidence, arm)}; "
            f"{counted(len(arm.parameters), 'searched parameter')} "
            f"{'asks' if len(arm.parameters) == 1 else 'ask'} for {_needed(arm)}.",
            "Run the study to its end.",
        )
    fewest = min(arms, key=lambda arm: _ended(arm) / len(arm.parameters))
    calm = (
        f"{counted(_ended(fewest), 'trial')} for "
        f"{counted(len(fewest.parameters), 'searched parameter')}{_of(evidence, fewest)}: "
        f"at least {TRIALS_FOR_EACH} for each."
    )
    return finding(DIMENSIONS, claims, calm, numbers=_density(fewest))


def _too_few(evidence: Evidence, arm: Arm) -> Claim | None:
    ended, needed, searched = _ended(arm), _needed(arm), len(arm.parameters)
    if ended >= needed or (_planned(evidence, arm) >= needed and _is_unfinished(evidence, arm)):
        return None
    hopeless = ended < HOPELESS_FOR_EACH * searched
    affordable = max(ended // TRIALS_FOR_EACH, 1)
    return Claim(
        f"{counted(ended, 'trial')} for {counted(searched, 'searched parameter')}"
        f"{_of(evidence, arm)}: {ended / searched:.1f} for each, where {TRIALS_FOR_EACH} see a "
        "range at all.",
        Verdict.PROBLEM if hopeless else Verdict.WATCH,
        advice=no_result(evidence)[1]
        if nothing_works(evidence)
        else f"Run {counted(needed - ended, 'more trial')}{_of(evidence, arm)}, or search only "
        f"the {'one that matters' if affordable == 1 else f'{affordable} that matter'} most.",
        subject=str(arm.setting),
        numbers=_density(arm),
    )


def _density(arm: Arm) -> dict[str, float]:
    return {"trials": _ended(arm), "parameters": len(arm.parameters), "needed": _needed(arm)}


def _ended(arm: Arm) -> int:
    """Different points that have been tried: a replicate is no new one."""
    told = arm.only(Standing.MEASURED, Standing.INFEASIBLE, Standing.CENSORED)
    return sum(not isinstance(r.record.trial.origin, Replicate) for r in told.readings)


def _needed(arm: Arm) -> int:
    return TRIALS_FOR_EACH * len(arm.parameters)


def _planned(evidence: Evidence, arm: Arm) -> int:
    return evidence.study.trials_for(arm.setting)


def _is_unfinished(evidence: Evidence, arm: Arm) -> bool:
    return len(arm) < _planned(evidence, arm) or bool(arm.only(Standing.PENDING).readings)


def _of(evidence: Evidence, arm: Arm) -> str:
    return f" in {arm.setting}" if len(evidence.arms) > 1 else ""
