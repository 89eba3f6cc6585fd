"""Studies and trials as plain data: the shapes of `--json`, and what tables are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tunebook.app.places import differences_folder
from tunebook.core.objective import Measure
from tunebook.core.results import Results, TrialRecord
from tunebook.core.space import Setting
from tunebook.core.trials import Code
from tunebook.running.code import patch_path

Data = dict[str, Any]


def study(results: Results, top: int = 3) -> Data:
    """A study: how far it is, and the best trials of each setting."""
    known = results.study
    metric = known.objective.metric
    return {
        "study": known.name,
        "goal": known.goal,
        "note": known.note,
        "parent": known.parent,
        "file": known.file or None,
        "program": known.program,
        "objective": {
            "metric": metric.name,
            "better": metric.better,
            "reduction": known.objective.reduction,
        },
        "trials": len(results),
        "outcomes": results.counts(),
        "settings": [_setting(results, setting) for setting in _settings(results)],
        "best": [brief(results, record, measure) for record, measure in results.ranked()[:top]],
    }


def brief(results: Results, record: TrialRecord, measure: Measure | None) -> Data:
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
        **brief(results, record, results.measure(record)),
        "reason": outcome.reason if outcome else "",
        "detail": outcome.detail if outcome else "",
        "seed": record.trial.seed,
        "code": code(record.trial.code),
        "seconds": round(record.seconds, 3),
        "attempts": [
            {
                "attempt": attempt.number,
                "outcome": attempt.outcome.kind.value if attempt.outcome else None,
                "reason": attempt.outcome.reason if attempt.outcome else "",
                "seconds": round(attempt.seconds, 3),
                "resumed_at": attempt.resumed_at,
                "folder": attempt.folder,
                "notes": list(attempt.notes),
            }
            for attempt in record.attempts
        ],
        "metrics": {
            name: {
                "points": len(curve),
                "last": _finite(float(curve.values[-1])),
                "lowest": _extreme(curve.values, min),
                "highest": _extreme(curve.values, max),
                "last_step": int(curve.steps[-1]),
            }
            for name, curve in sorted(record.curves.items())
            if len(curve)
        },
    }


def comparison(pairs: Sequence[tuple[Results, TrialRecord]]) -> Data:
    """Several trials side by side: the parameters in which they differ, and their results."""
    names = sorted({name for _, record in pairs for name in record.trial.config})
    values = {name: [r.trial.config.get(name) for _, r in pairs] for name in names}
    present = {name: [name in r.trial.config for _, r in pairs] for name in names}
    differing = {
        name: row
        for name, row in values.items()
        if any(v != row[0] for v in row) or len(set(present[name])) > 1
    }
    return {
        "trials": [trial(results, record) for results, record in pairs],
        "differences": differing,
        "equal": {name: row[0] for name, row in values.items() if name not in differing},
    }


def sheet(every: Sequence[Results], folder: Path) -> list[Data]:
    """The tracking sheet: a row for each study."""
    return [_row(results, folder) for results in every]


def printed(record: TrialRecord) -> str:
    """What the program of a trial printed in its last attempt."""
    if not record.attempts:
        return ""
    path = Path(record.attempts[-1].folder) / "log.txt"
    return path.read_text(errors="replace") if path.exists() else ""


def code(given: Code) -> Data:
    return {"commit": given.commit, "difference": given.difference, "source": given.source}


def _row(results: Results, folder: Path) -> Data:
    known = results.study
    best = results.best()
    record, measure = best if best else (None, None)
    ran = record.trial.code if record else None
    patch = None
    if ran and ran.difference:
        path = patch_path(differences_folder(folder), ran.difference)
        patch = str(path) if path.exists() else None
    return {
        "study": known.name,
        "parent": known.parent,
        "file": known.file or None,
        "goal": known.goal,
        "note": known.note,
        "trials": len(results),
        "outcomes": results.counts(),
        "metric": known.objective.metric.name,
        "best": {
            "trial": record.trial.number if record else None,
            "setting": record.trial.setting.config if record else None,
            "value": measure.value if measure else None,
            "step": measure.step if measure else None,
        },
        "reproduce": _command(results, ran, patch),
        "code": code(ran) if ran else None,
        "patch": patch,
    }


def _command(results: Results, ran: Code | None, patch: str | None) -> str:
    known = results.study
    steps = []
    if ran and ran.commit:
        steps.append(f"git checkout {ran.commit[:10]}")
    if patch:
        steps.append(f"git apply {patch}")
    steps.append(f"tunebook run {known.file}" if known.file else f"run {known.name} from Python")
    return " && ".join(steps)


def _setting(results: Results, setting: Setting) -> Data:
    best = results.best(setting)
    return {
        "setting": setting.config,
        "outcomes": results.counts(setting),
        "best": brief(results, *best) if best else None,
    }


def _settings(results: Results) -> list[Setting]:
    found = {record.trial.setting: None for record in results}
    return list(dict.fromkeys([*results.study.space.settings(), *found]))


def _finite(value: float) -> float | str:
    """JSON has no NaN: what is not finite is written as text."""
    return value if math.isfinite(value) else str(value)


def _extreme(values: Any, choose: Any) -> float | None:
    finite = [float(v) for v in values if math.isfinite(v)]
    return choose(finite) if finite else None
