"""Which points of a trial's attempts are in force: x never goes back, nothing is thrown away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tunebook.core.curves import Curve
from tunebook.core.results import AttemptRecord
from tunebook.storage.blocks import Parts, curves


def curves_in_force(
    attempts: Sequence[AttemptRecord], logged: Mapping[int, Parts]
) -> dict[str, Curve]:
    """The curves of a trial from what each attempt, by its number, has logged.

    The latest attempt continues the attempt whose checkpoint it resumed, up to the step of that
    checkpoint, and so on back. One that began anew supersedes all before it.
    """
    chain = lineage(attempts)
    if len(chain) == 1:
        found = curves(logged.get(chain[0][0], {}))
        return {name: curve for name, curve in found.items() if len(curve)}
    parts: Parts = {}
    for number, limit in reversed(chain):
        for name, curve in curves(logged.get(number, {})).items():
            kept = curve if limit is None else curve.until(limit)
            if len(kept):
                parts.setdefault(name, []).append((kept.steps, kept.values, kept.seconds))
    return curves(parts)


def lineage(attempts: Sequence[AttemptRecord]) -> list[tuple[int, int | None]]:
    """The attempts in force from the latest back, each with the last step that counts (None: all).

    >>> first = AttemptRecord(1, "a", "")
    >>> lineage([first, AttemptRecord(2, "b", "", source=1, resumed_at=500)])
    [(2, None), (1, 500)]
    """
    if len(attempts) == 1:
        return [(attempts[0].number, None)]
    by_number = {attempt.number: attempt for attempt in attempts}
    chain: list[tuple[int, int | None]] = []
    current, limit = (attempts[-1] if attempts else None), None
    while current is not None:
        chain.append((current.number, limit))
        if current.source is None or current.resumed_at is None:
            break
        # An attempt can only continue an earlier one: the walk back always ends.
        earlier = current.source if current.source < current.number else None
        limit = current.resumed_at if limit is None else min(limit, current.resumed_at)
        current = by_number.get(earlier) if earlier is not None else None
    return chain
