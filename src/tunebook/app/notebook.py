"""A run in a notebook: a small table below the cell, updated in place, that needs no widgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython import display as ipython

from tunebook.app import display
from tunebook.app.progress import Progress
from tunebook.core.events import Event
from tunebook.core.representation import counts_text, table, titled
from tunebook.core.results import RUNNING

_MOST_SETTINGS = 30
_MOST_NEWS = 10


class NotebookTable:
    """Shows a run by replacing one piece of static HTML."""

    def __init__(self) -> None:
        self._news: list[str] = []
        self._left_out = 0
        self._redraw: Callable[[], None] = lambda: None

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[Callable[[Event], None]]:
        drawn = time.monotonic()
        whole = _Handle(self._title(progress) + settings(progress))

        def show(event: Event) -> None:
            nonlocal drawn
            progress.note(event)
            for line in display.news(event):
                self.notice(line)
            if time.monotonic() - drawn > display.REDRAW_SECONDS:
                drawn = time.monotonic()
                whole.update(self._title(progress) + settings(progress))

        try:
            yield show
        finally:
            # The results themselves come as the value of the cell.
            title = f"{progress.study.name}: {display.state(progress)}"
            self._redraw = lambda: whole.update(titled(title, *self._lines()))
            self._redraw()

    def notice(self, text: str) -> None:
        self._left_out += len(self._news) == _MOST_NEWS
        self._news = [*self._news, text][-_MOST_NEWS:]
        self._redraw()

    def _title(self, progress: Progress) -> str:
        return titled(f"{progress.study.name}: {display.state(progress)}", *self._lines())

    def _lines(self) -> list[str]:
        earlier = [f"({self._left_out} earlier messages)"] if self._left_out else []
        return [*earlier, *self._news]


def settings(progress: Progress) -> str:
    """The table of a run: a row for each setting."""
    shown, left = display.chosen(progress, _MOST_SETTINGS)
    rows = []
    for setting in shown:
        counts = setting.counts
        running = counts.pop(RUNNING, 0)
        done = f"{setting.ended}/{setting.total}"
        outcomes = counts_text(counts)
        rows.append((display.name(setting), done, str(running), outcomes, display.best(setting)))
    return table(display.heading(progress), *rows, *([(left,)] if left else []))


class _Handle:
    """A piece of HTML below the cell."""

    def __init__(self, html: str) -> None:
        self._handle: Any = ipython.display(_html(html), display_id=True)  # type: ignore[no-untyped-call]

    def update(self, html: str) -> None:
        self._handle.update(_html(html))


def _html(content: str) -> Any:
    return ipython.HTML(content)  # type: ignore[no-untyped-call]
