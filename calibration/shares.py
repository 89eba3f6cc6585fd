"""Counts with their shares, exact intervals and goals, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scipy.stats import binomtest

NONE = "—"


def interval(count: int, of: int) -> tuple[float, float]:
    """The exact 95% interval of a share (Clopper and Pearson).

    >>> low, high = interval(0, 100)
    >>> low, round(high, 3)
    (0.0, 0.036)
    """
    found = binomtest(count, of).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown.

    >>> print(table(["a", "b"], [[1, "x"]]))
    | a | b |
    | --- | --- |
    | 1 | x |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def share(count: int, of: int) -> str:
    """A count with its share and the interval of that.

    >>> share(3, 100)
    '3 of 100 (3.0%; 0.6 to 8.5%)'
    """
    low, high = interval(count, of)
    return f"{count:,} of {of:,} ({count / of:.1%}; {100 * low:.1f} to {100 * high:.1f}%)"


def met(count: int, of: int, goal: float) -> str:
    """Whether a share keeps its goal, and whether all of its interval does.

    >>> met(1, 1000, 0.05), met(4, 100, 0.05), met(6, 100, 0.05)
    ('met', 'met, though the interval reaches beyond', 'missed')
    """
    if count > goal * of:
        return "missed"
    return "met" if interval(count, of)[1] <= goal else "met, though the interval reaches beyond"
