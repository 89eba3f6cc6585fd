"""Changes of a study that are proposed, each with its reason."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tunebook.core.domains import Domain, Float, Int
from tunebook.core.space import Fixed, Parameter, Role
from tunebook.core.study import Budget, Study


@dataclass(frozen=True, slots=True)
class SetParameter:
    """Give a parameter one value, or a range to search."""

    name: str
    source: Fixed | Domain
    because: str


@dataclass(frozen=True, slots=True)
class SetBudget:
    """Give each trial more or less to spend."""

    budget: Budget
    because: str


Edit: TypeAlias = SetParameter | SetBudget


def widened(source: Float | Int, low: float, high: float) -> Float | Int:
    """A range that reaches from `low` to `high` too; a side that is a limit stays where it is.

    >>> widened(Float(0.01, 0.1, log=True, limit="high"), 0.001, 1.0)
    Float(low=0.001, high=0.1, log=True, limit='high')
    """
    bottom = source.low if source.limit in ("low", "both") else min(source.low, low)
    top = source.high if source.limit in ("high", "both") else max(source.high, high)
    if isinstance(source, Int):
        return replace(source, low=math.floor(bottom), high=math.ceil(top))
    return replace(source, low=bottom, high=top)


def edited(study: Study, edits: Iterable[Edit]) -> Study:
    """The study with its edits. Conditions under which a parameter exists stay as they are.

    >>> from tunebook.core.objective import Metric, Objective
    >>> from tunebook.core.space import Space
    >>> study = Study("depth", Space.of(fixed={"warmup": 0}), Objective(Metric("error")))
    >>> after = edited(study, [SetParameter("warmup", Fixed(500), "it cures the instability")])
    >>> str(after.space["warmup"])
    'fixed, fixed at 500'
    """
    for edit in edits:
        match edit:
            case SetBudget(budget):
                study = replace(study, budget=budget)
            case SetParameter(name):
                study = replace(study, space=study.space.edit({name: _parameter(study, edit)}))
    return study


def _parameter(study: Study, edit: SetParameter) -> Parameter:
    known = next((p for p in study.space if p.name == edit.name), None)
    when = known.when if known else ()
    if isinstance(edit.source, Fixed):
        return Parameter(edit.name, Role.FIXED, edit.source, when)
    # A range that answers no question of its own is searched for the sake of a fair comparison.
    scientific = known is not None and known.role is Role.SCIENTIFIC
    return Parameter(edit.name, Role.SCIENTIFIC if scientific else Role.NUISANCE, edit.source, when)
