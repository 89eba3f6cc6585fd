"""Studies and trials as plain data: the shapes of `--json`, and what tables are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tunebook.app import reproducing
from tunebook.core.curves import Curve
from tunebook.core.objective import Measure
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Fixed, Setting
from tunebook.core.study import Study
from tunebook.core.trials import Code, OutcomeKind
from tunebook.execution import bounded_log

Data = dict[str, Any]


def study(results: Results, top: int = 10) -> Data:
    """A study: how far it is, its best trials, and those that came to nothing."""
    known = results.study
    objective = known.objective
    return {
        "study": known.name,
        "goal": known.goal,
        "note": known.note,
        "parent": known.parent,
        "file": known.file or None,
        "program": known.program,
        "task": known.task,
        "command": list(known.command.arguments) if known.command else None,
        "objective": {
            "metric": objective.metric.name,
            "better": objective.metric.better,
            "reduction": objective.reduction,
        },
        "fixed": {p.name: p.source.value for p in known.space if isinstance(p.source, Fixed)},
        "trials": len(results),
        "outcomes": results.counts(),
        "settings": [_setting(results, setting) for setting in _settings(results)],
        "best": [brief(record, measure) for record, measure in results.ranked()[:top]],
        "not_complete": [_without_result(record) for record in _not_complete(results)[:top]],
    }


def brief(record: TrialRecord, measure: Measure | None) -> Data:
    """A trial in a few words."""
    return {
        "trial": record.trial.number,
        "setting": record.trial.setting.config,
        "status": record.status,
        "value": _finite(measure.value) if measure else None,
        "step": measure.step if measure else None,
        "params": dict(record.trial.config),
    }


def trial(results: Results, record: TrialRecord) -> Data:
    """A trial with everything that is known of it."""
    outcome = record.outcome
    return {
        "study": results.study.name,
        **brief(record, results.measure(record)),
        "reason": outcome.reason if outcome else "",
        "detail": outcome.detail if outcome else "",
        "seed": record.trial.seed,
        "code": code(record.trial.code),
        "seconds": round(record.seconds, 3),
        "attempts": [_attempt(attempt) for attempt in record.attempts],
        "metrics": {
            name: _curve(curve) for name, curve in sorted(record.curves.items()) if len(curve)
        },
    }


def comparison(pairs: Sequence[tuple[Results, TrialRecord]]) -> Data:
    """Several trials side by side: the parameters in which they differ, and their results."""
    configs = [record.trial.config for _, record in pairs]
    names = sorted({name for config in configs for name in config})
    # A list of one value for a parameter that a trial has, of none for one that it lacks.
    cells = {name: [[c[name]] if name in c else [] for c in configs] for name in names}
    differing = {name for name, row in cells.items() if any(cell != row[0] for cell in row)}
    return {
        "trials": [trial(results, record) for results, record in pairs],
        "differences": {
            name: [cell[0] if cell else None for cell in row]
            for name, row in cells.items()
            if name in differing
        },
        "equal": {name: row[0][0] for name, row in cells.items() if name not in differing},
    }


def sheet(every: Sequence[Results], book: Path) -> list[Data]:
    """The tracking sheet: a row for each study."""
    studies = {results.study.name: results.study for results in every}
    rows = []
    for results in every:
        known = results.study
        best = results.best()
        record, measure = best if best else (None, None)
        ran = record.trial.code if record else None
        parent = studies.get(known.parent) if known.parent else None
        rows.append(
            {
                "study": known.name,
                "parent": known.parent,
                "file": known.file or None,
                "goal": known.goal,
                "note": known.note,
                "probe": _probe(known),
                "trials": len(results),
                "outcomes": results.counts(),
                "metric": known.objective.metric.name,
                "best": brief(record, measure) if record else None,
                "reproduce": reproducing.steps(known, parent, record, book),
                "code": code(ran) if ran else None,
                "patch": reproducing.patch(ran, book) if ran else None,
            }
        )
    return rows


def _probe(study: Study) -> Data | None:
    """The probe that a study is a stage of."""
    asked = study.asked
    if asked is None:
        return None
    return {
        "probe": asked.procedure,
        "study": asked.about.name,
        "start": asked.source,
        "round": asked.round,
    }


def printed(record: TrialRecord) -> str:
    """What the program of a trial printed in its last attempt."""
    if not record.attempts:
        return ""
    return bounded_log.read(Path(record.attempts[-1].folder) / "log.txt")


def code(given: Code) -> Data:
    return {"commit": given.commit, "difference": given.difference, "source": given.source}


def _setting(results: Results, setting: Setting) -> Data:
    best = results.best(setting)
    return {
        "setting": setting.config,
        "outcomes": results.counts(setting),
        "best": brief(*best) if best else None,
    }


def _settings(results: Results) -> list[Setting]:
    found = [record.trial.setting for record in results]
    return list(dict.fromkeys([*results.study.space.settings(), *found]))


def _not_complete(results: Results) -> list[TrialRecord]:
    """Trials that ended without a result, those that broke first."""
    order = [
        OutcomeKind.FAILED,
        OutcomeKind.CRASHED,
        OutcomeKind.PREEMPTED,
        OutcomeKind.CANCELLED,
        OutcomeKind.INFEASIBLE,
    ]
    found = [
        (order.index(r.outcome.kind), r) for r in results if r.outcome and r.outcome.kind in order
    ]
    return [record for _, record in sorted(found, key=lambda pair: pair[0])]


def _without_result(record: TrialRecord) -> Data:
    return {
        "trial": record.trial.number,
        "setting": record.trial.setting.config,
        "status": record.status,
        "reason": record.outcome.reason if record.outcome else "",
    }


def _attempt(attempt: AttemptRecord) -> Data:
    return {
        "attempt": attempt.number,
        "outcome": attempt.outcome.kind.value if attempt.outcome else None,
        "reason": attempt.outcome.reason if attempt.outcome else "",
        "seconds": round(attempt.seconds, 3),
        "resumed_at": attempt.resumed_at,
        "folder": attempt.folder,
        "notes": list(attempt.notes),
    }


def _curve(curve: Curve) -> Data:
    finite = [float(value) for value in curve.values if math.isfinite(value)]
    return {
        "points": len(curve),
        "last": _finite(float(curve.values[-1])),
        "lowest": min(finite, default=None),
        "highest": max(finite, default=None),
        "last_step": int(curve.steps[-1]),
    }


def _finite(value: float) -> float | str:
    """JSON has no NaN: what is not finite is written as text."""
    return value if math.isfinite(value) else str(value)
