"""A study with its trials at one moment: all that analysis may read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tunebook.core.curves import Curve
from tunebook.core.errors import UnknownName
from tunebook.core.objective import Measure, Objective
from tunebook.core.representation import results_html, results_text
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, Code, Ended, Outcome, OutcomeKind, Trial

if TYPE_CHECKING:
    import pandas
    import polars

RUNNING = "running"


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """What is known of one attempt. `source` and `resumed_at` say which checkpoint it continued."""

    number: int
    token: str
    folder: str
    code: Code = NO_CODE
    outcome: Outcome | None = None
    seconds: float = 0.0
    last_step: int = -1
    source: int | None = None
    resumed_at: int | None = None
    host: str = ""
    pid: int | None = None
    offset: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ended(self) -> Ended:
        return Ended(self.outcome, self.last_step, self.code)


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial with its attempts and the curves in force."""

    trial: Trial
    attempts: tuple[AttemptRecord, ...] = ()
    curves: Mapping[str, Curve] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """How the last attempt ended, or None while it runs."""
        return self.attempts[-1].outcome if self.attempts else None

    @property
    def status(self) -> str:
        return self.outcome.kind.value if self.outcome else RUNNING

    @property
    def seconds(self) -> float:
        return sum(attempt.seconds for attempt in self.attempts)


@dataclass(frozen=True, repr=False)
class Results:
    """A study and its trials, in the order of their numbers."""

    study: Study
    trials: tuple[TrialRecord, ...] = ()

    def __iter__(self) -> Iterator[TrialRecord]:
        return iter(self.trials)

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, number: int) -> TrialRecord:
        for record in self.trials:
            if record.trial.number == number:
                return record
        known = f"1 to {self.trials[-1].trial.number}" if self.trials else "none so far"
        raise UnknownName(f"{self.study.name} has no trial {number}; its trials are {known}")

    def counts(self, setting: Setting | None = None) -> dict[str, int]:
        """How many trials ended in which way, the running ones included."""
        chosen = (r for r in self.trials if setting is None or r.trial.setting == setting)
        found = Counter(record.status for record in chosen)
        order = [*(kind.value for kind in OutcomeKind), RUNNING]
        return {status: found[status] for status in order if found[status]}

    def measure(self, record: TrialRecord, objective: Objective | None = None) -> Measure | None:
        """The result of a complete trial; others have none."""
        if record.outcome is None or record.outcome.kind is not OutcomeKind.COMPLETE:
            return None
        return (objective or self.study.objective).measure(record.curves)

    def ranked(self, setting: Setting | None = None) -> tuple[tuple[TrialRecord, Measure], ...]:
        """Complete trials with their results, best first; ties in the order of their numbers."""
        metric = self.study.objective.metric
        measured = [
            (record, measure)
            for record in self.trials
            if (setting is None or record.trial.setting == setting)
            and (measure := self.measure(record)) is not None
        ]
        return tuple(sorted(measured, key=lambda pair: metric.loss(pair[1].value)))

    def best(self, setting: Setting | None = None) -> tuple[TrialRecord, Measure] | None:
        ranked = self.ranked(setting)
        return ranked[0] if ranked else None

    def __repr__(self) -> str:
        return results_text(self)

    def _repr_html_(self) -> str:
        return results_html(self)

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each trial: parameters under `params.`, last values under `metrics.`."""
        return [self._row(record) for record in self.trials]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each trial (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """A data frame with a row for each trial (needs polars)."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None, strict=False)

    def _row(self, record: TrialRecord) -> dict[str, Any]:
        measure = self.measure(record)
        outcome = record.outcome
        return {
            "trial": record.trial.number,
            "setting": str(record.trial.setting),
            "status": record.status,
            "reason": outcome.reason if outcome else "",
            "value": measure.value if measure else None,
            "step": measure.step if measure else None,
            "attempts": len(record.attempts),
            "seconds": record.seconds,
            "seed": record.trial.seed,
            **{f"params.{name}": value for name, value in record.trial.config.items()},
            **{
                f"metrics.{name}": float(curve.values[-1])
                for name, curve in sorted(record.curves.items())
                if len(curve)
            },
        }
