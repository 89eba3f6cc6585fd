"""A run as it goes on: what is known of each setting, from the events alone; and who shows it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from tunebook.core.curves import Block, Curve, columns
from tunebook.core.events import Event, Finished, Logged, Resumed, Started
from tunebook.core.objective import Measure
from tunebook.core.results import RUNNING, Results
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, OutcomeKind

_GOES_ON = (RUNNING, OutcomeKind.PREEMPTED.value)


@dataclass
class SettingProgress:
    """How far one setting has come."""

    setting: Setting
    total: int
    status: dict[int, str] = field(default_factory=dict)
    best: tuple[int, Measure] | None = None

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.status.values())

    @property
    def ended(self) -> int:
        return sum(status not in _GOES_ON for status in self.status.values())


class Progress:
    """The state of a run. `note` takes in an event; everything else is read by displays."""

    def __init__(self, results: Results, totals: Mapping[Setting, int], workers: int) -> None:
        self.study: Study = results.study
        self.workers = workers
        self.began = time.monotonic()
        self._first_began: float | None = None
        self.settings = {
            setting.key: SettingProgress(setting, total) for setting, total in totals.items()
        }
        objective = self.study.objective
        self._needed = {objective.metric.name, *(c.metric for c in objective.constraints)}
        self._durations: list[float] = []
        self._curves: dict[tuple[int, int], Mapping[str, Curve]] = {}
        self._blocks: dict[tuple[int, int], list[Block]] = {}
        self._sources: dict[tuple[int, int], tuple[int, int]] = {}
        for record in results:
            progress = self._of(record.trial.setting)
            progress.status[record.trial.number] = record.status
            progress.total = max(progress.total, len(progress.status))
            if record.attempts:
                self._curves[record.trial.number, record.attempts[-1].number] = record.curves
            self._consider(progress, record.trial.number, results.measure(record))

    @property
    def total(self) -> int:
        return sum(setting.total for setting in self.settings.values())

    @property
    def ended(self) -> int:
        return sum(setting.ended for setting in self.settings.values())

    @property
    def has_started(self) -> bool:
        """Whether any trial has begun in this run."""
        return self._first_began is not None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def seconds_left(self) -> float | None:
        """By the pace so far, or by the mean duration of the first few trials; None before any."""
        ended = len(self._durations)
        if not ended:
            return None
        each = sum(self._durations) / ended / self.workers
        if self._first_began is not None and ended >= 2 * self.workers:
            each = max(each, (time.monotonic() - self._first_began) / ended)
        return each * (self.total - self.ended)

    def note(self, event: Event) -> Measure | None:
        """Take in an event; the result, if a trial has just been completed."""
        if isinstance(event, Started):
            self._first_began = self._first_began or time.monotonic()
            self._of(event.attempt.trial.setting).status[event.attempt.trial.number] = RUNNING
        elif isinstance(event, Logged):
            wanted = [block for block in event.blocks if self._needed & set(block.names)]
            self._blocks.setdefault(_key(event.attempt), []).extend(wanted)
        elif isinstance(event, Resumed):
            self._sources[_key(event.attempt)] = (event.source, event.step)
        elif isinstance(event, Finished):
            return self._finish(event)
        return None

    def _finish(self, event: Finished) -> Measure | None:
        trial, key, kind = event.attempt.trial, _key(event.attempt), event.outcome.kind
        progress = self._of(trial.setting)
        progress.status[trial.number] = kind.value
        if kind.value not in _GOES_ON:
            self._durations.append(event.seconds)
        curves = self._join(key, columns(self._blocks.pop(key, [])))
        if kind is not OutcomeKind.COMPLETE:
            self._curves[key] = curves
            return None
        measure = self.study.objective.measure(curves)
        self._consider(progress, trial.number, measure)
        return measure

    def _join(self, key: tuple[int, int], own: Mapping[str, Curve]) -> Mapping[str, Curve]:
        """The curves of an attempt with those of the attempt it continued."""
        source = self._sources.pop(key, None)
        earlier = self._curves.get((key[0], source[0])) if source else None
        if source is None or earlier is None:
            return own
        kept = {name: curve.until(source[1]) for name, curve in earlier.items()}
        joined = {name: kept[name].then(own[name]) for name in own if name in kept}
        return {**kept, **own, **joined}

    def _consider(self, progress: SettingProgress, number: int, measure: Measure | None) -> None:
        if measure is None:
            return
        is_better = self.study.objective.metric.is_better
        if progress.best is None or is_better(measure.value, progress.best[1].value):
            progress.best = (number, measure)

    def _of(self, setting: Setting) -> SettingProgress:
        return self.settings.setdefault(setting.key, SettingProgress(setting, 0))


class Display(Protocol):
    """What shows a run to its user."""

    def showing(self, progress: Progress) -> AbstractContextManager[Callable[[Event], None]]:
        """While the block runs, the function it is given takes each event and shows it."""

    def notice(self, text: str) -> None:
        """Tell the user something, within the block or outside of it."""


def _key(attempt: Attempt) -> tuple[int, int]:
    return attempt.trial.number, attempt.number
