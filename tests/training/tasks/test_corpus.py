"""Text found offline: the same in every process, and no module is imported for it."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tunebook.core.errors import ProgramError, StudyError
from tunebook.training.tasks.corpus import corpus, documentation, standard_library, text_file

SOURCE = '''"""A module."""
import os
raise SystemExit("nobody imports me")
"not documentation"
if os.name:
    def f():
        """A function.

           Further in.
        """
        class C:
            "A class in a function."
            async def g(self): "A coroutine."
def h(): ...
lambda: "no documentation"
'''
STRINGS = [
    "A module.",
    "A function.\n\nFurther in.",
    "A class in a function.",
    "A coroutine.",
]


def test_documentation_in_the_order_of_the_source() -> None:
    assert list(documentation(ast.parse(SOURCE))) == STRINGS


def test_modules_of_one_file_by_name(tmp_path: Path) -> None:
    (tmp_path / "string.py").write_text("'Second.'")
    (tmp_path / "abc.py").write_text(SOURCE)
    (tmp_path / "turtle.py").write_text("'Left out.'")
    (tmp_path / "not_of_the_library.py").write_text("'Foreign.'")
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("'A package.'")
    assert standard_library(tmp_path) == "\n\n".join([*STRINGS, "Second."])


def test_a_python_without_sources(tmp_path: Path) -> None:
    message = (
        f"there are no sources of Python's standard library in {tmp_path}; "
        "name a file to learn from with the parameter text"
    )
    with pytest.raises(ProgramError, match=re.escape(message)):
        standard_library(tmp_path)


def test_the_standard_library_is_the_same_in_every_process_and_imports_none_of_it() -> None:
    code = (
        "import hashlib, sys\n"
        "from tunebook.training.tasks.corpus import standard_library\n"
        "text = standard_library()\n"
        "imported = {'this', 'antigravity', 'smtplib', 'zipapp'} & set(sys.modules)\n"
        "print(hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest(), imported)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = hashlib.sha256(corpus(None).encode("utf-8", "surrogatepass")).hexdigest()
    assert done.stdout.split(maxsplit=1) == [here, "set()\n"]


def test_the_standard_library_is_long_enough() -> None:
    text = corpus(None)
    assert 500_000 < len(text) < 2_000_000
    assert "Return" in text


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("crème brûlée\n", encoding="utf-8")
    assert corpus(str(path)) == "crème brûlée\n"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "notes.txt"
    if content is not None:
        path.write_bytes(content)
    message = f"the text cannot be read from {path}: "
    with pytest.raises(StudyError, match=re.escape(message)) as error:
        text_file(path)
    assert str(error.value).endswith(
        "name a file in UTF-8, or leave text out to learn from the standard library's documentation"
    )
    assert error.value.parameter == "text"


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_no_file_has(name: str) -> None:
    with pytest.raises(StudyError, match="the text cannot be read from"):
        corpus(name)
