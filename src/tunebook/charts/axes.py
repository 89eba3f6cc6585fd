"""Basic hyperparameter axis plots: results against each searched parameter, with its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunebook.charts.figures import Axis, Figure, Mark, Panel
from tunebook.charts.ranges import bounds, domain_of, parameter_axis, position, value_axis
from tunebook.charts.scales import ruler
from tunebook.charts.scatter import scatter, scatter_note
from tunebook.charts.selection import BEST_FEW, best_text, infeasible_text, without_value
from tunebook.charts.wording import interval, limited, metric_label, sentences
from tunebook.core.domains import Choice, Value
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.representation import listed, one_line, value_text
from tunebook.core.space import Parameter

MOST_PANELS = 24


def searched(evidence: Evidence) -> tuple[Parameter, ...]:
    """The parameters searched in any setting that has trials, in the order of the space."""
    names = {p.name for arm in evidence.arms for p in arm.parameters}
    return tuple(p for p in evidence.study.space if p.name in names)


def axis_plots(evidence: Evidence) -> Figure | None:
    """A panel for each searched parameter; None without one, or without a trial to show."""
    parameters = searched(evidence)
    drawn = parameters[:MOST_PANELS]
    panels = tuple(panel for p in drawn if (panel := _panel(evidence, p)) is not None)
    if not panels:
        return None
    table, cut = limited(
        ("parameter", "searched", "best trial", f"best {BEST_FEW}", "infeasible"),
        [_row(evidence, parameter) for parameter in parameters],
    )
    more = len(parameters) - len(drawn)
    return Figure(
        "axes",
        "Results along each searched parameter",
        _sentence(evidence, parameters),
        panels,
        table,
        sentences(
            "Dashed lines are the bounds of the search space.",
            scatter_note(evidence),
            f"{more} further parameters are only in the table." if more else "",
            without_value(evidence),
            cut,
        ),
    )


def _panel(evidence: Evidence, parameter: Parameter) -> Panel | None:
    points = scatter(evidence, lambda reading: _place(reading, parameter))
    if not points:
        return None
    marks: tuple[Mark, ...] = (*bounds(parameter), *points)
    return Panel(parameter_axis(parameter), _results(evidence), marks, one_line(parameter.name))


def _results(evidence: Evidence) -> Axis:
    """One axis for all panels, also those that lack some trials."""
    values = [reading.value or 0.0 for reading in evidence.ranked]
    axis = value_axis(metric_label(evidence.objective), values)
    ends = ruler(axis, [values])
    return replace(axis, low=ends.low, high=ends.high) if values else axis


def _place(reading: Reading, parameter: Parameter) -> float:
    config = reading.record.trial.config
    if parameter.name not in config:
        return float("nan")
    return position(parameter, config[parameter.name])


def _sentence(evidence: Evidence, parameters: Sequence[Parameter]) -> str:
    best = evidence.ranked[:BEST_FEW]
    if not best:
        return sentences("No trial has a result.", infeasible_text(evidence))
    ranges = [
        f"{one_line(p.name)} {text}" for p in parameters if (text := _range(p, _values(best, p)))
    ]
    count = f"The best {len(best)} of {len(evidence.ranked)} trials have"
    where = f"{count} {listed(ranges, most=4)}." if ranges and len(best) > 1 else ""
    return sentences(f"The best is {best_text(evidence)}.", where, infeasible_text(evidence))


def _row(evidence: Evidence, parameter: Parameter) -> tuple[str, ...]:
    best = evidence.ranked[:BEST_FEW]
    infeasible = evidence.only(Standing.INFEASIBLE)
    return (
        one_line(parameter.name),
        one_line(str(parameter.source)),
        _range(parameter, _values(best[:1], parameter)) or "-",
        _range(parameter, _values(best, parameter)) or "-",
        _range(parameter, _values(infeasible, parameter)) or "-",
    )


def _values(readings: Sequence[Reading], parameter: Parameter) -> list[Value]:
    name = parameter.name
    configs = [reading.record.trial.config for reading in readings]
    return [config[name] for config in configs if name in config]


def _range(parameter: Parameter, values: Sequence[Value]) -> str:
    """The values from the least to the largest, or which of a choice occur; nothing for none."""
    if not values:
        return ""
    if isinstance(domain_of(parameter), Choice):
        return listed(list(dict.fromkeys(map(value_text, values))), most=4)
    numbers = [value for value in values if isinstance(value, int | float)]
    return interval(min(numbers), max(numbers)) if numbers else ""
