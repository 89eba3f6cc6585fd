"""Plain data as tables for a terminal of 80 columns."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tunebook.app import text
from tunebook.core.representation import config_text, counted, number, one_line, value_text

Data = dict[str, Any]
_STYLES = {"complete": "green", "infeasible": "yellow", "failed": "red", "crashed": "red"}


def console(*, stderr: bool = False) -> Console:
    """A console that takes texts as they are, and leaves out colours where none are wanted."""
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def plain(*names: str, right: tuple[str, ...] = ()) -> Table:
    """A table without lines."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def outcomes(counts: dict[str, int]) -> Text:
    """`28 complete, 2 infeasible`, each in its colour."""
    pieces = [_coloured(kind, f"{count} ") for kind, count in counts.items()]
    return Text(", ").join(pieces) if pieces else Text("none yet", style="dim")


def study(data: Data, most: int | None = None) -> RenderableType:
    """A study: a line on each of its best settings, its best trials, and those without a result."""
    objective = data["objective"]
    parts: list[RenderableType] = [_bold(data["study"])]
    if data["goal"]:
        parts.append(Text(text.lines(data["goal"])))
    parts.append(
        Text(f"{one_line(objective['metric'])}, {objective['better']} is better", style="dim")
    )
    parts += [Text(""), *_settings(data["settings"], objective["better"], most)]
    if data["best"]:
        parts += [Text(""), _bold("Best trials"), _best(data["best"], data["fixed"])]
    if data["not_complete"]:
        parts += [Text(""), _bold("Trials without a result"), _without(data["not_complete"])]
    return Group(*parts)


def trial(data: Data) -> RenderableType:
    """A trial: how it ended, its parameters, metrics and attempts."""
    title = _bold(f"{data['study']}/{data['trial']}")
    title.append(f"  {data['status']}", style=_STYLES.get(data["status"], ""))
    if data["value"] is not None:
        title.append(f"  {_shown(data['value'])} at step {data['step']}", style="not bold")
    facts = f"{text.duration(data['seconds'])}, seed {data['seed']}, {_code(data['code'])}"
    parameters = plain("parameter", "value")
    for name, value in data["params"].items():
        parameters.add_row(one_line(name), value_text(value))
    parts: list[RenderableType] = [title, Text(facts, style="dim")]
    for table in (parameters, _metrics(data["metrics"]), _attempts(data["attempts"])):
        if table.row_count:
            parts += [Text(""), table]
    if data["detail"]:
        parts += [Text(""), Text(text.lines(data["detail"].rstrip()))]
    return Group(*parts)


def comparison(data: Data) -> RenderableType:
    """Trials side by side, only where they differ."""
    trials = data["trials"]
    table = plain("", *(f"{one_line(trial['study'])}/{trial['trial']}" for trial in trials))
    table.add_row("status", *(trial["status"] for trial in trials))
    table.add_row("value", *(_shown(trial["value"]) for trial in trials))
    table.add_row("step", *(_or_dash(trial["step"]) for trial in trials))
    for name, row in data["differences"].items():
        table.add_row(one_line(name), *("-" if v is None else value_text(v) for v in row))
    equal = config_text(data["equal"])
    return Group(table, *([Text(f"Equal in all: {equal}", style="dim")] if equal else []))


def sheet(rows: list[Data]) -> RenderableType:
    """The book: a paragraph for each study."""
    if not rows:
        return Text("The book has no study yet.")
    parts: list[RenderableType] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and row["probe"] is not None and before["probe"] == row["probe"]:
            parts += _further(row, before)
        else:
            parts += [*([Text("")] if parts else []), *_paragraph(row)]
    return Group(*parts)


def _further(row: Data, before: Data) -> list[RenderableType]:
    """A further stage of a probe, which only says what is new about it."""
    title = _bold(row["study"])
    title.append("  ").append(outcomes(row["outcomes"]))
    title.stylize("not bold", len(one_line(row["study"])))
    asked = [] if row["goal"] == before["goal"] else [_grid([("goal", text.lines(row["goal"]))])]
    return [title, *asked]


def _paragraph(row: Data) -> list[RenderableType]:
    """A study, or the first stage of a probe."""
    title = _bold(row["study"])
    probe = row["probe"]
    if row["parent"]:
        title.append(f"  after {one_line(row['parent'])}", style="dim not bold")
    if probe is not None:
        told = f"  probe {one_line(probe['probe'])} of {one_line(probe['study'])}"
        title.append(told, style="dim not bold")
    facts: list[tuple[str, str | Text]] = [
        ("goal", text.lines(row["goal"])),
        ("note", text.lines(row["note"])),
        ("start", one_line(probe["start"]) if probe is not None else ""),
        ("file", one_line(row["file"] or "")),
        ("trials", outcomes(row["outcomes"])),
        ("best", "" if probe is not None else _result(row)),
        ("code", _code(row["code"]) + _not_kept(row)),
        ("reproduce", text.lines("\n".join(row["reproduce"]))),
    ]
    return [title, _grid(facts)]


def _grid(facts: list[tuple[str, str | Text]]) -> Table:
    """Facts with their labels, below a title; what is empty is left out."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", min_width=11)
    grid.add_column(overflow="fold")
    for label, content in facts:
        if content:
            grid.add_row(f"  {label}", content)
    return grid


def _result(row: Data) -> str | Text:
    best = row["best"]
    if best is None:
        return Text("none yet", style="dim")
    setting = config_text(best["setting"])
    where = f"trial {best['trial']}{f', {setting}' if setting else ''}"
    return f"{one_line(row['metric'])} {_shown(best['value'])} at step {best['step']} ({where})"


def _code(code: Data | None) -> str:
    if code is None:
        return ""
    if code["commit"] is None:
        return "not in a git repository"
    changes = " and uncommitted changes" if code["difference"] else ""
    return f"commit {code['commit'][:10]}{changes}"


def _not_kept(row: Data) -> str:
    lost = row["code"] and row["code"]["difference"] and not row["patch"]
    return " (too large to keep)" if lost else ""


def _settings(rows: list[Data], better: str, most: int | None) -> list[RenderableType]:
    left = 0 if most is None else max(len(rows) - most, 0)
    if left:
        rows = sorted(rows, key=lambda row: _rank(row["best"], better))[:most]
    table = plain("setting", "trials", "outcomes", "best", "step", "trial")
    for row in rows:
        found = row["best"] or {}
        table.add_row(
            config_text(row["setting"]) or "all",
            str(sum(row["outcomes"].values())),
            outcomes(row["outcomes"]),
            _shown(found.get("value")),
            _or_dash(found.get("step")),
            _or_dash(found.get("trial")),
        )
    return [
        table,
        *([Text(f"and {counted(left, 'more setting')}", style="dim")] if left else []),
    ]


def _rank(best: Data | None, better: str) -> float:
    if best is None or isinstance(best["value"], str):
        return math.inf
    return -best["value"] if better == "higher" else float(best["value"])


def _best(rows: list[Data], fixed: Data) -> Table:
    """The best trials with what distinguishes them; what is fixed is the same for all."""
    table = plain("trial", "value", "step", "parameters", right=("trial", "value", "step"))
    for row in rows:
        params = config_text({n: value for n, value in row["params"].items() if n not in fixed})
        table.add_row(str(row["trial"]), _shown(row["value"]), str(row["step"]), params)
    return table


def _without(rows: list[Data]) -> Table:
    table = plain("trial", "outcome", "reason", right=("trial",))
    for row in rows:
        reason = text.shorten(one_line(row["reason"]))
        table.add_row(str(row["trial"]), _coloured(row["status"]), reason)
    return table


def _metrics(metrics: dict[str, Data]) -> Table:
    table = plain("metric", "last", "lowest", "highest", "points", "last step")
    for name, row in metrics.items():
        values = (_shown(row[which]) for which in ("last", "lowest", "highest"))
        table.add_row(one_line(name), *values, str(row["points"]), str(row["last_step"]))
    return table


def _attempts(attempts: list[Data]) -> Table:
    table = plain("attempt", "outcome", "time", "what happened")
    for row in attempts:
        resumed = row["resumed_at"]
        facts = [f"resumed at step {resumed}"] if resumed is not None else []
        facts += [fact for fact in (row["reason"], *row["notes"]) if fact]
        table.add_row(
            str(row["attempt"]),
            _coloured(row["outcome"] or "running"),
            text.duration(row["seconds"]),
            one_line("; ".join(facts)),
        )
    return table


def _coloured(status: str, before: str = "") -> Text:
    return Text(f"{before}{status}", style=_STYLES.get(status, ""))


def _bold(content: str) -> Text:
    return Text(one_line(content), style="bold")


def _shown(value: float | str | None) -> str:
    return value if isinstance(value, str) else number(value)


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
