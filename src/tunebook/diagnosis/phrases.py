"""Words that several findings share: numbers, steps, trials and settings as a tuner says them."""

from __future__ import annotations

from collections.abc import Sequence

from tunebook.core.evidence import Arm, Evidence
from tunebook.core.representation import listed


def shown(value: float) -> str:
    """A number with four digits at most.

    >>> shown(0.0412345), shown(12345.0), shown(3)
    ('0.04123', '12,345', '3')
    """
    return f"{value:,.0f}" if abs(value) >= 10_000 and abs(value) < 1e15 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share in per cent; small ones keep a digit.

    >>> percent(0.734), percent(0.0123)
    ('73%', '1.2%')
    """
    return f"{100 * share:.0f}%" if share >= 0.0995 or share <= 0 else f"{100 * share:.1f}%"


def times(factor: float) -> str:
    """How many times one thing is another.

    >>> times(7.34), times(1.52), times(2e6)
    ('7 times', '1.5 times', 'over 1,000 times')
    """
    if factor >= 1000:
        return "over 1,000 times"
    return f"{factor:.0f} times" if factor >= 3 else f"{factor:.2g} times"


def best_trial(evidence: Evidence, arm: Arm, number: int) -> str:
    """The best trial of a setting, which is named where there are several."""
    return f"the best trial ({number}){of_setting(evidence, arm)}"


def of_setting(evidence: Evidence, arm: Arm) -> str:
    return f" of {arm.setting}" if len(evidence.arms) > 1 else ""


def numbered(trials: Sequence[int], most: int = 4) -> str:
    """Trials by number.

    >>> numbered([3]), numbered([3, 5, 8]), numbered([1, 2, 3, 4, 5, 6])
    ('trial 3', 'trials 3, 5 and 8', 'trials 1, 2, 3, 4 and 2 more')
    """
    return f"trial{'' if len(trials) == 1 else 's'} {listed([str(n) for n in trials], most)}"
