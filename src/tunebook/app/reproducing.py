"""How a result can be had again: first the code, then the command."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tunebook.app.places import differences_folder
from tunebook.core.masking import mask_arguments
from tunebook.core.results import TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import Code
from tunebook.procedures.commands import given_of, written
from tunebook.running.code import patch_path

_CALLED = "called as "


def steps(study: Study, parent: Study | None, record: TrialRecord | None, book: Path) -> list[str]:
    """Commands, one after another, that bring back the code of a trial and run its study again."""
    code = record.trial.code if record else Code()
    return [*_code_steps(code, book), _command(study, parent, record)]


def patch(code: Code, book: Path) -> str | None:
    """The file that keeps what was not committed, where there is one."""
    if code.difference is None:
        return None
    path = patch_path(differences_folder(book), code.difference)
    return str(path) if path.exists() else None


def call_note(arguments: Sequence[str] | None = None) -> str | None:
    """How this script was called, as a note of its attempt; None where there is no script.

    >>> call_note(["/usr/bin/python3", "train.py", "--lr", "0.1"])
    'called as python train.py --lr 0.1'
    """
    main = sys.modules.get("__main__")
    if arguments is None and (not hasattr(main, "__file__") or "ipykernel" in sys.modules):
        return None
    given = mask_arguments((arguments or sys.orig_argv)[1:])
    return _CALLED + shlex.join(["python", *given])


def _command(study: Study, parent: Study | None, record: TrialRecord | None) -> str:
    if study.asked is not None and study.file:
        asked = study.asked
        return written(asked, study.file, dict(asked.options), given_of(asked))
    if study.file:
        name = f" --new-study {study.name}" if parent and parent.file == study.file else ""
        return f"tunebook run {shlex.quote(study.file)} --trials {study.trials}{name}"
    notes = record.attempts[-1].notes if record and record.attempts else ()
    called = [note.removeprefix(_CALLED) for note in notes if note.startswith(_CALLED)]
    if called:
        return called[0]
    function = (study.program or "train").rpartition(":")[2]
    return f'tunebook.run(tunebook.load("{study.name}").study, {function})  # in Python'


def _code_steps(code: Code, book: Path) -> list[str]:
    if code.commit is None:
        return []
    kept = patch(code, book)
    root = _repository(Path.cwd())
    # Below its root, git would leave out what a patch changes elsewhere.
    above = "" if root is None or root == Path.cwd() else f"-C {os.path.relpath(root)} "
    path = os.path.relpath(kept, root) if kept and root else kept
    apply = [f"git {above}apply {shlex.quote(path)}"] if path else []
    return [f"git checkout {code.commit[:10]}", *apply]


def _repository(folder: Path) -> Path | None:
    return next((f for f in (folder, *folder.parents) if (f / ".git").exists()), None)
