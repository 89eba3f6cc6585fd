"""The report on a terminal: findings first, worst first, in lines of 80 columns."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tunebook.charts import textual
from tunebook.charts.figures import Band, Figure, Intervals, Line, Panel, Points, Rule
from tunebook.core.findings import Verdict
from tunebook.core.representation import config_text, counts_text, number, one_line
from tunebook.report import pairing, wording
from tunebook.report.making import Comparison, Report, Row, Whole

WIDTH: Final = 80
MOST_SHOWN: Final = 5
# Of a study the picture of its worst finding is enough; those of a probe are its answer.
MOST_PICTURES: Final = 3
MOST_PANELS: Final = 2
PLOT_HEIGHT: Final = 7
_STYLES: Final = {
    Verdict.PROBLEM: "bold red",
    Verdict.WATCH: "yellow",
    Verdict.UNKNOWN: "cyan",
    Verdict.GOOD: "green",
}


def text(report: Report, width: int = WIDTH) -> str:
    """The report as plain text, without colours."""
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        print_to(console, report)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def screen(report: Report, where: str = "") -> RenderableType:
    """The report for a console, which decides on colours.

    `where` is the option with which further commands find the same book.
    """
    parts = [_header(report), _findings(report)]
    parts += [_titled(figure.title, *_plots(figure)) for figure in chosen(report)]
    if len(report.arms) > 1 and not report.is_of_probe:
        parts.append(_titled("Settings", _arms(report)))
    # The trials of a probe are no rivals: what they say is in its answers.
    if report.best and not report.is_of_probe:
        parts.append(_titled("Best trials", _best(report)))
    if report.comparison:
        parts.append(_comparison(report, report.comparison))
    if report.whole.changes:
        parts.append(_proposed(report.whole))
    parts.append(_farewell(report, where))
    return Group(*(piece for part in parts for piece in (part, Text(""))), fit=True)


def print_to(console: Console, report: Report, where: str = "") -> None:
    """Print the report; what must be copied whole may be longer than a line."""
    console.print(screen(report, where), crop=False)


def chosen(report: Report) -> tuple[Figure, ...]:
    """The few pictures that help in text: of the worst finding, and of the search as a whole.

    Those of a probe are its answers.
    """
    known = {figure.key: figure for figure in report.figures}
    found = [f for f in pairing.beside(report).values() if _suits_text(f, report.is_of_probe)]
    overall = next((known[key] for key in ("best-so-far", "best-of-k") if key in known), None)
    most = MOST_PICTURES if report.is_of_probe else 1
    shown = [*found[:most], *([overall] if overall else [])]
    return tuple({figure.key: figure for figure in shown}.values())


def _suits_text(figure: Figure, of_probe: bool = False) -> bool:
    """Points and lines on plain axes do; what needs names along its axes, or colours, does not.

    Those of a probe are few, and may have whiskers.
    """
    kinds = (Points, Line, Band, Rule, *((Intervals,) if of_probe else ()))
    drawn = all(isinstance(mark, kinds) for panel in _drawn(figure) for mark in panel.marks)
    return drawn and (of_probe or len(figure.panels) == 1)


def _drawn(figure: Figure) -> tuple[Panel, ...]:
    """The first panels, which say most."""
    return figure.panels[:MOST_PANELS]


def _plots(figure: Figure) -> list[Text]:
    return [_plot(panel) for panel in _drawn(figure)]


def _plot(panel: Panel) -> Text:
    drawn = textual.text(panel, WIDTH - 4, PLOT_HEIGHT)
    safe = "".join(c if c.isprintable() or c == "\n" else "?" for c in drawn)
    return Text(safe, no_wrap=True, overflow="crop")


def _proposed(whole: Whole) -> Group:
    lines = [Text(f"  {_safe(line)}") for line in whole.changes]
    if whole.retune:
        lines.append(Text(f"To be tuned again after that: {one_line(', '.join(whole.retune))}"))
    return _titled("Proposed changes of the study", *lines)


def _safe(line: str) -> str:
    """A line of a file as it is, its indent included; a tab is four blanks."""
    return "".join(c if c.isprintable() else "?" for c in line.expandtabs(4))


def _header(report: Report) -> RenderableType:
    study = report.study
    lines = [Text(one_line(report.name), style="bold")]
    if study.goal:
        lines.append(Text(one_line(study.goal)))
    grid = _grid(7)
    grid.add_row(Text("judged", style="dim"), wording.objective(report.objective))
    grid.add_row(Text("trials", style="dim"), wording.state(report))
    if report.best and not report.is_of_probe:
        grid.add_row(Text("best", style="dim"), _winner(report, report.best[0]))
    answer = wording.answer(report)
    if answer:
        grid.add_row(Text("answer", style="dim"), answer)
    tense = wording.tense(report)
    return Group(*lines, grid, *([Text(tense, style="italic")] if tense else []))


def _winner(report: Report, row: Row) -> str:
    params = wording.searched(report, row)
    return f"{wording.result(row)}, trial {row.number}{f': {params}' if params else ''}"


def _findings(report: Report) -> RenderableType:
    if not report.findings:
        return Text(wording.NO_FINDINGS)
    grid = _grid(9)
    said = [
        (finding.verdict, one_line(finding.sentence), finding.advice) for finding in report.raised
    ]
    said += [(Verdict.UNKNOWN, *pair) for pair in wording.unknown(report)]
    for verdict, sentence, advice in said:
        grid.add_row(_mark(verdict), sentence)
        if advice:
            grid.add_row("", _advice(advice))
    for line in wording.good(report.calm):
        grid.add_row(_mark(Verdict.GOOD), line)
    return Group(Text(wording.tally(report), style="bold"), grid)


def _mark(verdict: Verdict) -> Text:
    return Text(f"{wording.MARKS[verdict]} {verdict}", style=_STYLES[verdict])


def _advice(advice: str) -> RenderableType:
    inner = Table.grid(padding=(0, 1, 0, 0))
    inner.add_column(width=1)
    inner.add_column(overflow="fold")
    inner.add_row(Text("→", style="dim"), one_line(advice))
    return inner


def _arms(report: Report) -> Table:
    table = _table("setting", "trials", "best", "trial", right=("best", "trial"))
    for arm in report.arms:
        best = arm.best
        table.add_row(
            config_text(arm.setting.config),
            counts_text(arm.outcomes),
            number(best.value if best else None),
            str(best.number) if best else "-",
        )
    return table


def _best(report: Report) -> Table:
    table = _table("trial", "value", "step", "parameters", right=("trial", "value", "step"))
    for row in report.best[:MOST_SHOWN]:
        table.add_row(
            str(row.number), number(row.value), str(row.step), wording.searched(report, row)
        )
    return table


def _comparison(report: Report, comparison: Comparison) -> RenderableType:
    other = comparison.other
    table = _table("", report.study.name, other.study.name)
    for row in wording.compared_rows(report, other):
        table.add_row(*row)
    parts: list[RenderableType] = [Text(wording.compared(report, comparison)), table]
    if comparison.differences:
        parts.append(Text("What differs between them:"))
        parts += [Text(f"  {one_line(line)}") for line in comparison.differences]
    return _titled(f"Compared with {other.study.name}", *parts)


def _farewell(report: Report, where: str) -> RenderableType:
    name = one_line(report.name)
    grid = _grid(5)
    # Of a probe, every answer has its advice with it.
    advice = "" if report.is_of_probe else wording.first_advice(report)
    if advice:
        grid.add_row(Text("Next:", style="bold"), advice)
    commands = [f"tunebook report {name} --html report.html{where}"]
    if report.best and not report.is_of_probe:
        commands.append(f"tunebook show {name} {report.best[0].number}{where}")
    # Wrapped, they could not be copied: see `print_to`.
    lines = [
        Text(f"{'More:' if i == 0 else '':<7}{command}", no_wrap=True, overflow="ignore")
        for i, command in enumerate(commands)
    ]
    return Group(*([grid] if advice else []), *lines)


def _titled(title: str, *parts: RenderableType) -> Group:
    return Group(Text(one_line(title), style="bold"), *parts)


def _grid(first: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=first, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _table(*names: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table
