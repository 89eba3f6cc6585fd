"""From claims to verdicts: the alarm budget is the report's, not the finding's.

Twenty-five questions that each cry wolf in 5% of healthy studies cry in most reports. So every
claim that rests on a test brings its p-value, whether or not it looks alarming, and Holm's method
decides over all of them together: in a healthy study any *problem* stands in at most 5% of
reports, any *watch* in at most 20%. Facts, which are seen and not inferred, always stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tunebook.core.findings import Claim, Finding, Question, Verdict
from tunebook.core.representation import listed
from tunebook.stats.multiplicity import holm

PROBLEM_BUDGET = 0.05
WATCH_BUDGET = 0.20


def finding(
    question: Question,
    claims: Sequence[Claim],
    calm: str,
    *,
    method: str = "",
    numbers: Mapping[str, float] | None = None,
    trials: Sequence[int] = (),
) -> Finding:
    """The answer to a question from everything that was tested for it, the calm claims included.

    It is judged as if it were the report's only question; `within_budget` judges it beside others.
    """
    asked = Finding(
        question,
        Verdict.GOOD,
        calm,
        calm=calm,
        claims=tuple(claims),
        method=method,
        numbers=dict(numbers or {}),
        trials=tuple(trials),
    )
    return within_budget([asked])[0]


def unknown(
    question: Question, why: str, advice: str = "", *, numbers: Mapping[str, float] | None = None
) -> Finding:
    """What the data cannot answer, and what would make it known."""
    return Finding(question, Verdict.UNKNOWN, why, advice, numbers=dict(numbers or {}))


def undecided(sentence: str, advice: str, *, trials: Sequence[int] = ()) -> Claim:
    """What looks bad and may be luck: it speaks where no alarm stands, so that nothing looks good.

    Absence of significance is no evidence of absence.
    """
    return Claim(sentence, Verdict.UNKNOWN, advice=advice, trials=tuple(trials))


def within_budget(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same findings with their claims judged together, each p-value adjusted for all others."""
    tested = [claim for one in findings for claim in one.claims if claim.p is not None]
    adjusted = holm(np.array([claim.p for claim in tested], dtype=float))
    verdicts = {id(claim): _verdict(claim, p) for claim, p in zip(tested, adjusted, strict=True)}
    return tuple(
        _judged(one, [verdicts.get(id(claim), claim.level) for claim in one.claims])
        if one.claims
        else one
        for one in findings
    )


def _verdict(claim: Claim, adjusted: float) -> Verdict:
    """What is left of a claim once its p-value is adjusted."""
    if adjusted <= PROBLEM_BUDGET and claim.level is Verdict.PROBLEM:
        return Verdict.PROBLEM
    return Verdict.WATCH if adjusted <= WATCH_BUDGET else Verdict.GOOD


def _judged(one: Finding, verdicts: Sequence[Verdict]) -> Finding:
    """A finding whose worst standing claim speaks for it, with the others named behind it."""
    standing = sorted(
        (
            (verdict, claim)
            for verdict, claim in zip(verdicts, one.claims, strict=True)
            if verdict is not Verdict.GOOD
        ),
        key=lambda pair: (pair[0].rank, 0.0 if pair[1].p is None else pair[1].p),
    )
    if not standing:
        return replace(one, verdict=Verdict.GOOD, sentence=one.calm, advice="")
    verdict, first = standing[0]
    if verdict is not Verdict.UNKNOWN:
        standing = [pair for pair in standing if pair[0] is not Verdict.UNKNOWN]
    others = list(dict.fromkeys(c.subject for _, c in standing[1:] if c.subject != first.subject))
    also = f" The same holds for {listed(others)}." if others else ""
    return replace(
        one,
        verdict=verdict,
        sentence=first.sentence + also,
        advice=first.advice,
        trials=tuple(dict.fromkeys(n for _, claim in standing for n in claim.trials)),
        numbers={**one.numbers, **first.numbers},
    )
