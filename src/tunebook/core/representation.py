"""Results for the eye: a few lines of text, or a small table for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tunebook.core.results import Results

_SHOWN = 5


def as_text(results: Results) -> str:
    """What `print(results)` shows."""
    lines = [_title(results)]
    lines += ["  ".join(row) for row in _rows(results)]
    return "\n".join(lines)


def as_html(results: Results) -> str:
    """What a notebook shows: static, and readable on light and dark pages alike."""
    title = f"<p><strong>{html.escape(_title(results))}</strong></p>"
    goal = f"<p>{html.escape(results.study.goal)}</p>" if results.study.goal else ""
    head, *body = _rows(results) or [("no complete trial yet",)]
    return f"{title}{goal}<table>{_row('th', head)}{''.join(_row('td', r) for r in body)}</table>"


def _title(results: Results) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in results.counts().items())
    return f"{results.study.name}: {counts or 'no trials yet'}"


def _rows(results: Results) -> list[tuple[str, ...]]:
    ranked = results.ranked()[:_SHOWN]
    if not ranked:
        return []
    metric = results.study.objective.metric.name
    rows: list[tuple[str, ...]] = [("trial", metric, "step", "parameters")]
    for record, measure in ranked:
        config = ", ".join(f"{n}={_value(v)}" for n, v in record.trial.config.items())
        rows.append((str(record.trial.number), f"{measure.value:.4g}", str(measure.step), config))
    return rows


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row(tag: str, cells: Sequence[str]) -> str:
    inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"
