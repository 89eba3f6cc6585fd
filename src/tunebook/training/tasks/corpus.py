"""Text that every machine has: the documentation strings of Python's standard library."""

from __future__ import annotations

import ast
import functools
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tunebook.core.errors import ProgramError, StudyError

# Its many examples would be most of the end of the text, which validates.
_LEFT_OUT = {"turtle"}


@functools.cache
def corpus(path: str | None) -> str:
    """The text of a file, or of the standard library where no file is named."""
    return standard_library() if path is None else text_file(Path(path))


def text_file(path: Path) -> str:
    """The text of a file in UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise StudyError(
            f"the text cannot be read from {path}: {error}; name a file in UTF-8, or leave text "
            "out to learn from the standard library's documentation",
            parameter="text",
        ) from error


def standard_library(folder: Path | None = None) -> str:
    """The documentation strings of all modules of one file each, by name; about 800,000 characters.

    Sources are parsed and nothing is imported, so that the text depends on the version of Python
    alone. Packages are left out: distributions of Python differ in which of them they install.
    """
    folder = folder or Path(sysconfig.get_path("stdlib"))
    sources = [folder / f"{name}.py" for name in sorted(sys.stdlib_module_names - _LEFT_OUT)]
    strings = [string for path in sources if path.is_file() for string in _strings_of(path)]
    if not strings:
        raise ProgramError(
            f"there are no sources of Python's standard library in {folder}; "
            "name a file to learn from with the parameter text"
        )
    return "\n\n".join(strings)


def _strings_of(path: Path) -> Iterator[str]:
    return documentation(ast.parse(path.read_bytes()))


def documentation(tree: ast.AST) -> Iterator[str]:
    """The documentation strings of a module, its classes and functions, as they stand in it.

    >>> list(documentation(ast.parse("'A module.'\\ndef f():\\n  'A function.'")))
    ['A module.', 'A function.']
    """
    if isinstance(tree, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        string = ast.get_docstring(tree)
        if string:
            yield string
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield from documentation(child)
