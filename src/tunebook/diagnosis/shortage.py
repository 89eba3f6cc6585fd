"""What to say and to advise where results are too few, or where there is none."""

from __future__ import annotations

import math

from tunebook.core.evidence import Evidence, Standing
from tunebook.diagnosis.phrases import percent


def no_result(evidence: Evidence) -> tuple[str, str]:
    """Why there is no result, and what to do: trials that ended without one need no more trials."""
    if not evidence.readings:
        return "There is no result yet.", "Run the study."
    if not nothing_works(evidence):
        return "There is no result yet.", "Wait for the first results."
    return "No trial has a result.", "Find a configuration that works before any further trial."


def nothing_works(evidence: Evidence) -> bool:
    """Whether all trials have ended, none with a result."""
    ended = evidence.only(Standing.INFEASIBLE, Standing.BROKEN)
    return bool(ended) and not evidence.only(Standing.MEASURED, Standing.PENDING)


def more_trials(evidence: Evidence, missing: int, least: str = "at least") -> str:
    """Advice to run so many trials that `missing` of them work, by the share that did so far."""
    works = len(evidence.only(Standing.MEASURED))
    tried = works + len(evidence.only(Standing.INFEASIBLE))
    if not works:
        if tried or not evidence.readings:
            return no_result(evidence)[1]
        return f"Run {least} {missing} more trial{'' if missing == 1 else 's'}."
    needed = math.ceil(missing * tried / works)
    lost = "" if tried == works else f": {percent(1 - works / tried)} of them do not work"
    return f"Run {least} {needed} more trial{'' if needed == 1 else 's'}{lost}."
