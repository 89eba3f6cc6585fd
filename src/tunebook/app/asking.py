"""What a probe is asked: anew from what the book knows, or as it was begun before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from tunebook.app import places, workflow
from tunebook.core.domains import Value, same_value
from tunebook.core.errors import StudyChanged
from tunebook.core.representation import value_text
from tunebook.core.results import Results
from tunebook.core.study import Asked, Study
from tunebook.execution.memory import free_bytes
from tunebook.procedures import needs, starting, subjects
from tunebook.procedures.catalogue import named
from tunebook.procedures.options import read_all
from tunebook.procedures.subjects import Subject
from tunebook.storage.sqlite import BOOK, open_store

# Of the memory that is free when a probe begins; the rest is left to the machine.
_USABLE: Final = 0.8


def ask(
    name: str,
    study: Study,
    options: Mapping[str, Value],
    given: Mapping[str, Value],
    folder: Path,
    *,
    again: bool = False,
) -> Asked:
    """What a probe is asked: as it was begun before, or anew from what the book knows now.

    The options' defaults hold for a probe that begins, and change none that was begun.
    """
    probe = named(name)
    chosen = read_all(name, probe.options, options)
    about = subjects.completed(study)
    needs.check(name, about, probe.needs)
    starting.check_given(about, given)
    before = _begun(name, study.name, folder)
    if before is None or again:
        first = starting.start(about, so_far(study.name, folder), given)
        number = before.round + 1 if before else 1
        usual = {o.name: o.default for o in probe.options if o.default is not None}
        if probe.limited and about.resources.memory is None:
            # Kept as if it were given: what is free at another time would make it another probe.
            usual["memory"] = int(_USABLE * free_bytes())
        return Asked(
            name,
            about,
            tuple(first.config.items()),
            first.source,
            tuple(sorted({**usual, **chosen}.items())),
            number,
            first.selected,
        )
    analysed = {option.name for option in probe.options if option.is_of_answer}
    trained = {name: value for name, value in chosen.items() if name not in analysed}
    changed = _difference(before, about, trained, given)
    if changed:
        raise StudyChanged(
            f"the probe {name} of {study.name} has been begun otherwise:\n"
            + "\n".join(f"  {line}" for line in changed)
            + "\nEither put that back, to continue it, or begin anew with --again",
            changed,
        )
    asked_now = {name: value for name, value in chosen.items() if name in analysed}
    return replace(before, options=tuple(sorted({**dict(before.options), **asked_now}.items())))


def subject_of(asked: Asked, folder: Path) -> Subject:
    """What a probe is about, with what the book has of its study."""
    return Subject(asked, so_far(asked.about.name, folder), places.book_option(folder))


def so_far(name: str, folder: Path) -> Results | None:
    """What the book has of a study, if anything."""
    known = any(study.name == name for study in studies(folder))
    return workflow.results(name, folder) if known else None


def studies(folder: Path) -> tuple[Study, ...]:
    """Those of a book; none where there is no book."""
    if not (folder / BOOK).exists():
        return ()
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return store.studies()


def _begun(name: str, study: str, folder: Path) -> Asked | None:
    """How a probe of a study was begun, if it was; of several rounds, the last."""
    found = [
        known.asked
        for known in studies(folder)
        if known.asked is not None
        and known.asked.procedure == name
        and known.asked.about.name == study
    ]
    return max(found, key=lambda asked: asked.round) if found else None


def _difference(
    before: Asked, about: Study, options: Mapping[str, Value], given: Mapping[str, Value]
) -> tuple[str, ...]:
    lines = list(before.about.difference(about))
    for name in ("program", "task", "command", "objective", "knobs"):
        was, now = getattr(before.about, name), getattr(about, name)
        if was != now:
            lines.append(f"~ {name}: {was} -> {now}" if name != "knobs" else "~ knobs")
    for had, wished in ((dict(before.start), given), (dict(before.options), options)):
        for name, value in wished.items():
            was = had.get(name)
            if not same_value(was, value):
                lines.append(f"~ {name}: {value_text(was)} -> {value_text(value)}")
    return tuple(lines)
