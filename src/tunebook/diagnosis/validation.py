"""Is the validation set large enough for the differences of interest?"""

from __future__ import annotations

import math

import numpy as np

from tunebook.core.evidence import Evidence
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.diagnosis.effects import difference_of_interest, gain_of_tuning, is_share
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import shown
from tunebook.diagnosis.questions import VALIDATION_SIZE
from tunebook.diagnosis.shortage import no_result
from tunebook.stats.samples import binomial_standard_error

# The binomial error is a bound on what two trials, judged by one set, differ by through sampling:
# where they share half of their mistakes, their difference has the error of one of them. So it is
# compared with the difference of interest as it is, and the verdict is to watch; it is a problem
# where it exceeds all that separates the best trial from the typical one.

# No larger set is ever validated on; beyond, the square need only stay a number.
MOST_EXAMPLES = 10**12
MOST_RATIO = 1e100
SMALLEST = 1e-300


def validation_size(evidence: Evidence) -> Finding:
    """The sampling error of the best value, by the binomial bound, against the difference."""
    examples, metric = evidence.study.knobs.valid_examples, evidence.objective.metric.name
    if examples is None:
        return unknown(
            VALIDATION_SIZE,
            "The number of validation examples is not known.",
            "Give it under knobs: valid_examples.",
        )
    interest = difference_of_interest(evidence)
    if evidence.best is None or interest is None:
        return unknown(VALIDATION_SIZE, *no_result(evidence))
    values = np.array([r.value for r in evidence.ranked], dtype=float)
    share = is_share(metric, values)
    error = binomial_standard_error(float(values[0]), examples) if share else None
    if not error:
        return _unbounded(metric, examples, share)
    scale = (
        f"With {examples:,} validation examples {metric} = {shown(float(values[0]))} has a "
        f"standard error of up to {shown(error)}"
    )
    ratio = min(error / max(interest, SMALLEST), MOST_RATIO)
    needed = math.ceil(min(examples * ratio**2, MOST_EXAMPLES))
    tuned = gain_of_tuning(evidence)
    claims = []
    if error > interest:
        claims.append(
            Claim(
                f"{scale}, more than the difference of interest, {shown(interest)}.",
                Verdict.PROBLEM if tuned is not None and error > tuned else Verdict.WATCH,
                advice=f"{_larger(needed)}, or save the predictions for each example: trials "
                "compared on the same examples differ by less.",
                numbers={"needed": needed},
            )
        )
    return finding(
        VALIDATION_SIZE,
        claims,
        f"{scale}, below the difference of interest, {shown(interest)}.",
        method="binomial bound; errors that trials share are not taken into account",
        numbers={"error": error, "difference": interest, "examples": examples},
    )


def _unbounded(metric: str, examples: int, share: bool) -> Finding:
    """Unknown: the binomial bound holds for shares that are neither 0 nor 1."""
    why = (
        f"The best {metric} is 0 or 1, where {examples:,} examples bound no sampling error."
        if share
        else f"{metric} is no share of {examples:,} examples, such as an error rate, so its "
        "sampling error cannot be bounded."
    )
    return unknown(
        VALIDATION_SIZE,
        why,
        "Save a loss for each validation example: its spread gives the error.",
    )


def _larger(needed: int) -> str:
    """How large a set is enough, where anybody could collect one.

    >>> _larger(12345)
    'Validate on about 13,000 examples'
    """
    if needed >= MOST_EXAMPLES:
        return "Compare larger differences: no set is large enough for this one"
    return f"Validate on about {_rounded(needed):,} examples"


def _rounded(n: int) -> int:
    """Two digits, upwards.

    >>> _rounded(12345), _rounded(7)
    (13000, 7)
    """
    unit = 10 ** max(len(str(n)) - 2, 0)
    return int(math.ceil(n / unit) * unit)
