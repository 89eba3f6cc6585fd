"""What the folder of an attempt tells by itself, without the book."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tunebook.core.errors import StoreError
from tunebook.core.events import Event
from tunebook.core.trials import Attempt
from tunebook.execution import records
from tunebook.execution.spec import Spec
from tunebook.files import spool
from tunebook.storage.restoring import Story


def tell(folder: Path) -> Story | None:
    """The attempt in a folder and all that its spool holds; None if nobody can say whose it is."""
    try:
        spec = Spec.read(folder)
    except (OSError, ValueError, TypeError, KeyError, StoreError):
        return None
    # The folder may have been moved with the book since.
    attempt = replace(spec.attempt, folder=str(folder))
    named = (str(attempt.trial.number), str(attempt.number))
    if named != (folder.parent.name, folder.name):
        return None
    return Story(attempt, tuple(_events(attempt, replace(spec, attempt=attempt).spool)))


def _events(attempt: Attempt, path: Path) -> Iterator[Event]:
    for record, offset in spool.read(path):
        try:
            yield records.event(attempt, record, offset)
        except StoreError:
            # A record of a newer tunebook; what comes before it counts.
            return
