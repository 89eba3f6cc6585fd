"""Which picture stands beside which finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tunebook.charts.figures import Figure, Table
from tunebook.core.findings import Finding
from tunebook.core.representation import one_line
from tunebook.report.making import Report

# By the key of a question, the figures that show its answer, best first. AXIS is the axis plot of
# the parameter that the finding is about, METRIC the training curves of the metric alone.
AXES, AXIS = "axes", "axis"
CURVES, METRIC = "curves", "curve"
FIGURES: Final[Mapping[str, tuple[str, ...]]] = {
    "baseline": ("curves",),
    "code": ("timeline",),
    "tuned-budget": (AXIS,),
    "dimensions": ("parallel",),
    "search-space": (AXIS, AXES),
    "sampled-enough": ("best-of-k", "best-so-far"),
    "infeasible": (AXIS, "timeline"),
    "nothing-matters": ("importance", AXES),
    "importance": ("importance", "interactions"),
    "stability": (AXIS, "curves"),
    "spikes": ("gradient-norm", "curves"),
    "training-loss": ("curves",),
    "clipping": ("gradient-histogram", "gradient-norm"),
    "warmup": ("curves",),
    "overfitting": ("curves", "best-step"),
    "improving": ("best-step", "curves"),
    "saturated": ("best-step", "curves"),
    "step-budget": ("best-step", "curves"),
    "late-variance": (METRIC, "curves"),
    "periodicity": (METRIC, "curves"),
    "fairness": ("isolation", "best-of-k"),
    "winner": ("isolation", "isolation-buckets"),
}


def beside(report: Report) -> dict[str, Figure]:
    """The figure of each finding that raises something, by the key of its question.

    A figure is shown once, beside the worst finding that asks for it; `elsewhere` leads there.
    """
    taken: dict[str, Figure] = {}
    shown: set[str] = set()
    for finding in report.raised:
        figure = next((f for f in wanted(finding, report) if f.key not in shown), None)
        if figure is not None:
            shown.add(figure.key)
            taken[finding.question.key] = figure
    return taken


def elsewhere(finding: Finding, report: Report) -> Figure | None:
    """The picture that shows an answer, for a finding that has none beside it."""
    known = {figure.key for figure in report.figures}
    return next((f for f in wanted(finding, report) if f.key in known), None)


def wanted(finding: Finding, report: Report) -> Iterator[Figure]:
    """The figures that show the answer to a question, best first."""
    known = {figure.key: figure for figure in report.figures}
    metric = report.objective.metric.name
    # The picture of a probe's answer has the name of its question.
    for key in FIGURES.get(finding.question.key, (finding.question.key,)):
        if key == METRIC and CURVES in known:
            yield from _curve(known[CURVES], metric)
        elif key == AXIS and AXES in known:
            parameter = _about(finding, report)
            if parameter is not None:
                yield from _axis(known[AXES], parameter, metric)
        elif key in known:
            yield known[key]


def _about(finding: Finding, report: Report) -> str | None:
    """The searched parameter that a finding is about: the first that it names."""
    names = [p.name for p in report.study.space if p.is_sampled]
    spoken = {name: _place(name, finding.sentence) for name in names}
    found = sorted((place, name) for name, place in spoken.items() if place >= 0)
    return found[0][1] if found else None


def _place(name: str, sentence: str) -> int:
    found = re.search(rf"(?<![\w.\-]){re.escape(name)}(?![\w\-])", sentence)
    return found.start() if found else -1


def _axis(axes: Figure, parameter: str, metric: str) -> Iterator[Figure]:
    """One panel of the axis plots as a figure of its own."""
    panels = tuple(panel for panel in axes.panels if panel.title == parameter)
    rows = tuple(row for row in axes.table.rows if row and row[0] == parameter)
    if panels:
        alone = replace(panels[0], title="")
        yield replace(
            axes,
            key=f"axis-{parameter}",
            title=f"{metric} against {parameter}",
            sentence=_caption(axes.table.columns, rows[0]) if rows else axes.sentence,
            panels=(alone,),
            table=Table(axes.table.columns, rows),
            note="",
        )


def _curve(curves: Figure, metric: str) -> Iterator[Figure]:
    """The panel of one metric, where the training curves have several."""
    panels = tuple(panel for panel in curves.panels if panel.title == one_line(metric))
    if panels and len(curves.panels) > 1:
        yield replace(
            curves, key="curve", title=f"Training curves of {one_line(metric)}", panels=panels
        )


def _caption(columns: tuple[str, ...], row: tuple[str, ...]) -> str:
    """`Searched: 0.001 to 1 (log). Best trial: 0.03. Best 5: 0.01 to 0.1.`"""
    said = [(name, cell) for name, cell in zip(columns, row, strict=False) if cell not in ("", "-")]
    return " ".join(f"{name.capitalize()}: {cell}." for name, cell in said[1:])
