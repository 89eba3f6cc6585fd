"""The trials of a study as one table: every parameter that varies is a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tunebook.core.curves import Floats
from tunebook.core.domains import Choice, Float, Int, place
from tunebook.core.evidence import Reading
from tunebook.core.space import Parameter
from tunebook.core.study import Study

# Where a parameter does not exist in a trial, models see the middle of its range.
ABSENT = 0.5


@dataclass(frozen=True, eq=False)
class Table:
    """Rows are trials, columns parameters: those of settings first, then the searched ones.

    `points` is `(n, d)` in the unit cube, NaN where a parameter does not exist.
    """

    parameters: tuple[Parameter, ...]
    points: Floats

    @property
    def categories(self) -> NDArray[np.bool_]:
        """Which columns have no order, `(d,)`."""
        return categories_of(self.parameters)

    @property
    def filled(self) -> Floats:
        return filled(self.points)


def tabulate(study: Study, readings: Sequence[Reading]) -> Table:
    """The table of some trials; a parameter that has one value in all of them is left out."""
    columns: list[tuple[Parameter, Floats]] = []
    for parameter in study.space:
        domain = parameter.source
        if not isinstance(domain, Float | Int | Choice):
            continue
        configs = [reading.record.trial.config for reading in readings]
        unit = [
            place(domain, c[parameter.name]) if parameter.name in c else np.nan for c in configs
        ]
        column = np.array(unit, dtype=np.float64)
        if len(np.unique(column)) > 1:
            columns.append((parameter, column))
    points = np.array([column for _, column in columns]).reshape(len(columns), len(readings)).T
    return Table(tuple(parameter for parameter, _ in columns), points)


def filled(points: Floats) -> Floats:
    """Points without NaN, for models that need every coordinate."""
    return np.where(np.isnan(points), ABSENT, points)


def categories_of(parameters: Sequence[Parameter]) -> NDArray[np.bool_]:
    return np.array([isinstance(p.source, Choice) for p in parameters], dtype=bool)
