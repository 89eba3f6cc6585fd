"""A run on the screen: one live table on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tunebook.app import tables, text
from tunebook.app.progress import Display, Progress, SettingProgress
from tunebook.core.events import Event, Finished, Noted
from tunebook.core.objective import Measure
from tunebook.core.representation import config_text, counted, number, one_line
from tunebook.core.results import RUNNING
from tunebook.core.study import Study
from tunebook.core.trials import OutcomeKind

REDRAW_SECONDS = 0.25
# Besides the settings, the live table has a title, a bar, a heading and two lines at its end.
_OTHER_LINES = 6


class Silent:
    """Shows nothing at all."""

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[Callable[[Event], None]]:
        yield lambda event: None

    def notice(self, text: str) -> None:
        """Nothing to show."""


class Lines:
    """A plain line for each trial that ends."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[Callable[[Event], None]]:
        workers = counted(progress.workers, "worker")
        done = f"{progress.ended} of {progress.total} trials done"
        self.notice(f"{progress.study.name}: {done}, {workers}")

        def show(event: Event) -> None:
            measure = progress.note(event)
            if isinstance(event, Finished):
                self.notice(f"[{progress.ended}/{progress.total}] {_ended(event, measure)}")
            elif isinstance(event, Noted):
                self.notice(_noted(event))

        yield show

    def notice(self, text: str) -> None:
        self._console.print(Text(one_line(text)), soft_wrap=True)


class LiveTable:
    """One table that is redrawn in place, with what must not be missed above it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[Callable[[Event], None]]:
        drawn = time.monotonic()
        with Live(
            self._table(progress), console=self._console, auto_refresh=False, transient=True
        ) as live:

            def show(event: Event) -> None:
                nonlocal drawn
                progress.note(event)
                for line in news(event):
                    self.notice(line)
                if time.monotonic() - drawn > REDRAW_SECONDS:
                    drawn = time.monotonic()
                    live.update(self._table(progress), refresh=True)

            yield show

    def notice(self, text: str) -> None:
        self._console.print(Text(one_line(text)))

    def _table(self, progress: Progress) -> RenderableType:
        return table(progress, self._console.height - _OTHER_LINES)


def table(progress: Progress, most: int) -> RenderableType:
    """The live table: at most so many settings, their outcomes, the best so far, the time left."""
    title = Text(one_line(progress.study.name), style="bold")
    title.append(f"  {state(progress)}", style="not bold")
    bar = Table.grid()
    bar.add_row(ProgressBar(total=max(progress.total, 1), completed=progress.ended, width=60))
    rows = tables.plain(*heading(progress))
    shown, left = chosen(progress, most)
    for setting in shown:
        counts = dict(setting.counts)
        running = str(counts.pop(RUNNING, 0))
        done = f"{setting.ended}/{setting.total}"
        rows.add_row(name(setting), done, running, tables.outcomes(counts), best(setting))
    # A short last line, since the terminal writes "^C" behind it: that must not begin a new one.
    last = Text("Ctrl-C stops; the same command continues", style="dim")
    return Group(title, bar, rows, *([Text(left, style="dim")] if left else []), last)


def heading(progress: Progress) -> tuple[str, ...]:
    """The heads of the columns of a run."""
    metric = one_line(progress.study.objective.metric.name)
    return ("setting", "done", "running", "outcomes", f"best {metric}")


def state(progress: Progress) -> str:
    """How far a run is, and how long it will take."""
    parts = [f"{progress.ended} of {progress.total} trials", text.duration(progress.seconds)]
    left = progress.seconds_left
    if left:
        parts.append(f"about {text.duration(left)} left")
    elif not progress.has_started and progress.ended < progress.total:
        named = _program(progress.study)
        parts.append(f"loading {one_line(named)}")
    return ", ".join(parts)


def _program(study: Study) -> str:
    command = str(study.command) if study.command else "the program"
    return study.program or study.task or command


def chosen(progress: Progress, most: int) -> tuple[list[SettingProgress], str]:
    """The settings to show: all, or the best ones and how many more there are."""
    settings = list(progress.settings.values())
    if len(settings) <= most:
        return settings, ""
    loss = progress.study.objective.metric.loss
    settings.sort(key=lambda s: loss(s.best[1].value) if s.best else float("inf"))
    return settings[:most], f"and {counted(len(settings) - most, 'more setting')}"


def name(setting: SettingProgress) -> str:
    return config_text(setting.setting.config) or "all"


def best(setting: SettingProgress) -> str:
    if setting.best is None:
        return "-"
    trial, measure = setting.best
    return f"{number(measure.value)} (trial {trial}, step {measure.step})"


def news(event: Event) -> list[str]:
    """What a user should be told at once, even where a table shows the rest."""
    if isinstance(event, Noted):
        return [_noted(event)]
    broken = (OutcomeKind.FAILED, OutcomeKind.CRASHED)
    if isinstance(event, Finished) and event.outcome.kind in broken:
        return [_ended(event, None)]
    return []


def choose(quiet: bool, machine: bool) -> Display:
    """The display for this screen; what machines read goes to standard output alone."""
    if quiet:
        return Silent()
    if _in_notebook():
        from tunebook.app.notebook import NotebookTable

        return NotebookTable()
    console = tables.console(stderr=True)
    live = console.is_terminal and not console.is_dumb_terminal and not machine
    return LiveTable(console) if live else Lines(console)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _noted(event: Noted) -> str:
    return f"{event.attempt.name}: {event.text}"


def _ended(event: Finished, measure: Measure | None) -> str:
    trial, outcome = event.attempt.trial, event.outcome
    setting = f" ({config_text(trial.setting.config)})" if trial.setting.values else ""
    what = outcome.reason
    if measure is not None:
        what = f"{number(measure.value)} at step {measure.step}"
    return f"trial {trial.number}{setting} {outcome.kind}: {what} [{text.duration(event.seconds)}]"
