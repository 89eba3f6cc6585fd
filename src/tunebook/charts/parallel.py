"""Parallel coordinates: a line for each trial through its parameters to its result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tunebook.charts.axes import searched
from tunebook.charts.figures import Axis, Figure, Line, Mark, Panel, Rule, Text
from tunebook.charts.ranges import domain_of, unit, unit_of, value_axis
from tunebook.charts.selection import (
    BEST_FEW,
    MANY,
    best_text,
    groups,
    left_out,
    setting_text,
    shown,
    tooltip,
    without_value,
)
from tunebook.charts.wording import limited, sentences
from tunebook.core.domains import Choice
from tunebook.core.evidence import Evidence, Reading
from tunebook.core.representation import counted, number, one_line, value_text
from tunebook.core.space import Parameter

MOST_LINES = 300
MOST_AXES = 12
MOST_NAMES = 6


def parallel_coordinates(evidence: Evidence) -> Figure | None:
    """Axes are the searched parameters, then the objective; None for fewer than two results."""
    parameters = searched(evidence)[:MOST_AXES]
    best, others = shown(evidence.ranked, MOST_LINES)
    drawn = (*best, *others)
    if len(drawn) < 2 or not parameters:
        return None
    metric = one_line(evidence.objective.metric.name)
    table, cut = limited(
        ("trial", *(one_line(p.name) for p in parameters), metric),
        [_row(reading, parameters) for reading in drawn],
    )
    more = len(searched(evidence)) - len(parameters)
    return Figure(
        "parallel",
        "Parallel coordinates",
        _sentence(evidence, parameters, best),
        (_panel(evidence, parameters, drawn, len(best)),),
        table,
        sentences(
            _passed(drawn, parameters),
            left_out(len(drawn), len(evidence.ranked)),
            f"{counted(more, 'further parameter')} left out." if more else "",
            without_value(evidence),
            cut,
        ),
    )


def _panel(
    evidence: Evidence, parameters: Sequence[Parameter], drawn: Sequence[Reading], best: int
) -> Panel:
    """Axes, then the many lines, then the best from the worst of them up, then the axes' ends."""
    values = np.array([reading.value for reading in drawn], dtype=np.float64)
    axis = value_axis("", values)
    lines = [
        _line(evidence, reading, parameters, result, rank < best)
        for rank, (reading, result) in enumerate(zip(drawn, unit_of(axis, values), strict=True))
    ]
    metric = one_line(evidence.objective.metric.name) + (" (log)" if axis.scale == "log" else "")
    names = (*map(_axis_name, parameters), metric)
    marks: list[Mark] = [Rule(float(place), "x", dashed=False) for place in range(len(names))]
    marks += lines[best:] + lines[:best][::-1]
    marks += [text for place, p in enumerate(parameters) for text in _ends(p, place)]
    marks += _result_ends(values, len(parameters), axis)
    return Panel(
        Axis("", "category", categories=names),
        Axis("share of the range", low=-0.08, high=1.08),
        tuple(marks),
    )


def _line(
    evidence: Evidence,
    reading: Reading,
    parameters: Sequence[Parameter],
    result: float,
    strong: bool,
) -> Line:
    several = len(evidence.arms) > 1
    setting, config = reading.record.trial.setting, reading.record.trial.config
    y = np.array([*(unit(p, config.get(p.name)) for p in parameters), result], dtype=np.float64)
    # A choice may hold null, which a parameter that does not exist must not be taken for.
    there = [*(p.name in config for p in parameters), True]
    best = f"best {BEST_FEW}" if strong else ""
    return Line(
        np.flatnonzero(there).astype(np.float64),
        y[there],
        groups(evidence).get(setting, 0) if several else 0 if strong else MANY,
        setting_text(setting) if several else best,
        tooltip(evidence, reading),
        "strong" if strong else "faint",
    )


def _passed(readings: Sequence[Reading], parameters: Sequence[Parameter]) -> str:
    complete = all(p.name in r.record.trial.config for r in readings for p in parameters)
    return "" if complete else "A line passes over the parameters that its trial does not have."


def _axis_name(parameter: Parameter) -> str:
    domain = domain_of(parameter)
    log = not isinstance(domain, Choice) and domain is not None and domain.log
    return one_line(parameter.name) + (" (log)" if log else "")


def _ends(parameter: Parameter, place: int) -> list[Text]:
    """The values at the ends of an axis, or the names of a choice at their places."""
    domain = domain_of(parameter)
    if isinstance(domain, Choice):
        if len(domain.values) > MOST_NAMES:
            return []
        return [Text(place, domain.to_unit(v), value_text(v), "start") for v in domain.values]
    if domain is None:
        return []
    return [Text(place, -0.05, number(domain.low)), Text(place, 1.05, number(domain.high))]


def _result_ends(values: np.ndarray, place: int, axis: Axis) -> list[Text]:
    low = values.min() if axis.low is None else axis.low
    high = values.max() if axis.high is None else axis.high
    return [Text(place, -0.05, number(float(low))), Text(place, 1.05, number(float(high)))]


def _row(reading: Reading, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    config = reading.record.trial.config
    values = [value_text(config[p.name]) if p.name in config else "-" for p in parameters]
    return str(reading.number), *values, number(reading.value)


def _sentence(evidence: Evidence, parameters: Sequence[Parameter], best: Sequence[Reading]) -> str:
    """Where the best trials agree most: the parameter whose values they share most narrowly."""
    first = f"The best is {best_text(evidence)}."
    spans = {}
    for parameter in parameters:
        configs = [reading.record.trial.config for reading in best]
        places = [unit(parameter, c[parameter.name]) for c in configs if parameter.name in c]
        if len(places) == len(best) and len(best) > 1 and not np.isnan(places).any():
            spans[parameter.name] = float(np.ptp(places))
    if not spans:
        return first
    name = min(spans, key=lambda key: spans[key])
    return (
        f"{first} The best {len(best)} of {len(evidence.ranked)} agree most in {one_line(name)}: "
        f"they span {spans[name]:.0%} of its range."
    )
