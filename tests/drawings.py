"""Figures of every mark, for the tests of whatever draws them."""

from __future__ import annotations

import numpy as np

from tunebook.charts.figures import (
    Axis,
    Band,
    Bars,
    Figure,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Rule,
    Table,
    Text,
    Tiles,
)

LONG = "augmentation.random_erasing.probability_of_erasing_a_rectangle"
HOSTILE = "<img src=x onerror=alert(1)>\u202e</script>\x1b[31m&\"'$\\frac{"


def figure_of(*panels: Panel, key: str = "sample", note: str = "") -> Figure:
    table = Table(("a",), (("1",),))
    return Figure(key, "A title", "A sentence that says it.", panels, table, note)


def panel_of(*marks: Mark, x: Axis | None = None, y: Axis | None = None) -> Panel:
    return Panel(x or Axis("learning rate"), y or Axis("validation error"), marks)


def scatter() -> Figure:
    x = np.logspace(-4, -1, 30)
    y = np.log10(x) ** 2
    marks = (
        Points(x, y, 0, "complete", tuple(f"trial {i}" for i in range(30))),
        Points(x[25:], np.full(5, np.inf), 1, "infeasible", crosses=True),
        Points(x[:3], y[:3] + 1, 2, "stopped", hollow=True, weight="faint"),
        Points(x[:1], [np.nan], 3, weight="strong"),
        Rule(0.05, "x", "edge of the space"),
        Rule(4.0, "y", "baseline", dashed=False),
        Text(1e-3, 4.0, "here", "start"),
    )
    return figure_of(panel_of(*marks, x=Axis("learning rate", "log")), key="scatter")


def curves() -> Figure:
    steps = np.arange(0.0, 60.0)
    values = np.exp(-steps / 20)
    broken = np.where(np.arange(60) % 20 == 10, np.nan, values * 2)
    marks = (
        Band(steps, values * 0.8, values * 1.2, 0, "depth 2"),
        Line(steps, values, 0, "depth 2", weight="strong"),
        Line(steps, broken, 1, "depth 3", label="trial 7"),
        Line(steps, values * 3, 2, "stairs", steps=True, weight="faint"),
        Line(steps, values * 4, 2, "fit", dashed=True),
    )
    panels = [Panel(Axis("step"), Axis("loss", scale), marks, scale) for scale in ("linear", "log")]
    return figure_of(*panels, key="curves")


def bars() -> Figure:
    edges = np.linspace(0, 1, 6)
    counts = np.array([1.0, 4, 9, 0, 2])
    marks = tuple(
        Bars(edges[:-1], edges[1:], counts + group, np.zeros(5), group, f"seed {group}", ("one",))
        for group in range(3)
    )
    return figure_of(panel_of(*marks), key="bars")


def timeline() -> Figure:
    slots = Axis("", "category", categories=("slot 0", LONG, HOSTILE))
    row = np.arange(3.0)
    bar = Bars(row * 10, row * 10 + 8, row + 0.35, row - 0.35, 0, "complete", ("a", "b", "c"))
    return figure_of(panel_of(bar, x=Axis("seconds"), y=slots), key="timeline")


def effects() -> Figure:
    names = Axis("", "category", categories=("dropout", LONG, HOSTILE))
    value = np.array([-0.1, 0.0, 0.2])
    row = np.arange(3.0)
    forest = Intervals(value, row, value - 0.05, value + 0.1, 0, "90% interval", ("a", "b", "c"))
    upright = Intervals(row, value, value - 0.05, value + 0.1, 1, "95% interval")
    panels = (panel_of(forest, Rule(0.0, "x", "no change"), y=names), panel_of(upright))
    return figure_of(*panels, key="effects")


def tiles() -> Figure:
    names = Axis("", "category", categories=("lr", "momentum", LONG))
    values = np.array([[0.0, 0.5, 1.0], [0.2, np.nan, 0.4], [1.0, 0.3, 0.6]])
    labels = tuple(tuple(f"{value:.1f}" for value in row) for row in values)
    return figure_of(panel_of(Tiles(values, labels), x=names, y=names), key="tiles")


def parallel() -> Figure:
    names = tuple(f"{LONG} {i}" for i in range(6))
    rows = np.random.default_rng(0).uniform(size=(40, 6))
    marks = tuple(Line(np.arange(6.0), row, 0, "trials", weight="faint") for row in rows)
    axis = Axis("", "category", categories=names)
    return figure_of(panel_of(*marks, x=axis, y=Axis("share", low=0, high=1)), key="parallel")


def many(panels: int) -> Figure:
    point = Points(np.arange(5.0), np.arange(5.0), 0, "trials")
    made = [Panel(Axis("x"), Axis("y"), (point,), f"panel {i}") for i in range(panels)]
    return figure_of(*made, key=f"many-{panels}")


def empty() -> Figure:
    nothing = np.array([])
    marks = (
        Points(nothing, nothing),
        Line(nothing, nothing),
        Band(nothing, nothing, nothing),
        Intervals(nothing, nothing, nothing, nothing),
        Bars(nothing, nothing, nothing, nothing),
        Line(np.full(3, np.nan), np.full(3, np.nan)),
    )
    log = Axis("y", "log")
    none = Axis("", "category")
    panels = (panel_of(*marks), panel_of(*marks, y=log), panel_of(*marks, x=none, y=none))
    return figure_of(*panels, key="empty")


def hostile() -> Figure:
    axis = Axis(HOSTILE, "category", categories=(HOSTILE, "b"))
    marks = (
        Points(np.zeros(1), np.zeros(1), 0, HOSTILE, (HOSTILE,)),
        Line(np.arange(2.0), np.arange(2.0), 0, HOSTILE, HOSTILE),
        Text(0.0, 0.5, HOSTILE),
    )
    panel = Panel(axis, Axis(HOSTILE), marks, HOSTILE)
    return Figure(HOSTILE, HOSTILE, HOSTILE, (panel,), Table((), ()), HOSTILE)


def samples() -> dict[str, Figure]:
    """One figure of each kind, by name."""
    makers = (scatter, curves, bars, timeline, effects, tiles, parallel, empty, hostile)
    made = {maker.__name__: maker() for maker in makers}
    return made | {"none": figure_of(key="none"), "many": many(7)}
