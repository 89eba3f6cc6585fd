"""Results as analysis reads them: which trials count, with what value, and which do not."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tunebook.core.curves import Curve, Floats
from tunebook.core.domains import place
from tunebook.core.objective import Objective
from tunebook.core.results import Results, TrialRecord
from tunebook.core.space import Derived, Fixed, Parameter, Setting
from tunebook.core.study import Study
from tunebook.core.trials import Adaptive, Replicate


class Standing(StrEnum):
    """What a trial is worth to analysis."""

    MEASURED = "measured"  # it has a result
    INFEASIBLE = (
        "infeasible"  # its parameters do not work: diverged, no better than chance, far out
    )
    CENSORED = "censored"  # stopped by a rule: no result at the full length
    BROKEN = "broken"  # failed or crashed for reasons that are not its parameters'
    PENDING = "pending"  # not ended, or not for good


@dataclass(frozen=True, slots=True)
class Reading:
    """One trial with its standing. `value` and `step` are None unless it was measured."""

    record: TrialRecord
    standing: Standing
    value: float | None = None
    step: int | None = None
    why: str = ""

    @property
    def number(self) -> int:
        return self.record.trial.number

    @property
    def is_sampled(self) -> bool:
        """Whether the point was chosen without a look at results, as most tests require."""
        return not isinstance(self.record.trial.origin, Adaptive | Replicate)

    def curve(self, metric: str) -> Curve | None:
        """A curve with at least one point, or None."""
        curve = self.record.curves.get(metric)
        return curve if curve is not None and len(curve) else None


@dataclass(frozen=True, eq=False)
class Arm:
    """The readings of one setting, as arrays. Rows are trials, columns the searched parameters."""

    setting: Setting
    parameters: tuple[Parameter, ...]
    readings: tuple[Reading, ...]
    objective: Objective
    study: Study

    def __len__(self) -> int:
        return len(self.readings)

    @functools.cached_property
    def points(self) -> Floats:
        """Places in the unit cube, `(trials, parameters)`; NaN where a parameter does not exist."""
        table = np.full((len(self.readings), len(self.parameters)), np.nan)
        for row, reading in enumerate(self.readings):
            config = reading.record.trial.config
            for column, parameter in enumerate(self.parameters):
                if parameter.name in config and not isinstance(parameter.source, Fixed | Derived):
                    table[row, column] = place(parameter.source, config[parameter.name])
        return table

    @functools.cached_property
    def losses(self) -> Floats:
        """Results turned so that lower is better, `(trials,)`; NaN for what was not measured."""
        loss = self.objective.metric.loss
        return np.array([np.nan if r.value is None else loss(r.value) for r in self.readings])

    @functools.cached_property
    def measured(self) -> Arm:
        return self.only(Standing.MEASURED)

    @functools.cached_property
    def judged(self) -> Arm:
        """What was measured and what is infeasible: trials that tell something of their point."""
        return self.only(Standing.MEASURED, Standing.INFEASIBLE)

    @functools.cached_property
    def sampled(self) -> Arm:
        """Without what was chosen by looking at results, and without replicates."""
        return replace(self, readings=tuple(r for r in self.readings if r.is_sampled))

    def only(self, *standings: Standing) -> Arm:
        return replace(self, readings=tuple(r for r in self.readings if r.standing in standings))

    @functools.cached_property
    def ranked(self) -> tuple[Reading, ...]:
        """Measured trials, best first; ties in the order of their numbers."""
        return tuple(
            self.measured.readings[i] for i in np.argsort(self.measured.losses, kind="stable")
        )

    @property
    def best(self) -> Reading | None:
        return self.ranked[0] if self.ranked else None


@dataclass(frozen=True, eq=False)
class Evidence:
    """A study's readings under one objective: what every question and every picture starts from."""

    results: Results
    objective: Objective
    readings: tuple[Reading, ...]

    @property
    def study(self) -> Study:
        return self.results.study

    @functools.cached_property
    def arms(self) -> tuple[Arm, ...]:
        """One for each setting that has trials."""
        space, known = self.study.space, {r.record.trial.setting for r in self.readings}
        return tuple(
            Arm(
                setting,
                space.searched(setting),
                tuple(r for r in self.readings if r.record.trial.setting == setting),
                self.objective,
                self.study,
            )
            for setting in space.settings()
            if setting in known
        )

    @functools.cached_property
    def ranked(self) -> tuple[Reading, ...]:
        """Measured trials of all settings, best first."""
        metric = self.objective.metric
        measured = [r for r in self.readings if r.value is not None]
        return tuple(sorted(measured, key=lambda r: metric.loss(r.value or 0.0)))

    @property
    def best(self) -> Reading | None:
        return self.ranked[0] if self.ranked else None

    def only(self, *standings: Standing) -> tuple[Reading, ...]:
        return tuple(r for r in self.readings if r.standing in standings)
