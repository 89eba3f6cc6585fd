"""The pictures of stability: results by learning rate, and short trainings step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tunebook.charts.figures import Figure, Panel, Rule
from tunebook.charts.wording import limited, sentences
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.core.objective import Metric
from tunebook.core.representation import counted, number, one_line
from tunebook.procedures.pictures import curves_panel, sweep_panel, worst_end
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep


def picture(
    question: Question,
    subject: Subject,
    made: Sweep,
    readings: Mapping[int, Sequence[Reading]] | None = None,
    metric: Metric | None = None,
) -> tuple[Figure, ...]:
    """The sweep, and where there are any the short trainings at multiples of its best rate."""
    if not made.values:
        return ()
    objective = subject.study.objective.metric
    rules = []
    if made.best is not None:
        rules.append(Rule(made.best, "x", f"best, {number(made.best)}", dashed=False))
        rules.append(Rule(2 * made.best, "x", "twice that"))
    first = sweep_panel(
        made,
        objective.name,
        bad=worst_end(objective),
        rules=rules,
        title="Results of short trainings",
    )
    panels = [first]
    names = {_name(multiple): found for multiple, found in (readings or {}).items()}
    if metric is not None:
        panels += _steps(subject, names, metric)
    rows = [*_swept(made), *_short(names, metric)]
    table, cut = limited((made.parameter, "seed", objective.name, "what became of it"), rows)
    title = "Short trainings by learning rate"
    return (Figure(question.key, title, _sentence(made), tuple(panels), table, cut),)


def _steps(subject: Subject, names: Mapping[str, Sequence[Reading]], metric: Metric) -> list[Panel]:
    """The metric that shows it, then the objective and the norm of the gradient if there are."""
    wanted = (metric.name, subject.study.objective.metric.name, subject.knobs.grad_norm)
    found = (
        curves_panel(names, name, title=f"{one_line(name)} at every step")
        for name in dict.fromkeys(wanted)
        if name is not None
    )
    return [panel for panel in found if panel is not None]


def _name(multiple: int) -> str:
    return "best rate" if multiple == 1 else f"{multiple} times"


def _swept(made: Sweep) -> list[tuple[str, ...]]:
    return [
        (number(value), str(place), number(r.value), one_line(r.why) or "trained")
        for value, found in made.readings.items()
        for place, r in enumerate(found, 1)
    ]


def _short(names: Mapping[str, Sequence[Reading]], metric: Metric | None) -> list[tuple[str, ...]]:
    return [
        (f"{name}, every step", str(place), number(r.value), one_line(r.why) or _ended(r, metric))
        for name, found in names.items()
        for place, r in enumerate(found, 1)
    ]


def _ended(reading: Reading, metric: Metric | None) -> str:
    curve = reading.curve(metric.name) if metric is not None else None
    if curve is None or metric is None:
        return "trained"
    return f"{one_line(metric.name)} ended at {number(float(curve.values[-1]))}"


def _sentence(made: Sweep) -> str:
    lost = sum(r.value is None for found in made.readings.values() for r in found)
    rates = f"{number(made.values[0])} to {number(made.values[-1])}"
    best = "none works" if made.best is None else f"{number(made.best)} is best"
    crosses = f"{counted(lost, 'trial')} without a result {'is' if lost == 1 else 'are'} crossed."
    return sentences(f"Of {made.parameter} from {rates}, {best}.", crosses if lost else "")
