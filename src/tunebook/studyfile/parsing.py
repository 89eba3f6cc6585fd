"""From the text of a study file to the study."""

from __future__ import annotations

import pathlib

from pydantic import ValidationError

from tunebook.core.errors import StudyError
from tunebook.core.study import Study
from tunebook.studyfile.building import build
from tunebook.studyfile.document import LARGEST, load
from tunebook.studyfile.mistakes import explained
from tunebook.studyfile.problems import Problems
from tunebook.studyfile.shape import StudyFile


def parse(text: str, source: str = "study.yaml") -> Study:
    """The study in the text of a file; `source` is what errors call the file.

    >>> study = parse('''
    ... study: depth
    ... objective: {metric: valid/error, better: lower}
    ... scientific: {blocks: [2, 3]}
    ... nuisance: {learning_rate: {log: [1e-4, 1e-1]}}
    ... ''')
    >>> str(study.space["learning_rate"])
    'nuisance, 0.0001 to 0.1 (log)'
    >>> parse("study: depth\\nobjective: {metric: valid/error, better: lowr}")
    Traceback (most recent call last):
    tunebook.core.errors.StudyError: study.yaml:2: objective.better: expected 'lower' or 'higher', \
got 'lowr'; did you mean 'lower'?
    """
    try:
        document = load(text)
        try:
            file = StudyFile.model_validate(document.content)
        except ValidationError as error:
            raise explained(error, document) from None
        return build(file, document)
    except Problems as problems:
        raise problems.error(source) from None


def read(path: pathlib.Path) -> Study:
    """The study in a file."""
    content = _content(path)
    if len(content) > LARGEST:
        raise StudyError(f"{path}: a study file may have {LARGEST} bytes; this one is larger")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StudyError(f"{path}:{line}: this is not UTF-8; save the file as UTF-8") from None
    return parse(text, str(path))


def _content(path: pathlib.Path) -> bytes:
    try:
        if path.is_dir():
            raise StudyError(f"{path} is a folder; name the study file in it")
        if path.exists() and not path.is_file():
            raise StudyError(f"{path} is not a plain file; a study file is")
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError:
        raise StudyError(f"{path} does not exist; `tunebook init` writes a study file") from None
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror}") from None
