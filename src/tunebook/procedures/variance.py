"""How much do results vary with the seed alone, and how many seeds does a difference need?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import number
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.needs import Need
from tunebook.procedures.subjects import Subject

QUESTION: Final = Question(
    "probe-variance",
    "How much do results vary with the seed, and how many seeds does a difference need?",
    "trial-variance",
)
NEEDS: Final = (
    Need("seed_init", "to vary the initialisation alone", required=False),
    Need("seed_data", "to vary the order of the data alone", required=False),
    Need("seed_split", "to vary the split alone", required=False),
)


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """The start's configuration again and again, with new seeds."""
    seeds = int(options.get("seeds") or 5)
    results = yield subject.listed("all", [{}] * seeds, goal=QUESTION.text)
    values = [measure.value for _, measure in results.ranked()]
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    sentence = f"Over {len(values)} seeds the standard deviation is {number(spread)}."
    return Answer((Finding(QUESTION, Verdict.GOOD, sentence),))
