"""The report as plain data: the shape of `tunebook report --json`.

| key | holds |
| --- | --- |
| `study`, `goal`, `file` | which study or probe it is |
| `objective` | `metric`, `better`, `reduction`, `over`, `constraints` |
| `state` | `running`, `unfinished` or `finished` |
| `trials`, `planned`, `outcomes` | how many there are, will be, and ended in which way |
| `tally` | how many findings have which verdict |
| `findings` | worst first: `question`, `text`, `anchor`, `verdict`, `sentence`, `advice`, ... |
| `findings[].claims` | what was tested, each with its `p` (null: seen, not inferred) |
| `best`, `settings`, `fixed` | the best trials, the best of each setting, what all share |
| `pictures` | `key`, `title`, `sentence`, `note` and the numbers as `columns` and `rows` |
| `stages` | the studies of a probe, each with its `outcomes`; `trials` are those of the last |
| `changes`, `retune` | the study file that a probe proposes, as a difference; what to tune again |
| `comparison` | the other study's report, and the `differences`; null without one |

JSON has no NaN: what is not finite is text, `"nan"` or `"inf"`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tunebook.charts.figures import Figure
from tunebook.core.findings import Claim, Finding
from tunebook.report.making import Report, Row

Data = dict[str, Any]


def data(report: Report) -> Data:
    """Everything that a report says, in types that JSON has."""
    objective, comparison = report.objective, report.comparison
    return {
        "study": report.name,
        "goal": report.study.goal,
        "file": report.study.file or None,
        "version": report.version,
        "made": report.made.isoformat(timespec="seconds") if report.made else None,
        "objective": {
            "metric": objective.metric.name,
            "better": objective.metric.better,
            "reduction": objective.reduction,
            "over": objective.over,
            "constraints": [str(constraint) for constraint in objective.constraints],
        },
        "state": _state(report),
        "trials": len(report.rows),
        "planned": report.planned,
        "outcomes": dict(report.outcomes),
        "tally": {verdict.value: count for verdict, count in report.tally.items()},
        "findings": [_finding(finding) for finding in report.findings],
        "best": [_row(row) for row in report.best],
        "settings": [
            {
                "setting": arm.setting.config,
                "outcomes": dict(arm.outcomes),
                "measured": arm.measured,
                "best": _row(arm.best) if arm.best else None,
            }
            for arm in report.arms
        ],
        "fixed": report.fixed,
        "pictures": [_figure(figure) for figure in report.figures],
        "stages": [
            {"stage": stage.name, "goal": stage.goal, "outcomes": dict(stage.outcomes)}
            for stage in report.whole.stages
        ],
        "changes": list(report.whole.changes),
        "retune": list(report.whole.retune),
        "comparison": {
            "differences": list(comparison.differences),
            "pictures": [_figure(figure) for figure in comparison.figures],
            "other": data(comparison.other),
        }
        if comparison
        else None,
    }


def _state(report: Report) -> str:
    if report.running:
        return "running"
    return "finished" if report.is_finished else "unfinished"


def _finding(finding: Finding) -> Data:
    return {
        "question": finding.question.key,
        "text": finding.question.text,
        "anchor": finding.question.anchor,
        "verdict": finding.verdict.value,
        "sentence": finding.sentence,
        "advice": finding.advice,
        "method": finding.method,
        "numbers": _numbers(finding.numbers),
        "trials": list(finding.trials),
        "claims": [_claim(claim) for claim in finding.claims],
    }


def _claim(claim: Claim) -> Data:
    return {
        "sentence": claim.sentence,
        "level": claim.level.value,
        "p": _finite(claim.p),
        "advice": claim.advice,
        "subject": claim.subject,
        "numbers": _numbers(claim.numbers),
        "trials": list(claim.trials),
    }


def _row(row: Row) -> Data:
    return {
        "trial": row.number,
        "setting": row.setting.config,
        "status": row.status,
        "value": _finite(row.value),
        "step": row.step,
        "params": dict(row.config),
    }


def _figure(figure: Figure) -> Data:
    return {
        "key": figure.key,
        "title": figure.title,
        "sentence": figure.sentence,
        "note": figure.note,
        "columns": list(figure.table.columns),
        "rows": [list(row) for row in figure.table.rows],
    }


def _numbers(numbers: Mapping[str, float]) -> Data:
    return {name: _finite(value) for name, value in numbers.items()}


def _finite(value: float | None) -> float | str | None:
    if value is None:
        return None
    plain = float(value)
    if not math.isfinite(plain):
        return str(plain)
    return int(plain) if isinstance(value, int) else plain
