"""Two studies side by side: their best curves, their best of k, their values along parameters."""

from __future__ import annotations

import numpy as np

from tunebook.charts.axes import searched
from tunebook.charts.curves import LINE_POINTS, ending, line_of, step_label
from tunebook.charts.figures import Axis, Figure, Line, Mark, Panel, Points
from tunebook.charts.progress import best_axis, curve_marks, curve_of
from tunebook.charts.ranges import parameter_axis, position, value_axis
from tunebook.charts.selection import BEST_CURVES, MOST_POINTS, setting_text, shown, tooltip
from tunebook.charts.wording import change, limited, metric_label, sentences
from tunebook.core.evidence import Arm, Evidence
from tunebook.core.representation import counted, listed, number, one_line
from tunebook.core.space import Parameter

Pair = tuple[Evidence, Evidence]


def compare(one: Evidence, other: Evidence) -> tuple[Figure, ...]:
    """The figures that two studies share; none where their metrics differ."""
    if one.objective.metric != other.objective.metric:
        return ()
    made = (_curves((one, other)), _best_of_k((one, other)), _axes((one, other)))
    return tuple(figure for figure in made if figure is not None)


def _names(pair: Pair) -> tuple[str, str]:
    first, second = (one_line(evidence.study.name) for evidence in pair)
    return (f"{first} (1)", f"{second} (2)") if first == second else (first, second)


def _curves(pair: Pair) -> Figure | None:
    metric = pair[0].objective.metric.name
    marks: list[Mark] = []
    for group, (evidence, name) in enumerate(zip(pair, _names(pair), strict=True)):
        for rank, reading in enumerate(evidence.ranked[:BEST_CURVES]):
            curve = reading.curve(metric)
            if curve is not None:
                x, y = line_of(ending(curve), LINE_POINTS)
                text = f"{name}, {tooltip(evidence, reading)}"
                marks.append(
                    Line(x, y, group, label=text)
                    if rank
                    else Line(x, y, group, name, text, "strong")
                )
    if not marks:
        return None
    values = np.concatenate([mark.y for mark in marks if isinstance(mark, Line)])
    panel = Panel(Axis(step_label(pair[0])), value_axis(one_line(metric), values), tuple(marks))
    table, cut = limited(
        ("study", "trials", "measured", "best trial", "best"),
        [
            (name, str(len(e.readings)), str(len(e.ranked)), *_best(e))
            for name, e in zip(_names(pair), pair, strict=True)
        ],
    )
    note = f"The best {BEST_CURVES} trials of each study; the very best are strong."
    return Figure(
        "compare-curves",
        "Curves of the best trials of both studies",
        _which(pair),
        (panel,),
        table,
        sentences(note, cut),
    )


def _best_of_k(pair: Pair) -> Figure | None:
    marks: list[Mark] = []
    rows = []
    found = []
    for group, (evidence, name) in enumerate(zip(pair, _names(pair), strict=True)):
        arm = _best_arm(evidence)
        curve = curve_of(arm) if arm is not None else None
        if arm is None or curve is None or not np.isfinite(curve.quantile[-1]):
            return None
        several = len(evidence.arms) > 1
        title = f"{name}, {setting_text(arm.setting)}" if several else name
        marks += curve_marks(arm, curve, group, title)
        found.append((title, curve, arm))
    most = min(int(curve.ks[-1]) for _, curve, _ in found)
    turn = 1 if pair[0].objective.metric.better == "lower" else -1
    at = [turn * float(curve.quantile[most - 1]) for _, curve, _ in found]
    rows = [
        (title, str(most), number(value)) for (title, _, _), value in zip(found, at, strict=True)
    ]
    table, cut = limited(("study", "k", "median best"), rows)
    better = int(pair[0].objective.metric.is_better(at[1], at[0]))
    text = (
        f"After equally many trials, {most}, the median best is {number(at[0])} and {number(at[1])}"
    )
    verdict = f"{found[better][0]} is {change(*at)} better" if at[0] != at[1] else "they are equal"
    return Figure(
        "compare-best-of-k",
        "Best of k trials in both studies",
        f"{text}: {verdict}.",
        (Panel(Axis("k, trials"), best_axis(pair[0], marks), tuple(marks)),),
        table,
        sentences("Bands hold for all k at once with 95% confidence, for each study.", cut),
    )


def _axes(pair: Pair) -> Figure | None:
    first, second = searched(pair[0]), {p.name: p for p in searched(pair[1])}
    shared = [(p, second[p.name]) for p in first if p.name in second]
    same = [p for p, q in shared if type(p.source) is type(q.source) and _comparable(p, q)]
    panels = [panel for p in same if (panel := _panel(pair, p, second[p.name])) is not None]
    if not panels:
        return None
    rows = [(one_line(p.name), *(_best_value(evidence, p) for evidence in pair)) for p in same]
    table, cut = limited(("parameter", *_names(pair)), rows)
    left = {p.name for p in (*first, *second.values())} - {p.name for p in same}
    moved = [f"{name} from {a} to {b}" for name, a, b in rows if a != b]
    text = (
        f"The best trial moved in {listed(moved, most=4)}." if moved else "The best trials agree."
    )
    return Figure(
        "compare-axes",
        "Results of both studies along the parameters they share",
        text,
        tuple(panels),
        table,
        sentences(
            f"Not searched alike in both: {listed(sorted(left), most=4)}." if left else "", cut
        ),
    )


def _comparable(one: Parameter, other: Parameter) -> bool:
    """Choices must be the same; ranges may have moved."""
    a, b = parameter_axis(one), parameter_axis(other)
    return a.scale == b.scale and a.categories == b.categories


def _panel(pair: Pair, one: Parameter, other: Parameter) -> Panel | None:
    marks: list[Mark] = []
    for group, (evidence, name, parameter) in enumerate(
        zip(pair, _names(pair), (one, other), strict=True)
    ):
        best, rest = shown(evidence.ranked, MOST_POINTS // 2)
        drawn = [r for r in (*best, *rest) if parameter.name in r.record.trial.config]
        if drawn:
            x = [position(parameter, r.record.trial.config[parameter.name]) for r in drawn]
            y = np.array([r.value for r in drawn], dtype=np.float64)
            labels = tuple(f"{name}, {tooltip(evidence, r)}" for r in drawn)
            marks.append(Points(np.array(x), y, group, name, labels))
    if not marks:
        return None
    axes = parameter_axis(one), parameter_axis(other)
    ends = [end for axis in axes for end in (axis.low, axis.high) if end is not None]
    x_axis = Axis(
        axes[0].label,
        axes[0].scale,
        min(ends, default=None),
        max(ends, default=None),
        axes[0].categories,
    )
    values = [reading.value or 0.0 for evidence in pair for reading in evidence.ranked]
    y_axis = value_axis(metric_label(pair[0].objective), values)
    return Panel(x_axis, y_axis, tuple(marks), axes[0].label)


def _best_arm(evidence: Evidence) -> Arm | None:
    best = evidence.best
    arms = [a for a in evidence.arms if best and a.setting == best.record.trial.setting]
    return arms[0] if arms else None


def _best(evidence: Evidence) -> tuple[str, str]:
    best = evidence.best
    return ("-", "-") if best is None else (str(best.number), number(best.value))


def _best_value(evidence: Evidence, parameter: Parameter) -> str:
    best = evidence.best
    config = best.record.trial.config if best else {}
    value = config.get(parameter.name)
    return "-" if value is None else number(value) if isinstance(value, float) else str(value)


def _which(pair: Pair) -> str:
    names, bests = _names(pair), [evidence.best for evidence in pair]
    if bests[0] is None or bests[1] is None:
        has = names[0] if bests[0] is not None else names[1]
        return f"Only {has} has a result."
    values = [best.value or 0.0 for best in bests if best is not None]
    shown = [f"{number(value)} in {name}" for value, name in zip(values, names, strict=True)]
    text = f"The best results are {listed(shown, most=4)}"
    if values[0] == values[1]:
        return f"{text}."
    better = names[int(pair[0].objective.metric.is_better(values[1], values[0]))]
    counts = f"{len(pair[0].ranked)} and {counted(len(pair[1].ranked), 'trial')} with a result"
    return f"{text} ({counts}): {better} is {change(*values)} better."
