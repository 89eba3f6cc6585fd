"""Errors of the program that depend on its parameters: such trials are infeasible, not broken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tunebook.core.evidence import Reading, Standing
from tunebook.core.study import Study
from tunebook.core.trials import OutcomeKind
from tunebook.diagnosis.tables import tabulate
from tunebook.stats.permutation import label_dependence

# Two failures at one side of a range are a coincidence.
LEAST_FAILURES = 3
# An error is blamed on parameters only when chance would hardly place it so.
DEPENDS = 0.01
# Permutations times trials: a bound on the cost for large studies, where exact tails take over.
MOST_DRAWN = 2_000_000


def infeasible_by_error(study: Study, readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The readings, those infeasible whose error occurs in one part of the space."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        if is_failure(reading):
            kinds[kind_of(reading.why)].append(place)
    known = [p for p, r in enumerate(readings) if r.standing in _TELLING]
    found = list(readings)
    for places in kinds.values():
        if len(places) >= LEAST_FAILURES and _depends(study, readings, places, known):
            for place in places:
                found[place] = replace(readings[place], standing=Standing.INFEASIBLE)
    return tuple(found)


def is_failure(reading: Reading) -> bool:
    """Whether the program itself failed, for whatever reason, and it is not its parameters'."""
    return reading.standing is Standing.BROKEN and failed(reading)


def failed(reading: Reading) -> bool:
    """Whether the program itself failed, be it for its parameters or not."""
    outcome = reading.record.outcome
    return outcome is not None and outcome.kind is OutcomeKind.FAILED


def kind_of(why: str) -> str:
    """The kind of an error, without what differs from trial to trial.

    >>> kind_of("ValueError: 17 is not a multiple of 4")
    'ValueError'
    """
    return why.split(":", 1)[0].split("\n", 1)[0].strip()


_TELLING = (Standing.MEASURED, Standing.INFEASIBLE, Standing.CENSORED)


def _depends(
    study: Study, readings: Sequence[Reading], failed: Sequence[int], others: Sequence[int]
) -> bool:
    """Whether failures are where the other trials are not."""
    chosen = [readings[place] for place in (*failed, *others)]
    table = tabulate(study, chosen)
    if not table.parameters:
        return False
    labels = np.arange(len(chosen)) < len(failed)
    draws = max(200, min(4000, MOST_DRAWN // len(chosen)))
    dependence = label_dependence(table.points, labels, draws=draws)
    return dependence is not None and dependence.p <= DEPENDS
