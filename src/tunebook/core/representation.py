"""Values, studies and results for the eye: a few lines of text, or a small table for a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tunebook.core.results import Results
    from tunebook.core.study import Study

SHOWN = 5


def one_line(text: str) -> str:
    r"""Text that can neither break the line nor move the cursor, change colours or its direction.

    >>> one_line("red \x1b[31m")
    'red \\x1b[31m'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def number(value: float | None) -> str:
    """Four significant digits.

    >>> number(0.0312345), number(None), number(float("nan"))
    ('0.03123', '-', 'nan')
    """
    return "-" if value is None else f"{value:.4g}"


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(1200, "step")
    ('1 trial', '1,200 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names as one says them.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def value_text(value: object) -> str:
    """A parameter's value, as it would stand in a study file.

    >>> [value_text(value) for value in (0.123456, 3, True, None, "relu")]
    ['0.1235', '3', 'true', 'null', 'relu']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value)
    return "null" if value is None else one_line(str(value))


def config_text(config: Mapping[str, object]) -> str:
    """A configuration in one line.

    >>> config_text({"learning_rate": 0.1, "model": "cnn"})
    'learning_rate=0.1, model=cnn'
    """
    return ", ".join(f"{one_line(name)}={value_text(value)}" for name, value in config.items())


def counts_text(counts: Mapping[str, int]) -> str:
    """`28 complete, 2 infeasible`."""
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no trials yet"


def results_text(results: Results) -> str:
    """What `print(results)` shows."""
    rows = _best(results)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([_title(results), *lines])


def results_html(results: Results) -> str:
    """What a notebook shows: static, and readable on light and dark pages alike."""
    rows = _best(results)
    return titled(_title(results), results.study.goal) + (table(*rows) if rows else "")


def study_html(study: Study) -> str:
    """A study for a notebook: its question, its objective and its parameters."""
    metric = study.objective.metric
    lines = [f"{metric.name}, {metric.better} is better; {study.trials} trials for each setting"]
    rows = [(parameter.name, str(parameter)) for parameter in study.space]
    title = titled(study.name, study.goal, *lines)
    return title + (table(("parameter", "role and values"), *rows) if rows else "")


def titled(title: str, *lines: str) -> str:
    """A bold line and, below it, those of the others that say something."""
    parts = [f"<strong>{html.escape(one_line(title))}</strong>"]
    parts += [html.escape(one_line(line)) for line in lines if line]
    return f"<p>{'<br>'.join(parts)}</p>"


def table(head: Sequence[str], *rows: Sequence[str]) -> str:
    """A plain table in HTML."""
    return f"<table>{_row('th', head)}{''.join(_row('td', row) for row in rows)}</table>"


def _title(results: Results) -> str:
    return f"{results.study.name}: {counts_text(results.counts())}"


def _best(results: Results) -> list[tuple[str, ...]]:
    """The best trials under their heading, or nothing."""
    ranked = results.ranked()[:SHOWN]
    head = ("trial", one_line(results.study.objective.metric.name), "step", "parameters")
    rows = [
        (str(r.trial.number), number(m.value), str(m.step), config_text(r.trial.config))
        for r, m in ranked
    ]
    return [head, *rows] if rows else []


def _row(tag: str, cells: Sequence[str]) -> str:
    inner = "".join(f"<{tag}>{html.escape(one_line(cell))}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"
