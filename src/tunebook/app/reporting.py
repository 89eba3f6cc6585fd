"""Reports on studies of the book: made, written to files, shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from tunebook.app import places, start, workflow
from tunebook.core.errors import UnknownName
from tunebook.core.representation import counted
from tunebook.core.results import Results
from tunebook.core.study import Asked, Study
from tunebook.report import html, making, markdown, objectives
from tunebook.report.making import Report
from tunebook.storage.sqlite import open_store

# From so many trials on a report takes more than a moment, and says what it is doing.
_MANY = 200


def on_book(
    name: str | None,
    folder: Path,
    objective: str | None = None,
    compare: str | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Report:
    """The report on a study of a book, by default on the one that was begun last.

    `STUDY.PROBE` is the last stage of that probe.
    """
    chosen = name or _latest(folder)
    if compare == chosen:
        raise UnknownName(f"{chosen} cannot be compared with itself; name another study")
    results = _results(chosen, folder)
    if results.study.asked is not None and objective is None and compare is None:
        from tunebook.app import probing

        newer = _newer(results.study.asked, folder)
        if newer:
            notice(f"That probe was begun anew since: tunebook report {newer}")
        return probing.replayed(results, folder)
    other = workflow.results(compare, folder) if compare else None
    count = len(results) + len(other or ())
    if count >= _MANY:
        notice(f"Looking at {count:,} trials.")
    return on(results, objective, other)


def on(results: Results, objective: str | None = None, other: Results | None = None) -> Report:
    """The report on results, as of now."""
    own = results.study.objective
    chosen = own if objective is None else objectives.parse(objective, results)
    if other is not None:
        objectives.require(chosen, other)
    return making.make(
        results,
        chosen,
        against=other,
        made=datetime.now().astimezone(),
        version=version("tunebook"),
    )


def write(
    report: Report,
    page: Path | None = None,
    document: Path | None = None,
    pictures: Path | None = None,
) -> list[str]:
    """Write the files that were asked for; a sentence on each."""
    said = []
    if page:
        content = html.page(report)
        start.write_text(page, content)
        said.append(f"Wrote {page} ({len(content.encode()) / 1000:,.0f} kB): open it in a browser.")
    if pictures:
        drawn = markdown.drawings(report)
        for name, drawing in drawn.items():
            start.write_text(pictures / name, drawing)
        said.append(f"Wrote {counted(len(drawn), 'picture')} into {pictures}.")
    if document:
        start.write_text(document, markdown.document(report, _link(pictures, document)))
        said.append(f"Wrote {document}.")
    return said


def _results(name: str, folder: Path) -> Results:
    """What the book has of a study, or of the last stage of a probe."""
    try:
        return workflow.results(name, folder)
    except UnknownName:
        stages = [s.name for s in _studies(folder) if s.asked and s.asked.stage("") == f"{name}."]
        if not stages:
            raise
        return workflow.results(stages[-1], folder)


def _newer(asked: Asked, folder: Path) -> str:
    """The name of the last round of a probe, if it is a later one."""
    same = (asked.procedure, asked.about.name)
    rounds = [
        s.asked
        for s in _studies(folder)
        if s.asked and (s.asked.procedure, s.asked.about.name) == same
    ]
    last = max(rounds, key=lambda one: one.round, default=asked)
    return last.stage("").removesuffix(".") if last.round > asked.round else ""


def _studies(folder: Path) -> tuple[Study, ...]:
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return store.studies()


def _latest(folder: Path) -> str:
    studies = _studies(folder)
    if not studies:
        raise UnknownName(f"the book in {folder} has no study yet; tunebook run begins one")
    return studies[-1].name


def _link(pictures: Path | None, document: Path) -> str | None:
    """How a document refers to the folder of its pictures."""
    if pictures is None:
        return None
    return Path(os.path.relpath(pictures, document.parent)).as_posix()
