"""A run on the screen: one live table on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tunebook.app import tables, text
from tunebook.app.progress import Progress
from tunebook.core.events import Event, Finished, Noted
from tunebook.core.results import RUNNING
from tunebook.core.trials import OutcomeKind

_REDRAW_SECONDS = 0.25


class Silent:
    """Shows nothing but what the user must know."""

    def begin(self, progress: Progress) -> None:
        """Nothing to show."""

    def show(self, event: Event) -> None:
        """Nothing to show."""

    def notice(self, text: str) -> None:
        """Nothing to show."""

    def end(self) -> None:
        """Nothing to show."""


class Lines:
    """A plain line for each trial that ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None

    def begin(self, progress: Progress) -> None:
        self._progress = progress
        workers = "1 worker" if progress.workers == 1 else f"{progress.workers} workers"
        self._print(
            f"{progress.study.name}: {progress.ended} of {progress.total} trials done, {workers}"
        )

    def show(self, event: Event) -> None:
        progress = self._progress
        if progress is None:
            return
        measure = progress.note(event)
        if isinstance(event, Noted):
            self._print(f"{event.attempt.name}: {event.text}")
        elif isinstance(event, Finished):
            metric = progress.study.objective.metric.name
            what = event.outcome.reason
            if measure is not None:
                what = f"{metric} {text.number(measure.value)} at step {measure.step}"
            trial = event.attempt.trial
            self._print(
                f"[{progress.ended}/{progress.total}] trial {trial.number} "
                f"({trial.setting}) {event.outcome.kind}: {what} "
                f"[{text.duration(event.seconds)}]"
            )

    def notice(self, text: str) -> None:
        self._print(text)

    def end(self) -> None:
        """Every line is out already."""

    def _print(self, line: str) -> None:
        self._console.print(Text(text.safe(line)), soft_wrap=True)


class LiveTable:
    """One table that is redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._drawn = 0.0

    def begin(self, progress: Progress) -> None:
        self._progress = progress
        self._live = Live(
            table(progress), console=self._console, auto_refresh=False, transient=True
        )
        self._live.start(refresh=True)

    def show(self, event: Event) -> None:
        if self._progress is None or self._live is None:
            return
        self._progress.note(event)
        if isinstance(event, Noted):
            self.notice(f"{event.attempt.name}: {event.text}")
        elif isinstance(event, Finished) and event.outcome.kind in (
            OutcomeKind.FAILED,
            OutcomeKind.CRASHED,
        ):
            self.notice(
                f"trial {event.attempt.trial.number} {event.outcome.kind}: {event.outcome.reason}"
            )
        if time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._drawn = time.monotonic()
            self._live.update(table(self._progress), refresh=True)

    def notice(self, text_: str) -> None:
        self._console.print(Text(text.safe(text_)))

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()


def table(progress: Progress) -> RenderableType:
    """The live table: settings, their counts by outcome, the best so far, the time left."""
    objective = progress.study.objective.metric
    rows = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("setting", "done", "running", "outcomes", f"best {text.safe(objective.name)}"):
        rows.add_column(name, overflow="fold")
    for setting in progress.settings.values():
        counts = dict(setting.counts)
        running = counts.pop(RUNNING, 0)
        found = "-"
        if setting.best is not None:
            number, measure = setting.best
            found = f"{text.number(measure.value)} at step {measure.step} (trial {number})"
        rows.add_row(
            text.safe(str(setting.setting)),
            f"{setting.ended}/{setting.total}",
            str(running),
            tables.outcomes(counts),
            found,
        )
    left = progress.seconds_left
    times = f"{text.duration(progress.seconds)} elapsed"
    if left is not None:
        times += f", about {text.duration(left)} left"
    title = Text(text.safe(progress.study.name), style="bold")
    title.append(f"  {progress.ended} of {progress.total} trials, {times}", style="not bold")
    bar = ProgressBar(total=max(progress.total, 1), completed=progress.ended, width=60)
    return Group(title, bar, rows)


def choose(quiet: bool, machine: bool) -> Silent | Lines | LiveTable:
    """The display for this terminal; what machines read goes to standard output alone."""
    if quiet:
        return Silent()
    console = tables.console(stderr=True)
    if console.is_terminal and not machine and not sys.platform.startswith("win"):
        return LiveTable(console)
    return Lines(console)
