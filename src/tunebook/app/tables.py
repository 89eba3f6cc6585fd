"""Plain data as tables for a terminal of 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tunebook.app import text

Data = dict[str, Any]
_STYLES = {"complete": "green", "infeasible": "yellow", "failed": "red", "crashed": "red"}


def console(*, stderr: bool = False) -> Console:
    """A console that leaves colours out where they are not wished for, and never wraps words."""
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def study(data: Data) -> RenderableType:
    """A study: a line on each setting, then its best trials."""
    objective = data["objective"]
    head = [Text(text.safe(data["study"]), style="bold")]
    if data["goal"]:
        head.append(Text(text.safe(data["goal"])))
    head.append(Text(f"{objective['metric']}, {objective['better']} is better", style="dim"))
    parts: list[RenderableType] = [*head, settings(data["settings"])]
    if data["best"]:
        parts += [Text("Best trials", style="bold"), best(data["best"])]
    return Group(*parts)


def settings(rows: list[Data]) -> Table:
    table = _table("setting", "trials", "outcomes", "best", "step", "trial")
    for row in rows:
        found = row["best"] or {}
        table.add_row(
            text.config(row["setting"]) or "all",
            str(sum(row["outcomes"].values())),
            outcomes(row["outcomes"]),
            text.number(found.get("value")),
            _or_dash(found.get("step")),
            _or_dash(found.get("trial")),
        )
    return table


def best(rows: list[Data]) -> Table:
    table = _table("trial", "value", "step", "parameters", right=("trial", "value", "step"))
    for row in rows:
        params = text.config(row["params"])
        table.add_row(str(row["trial"]), text.number(row["value"]), str(row["step"]), params)
    return table


def outcomes(counts: dict[str, int]) -> Text:
    """`28 complete, 2 infeasible`, each in its colour."""
    pieces = [
        Text(f"{count} {kind}", style=_STYLES.get(kind, "")) for kind, count in counts.items()
    ]
    return Text(", ").join(pieces) if pieces else Text("none yet", style="dim")


def trial(data: Data) -> RenderableType:
    """A trial: how it ended, its parameters, metrics and attempts."""
    title = Text(f"{text.safe(data['study'])}/{data['trial']}  ", style="bold")
    title.append(data["status"], style=_STYLES.get(data["status"], ""))
    if data["reason"]:
        title.append(f": {text.safe(data['reason'])}", style="not bold")
    parts: list[RenderableType] = [title]
    if data["value"] is not None:
        parts.append(Text(f"result {text.number(data['value'])} at step {data['step']}"))
    parts.append(Text(f"seed {data['seed']}, {text.duration(data['seconds'])}", style="dim"))
    parameters = _table("parameter", "value")
    for name, item in data["params"].items():
        parameters.add_row(name, text.value(item))
    parts.append(parameters)
    if data["metrics"]:
        parts.append(_metrics(data["metrics"]))
    parts.append(_attempts(data["attempts"]))
    if data["detail"]:
        parts.append(Text(text.safe(data["detail"].rstrip())))
    return Group(*parts)


def comparison(data: Data) -> RenderableType:
    """Trials side by side, only where they differ."""
    names = [f"{trial['study']}/{trial['trial']}" for trial in data["trials"]]
    table = _table("", *names)
    table.add_row("status", *(trial["status"] for trial in data["trials"]))
    table.add_row("value", *(text.number(trial["value"]) for trial in data["trials"]))
    table.add_row("step", *(_or_dash(trial["step"]) for trial in data["trials"]))
    table.add_section()
    for name, row in data["differences"].items():
        table.add_row(name, *("-" if item is None else text.value(item) for item in row))
    equal = f"Equal in all: {text.config(data['equal'])}" if data["equal"] else ""
    return Group(table, Text(equal, style="dim"))


def sheet(rows: list[Data]) -> RenderableType:
    """The book: a paragraph for each study."""
    return Group(*(part for row in rows for part in _paragraph(row)))


def _paragraph(row: Data) -> list[RenderableType]:
    title = Text(text.safe(row["study"]), style="bold")
    if row["parent"]:
        title.append(f"  after {text.safe(row['parent'])}", style="dim not bold")
    best = row["best"]
    result = Text("none yet", style="dim")
    if best["trial"] is not None:
        setting = text.config(best["setting"])
        where = f"trial {best['trial']}{f', {setting}' if setting else ''}"
        result = Text(
            f"{row['metric']} {text.number(best['value'])} at step {best['step']} ({where})"
        )
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", min_width=10)
    grid.add_column(overflow="fold")
    for label, content in (
        ("goal", row["goal"]),
        ("note", row["note"]),
        ("file", row["file"]),
        ("trials", outcomes(row["outcomes"])),
        ("best", result),
        ("reproduce", row["reproduce"]),
        ("code", _code(row)),
    ):
        if content:
            grid.add_row(f"  {label}", text.safe(content) if isinstance(content, str) else content)
    return [title, grid, Text("")]


def _code(row: Data) -> str:
    code = row["code"]
    if not code or not code["commit"]:
        return "not under version control" if code else ""
    changes = f" with uncommitted changes ({row['patch'] or 'too large to keep'})"
    return f"{code['commit'][:10]}{changes if code['difference'] else ''}"


def _metrics(metrics: dict[str, Data]) -> Table:
    table = _table("metric", "last", "lowest", "highest", "points", "last step")
    for name, row in metrics.items():
        last = row["last"]
        table.add_row(
            text.safe(name),
            last if isinstance(last, str) else text.number(last),
            text.number(row["lowest"]),
            text.number(row["highest"]),
            str(row["points"]),
            str(row["last_step"]),
        )
    return table


def _attempts(attempts: list[Data]) -> Table:
    table = _table("attempt", "outcome", "time", "reason")
    for row in attempts:
        reason = row["reason"]
        if row["resumed_at"] is not None:
            reason = f"resumed at step {row['resumed_at']}; {reason}"
        table.add_row(
            str(row["attempt"]),
            row["outcome"] or "running",
            text.duration(row["seconds"]),
            text.safe("; ".join([reason, *row["notes"]])),
        )
    return table


def _table(*names: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
