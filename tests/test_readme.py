"""Every code block of the README does what the README says.

A block that begins with a comment naming a file is that file. Other blocks are run in their order,
in one folder; a block of plain text is what the block before it has put out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.\w+)\n")


def blocks(markdown: str) -> list[tuple[str, str]]:
    """(language, content) of each code block."""
    return BLOCK.findall(markdown)


def run(markdown: str, folder: Path) -> None:
    """Write the files, run the commands and scripts, compare what they put out."""
    put_out = ""
    for language, content in blocks(markdown):
        named = FILE.match(content)
        if named is not None:
            (folder / named[1]).write_text(content)
        elif language == "text":
            assert _lines(content) == _lines(put_out)
        else:
            put_out = _execute(language, content, folder)


def _execute(language: str, content: str, folder: Path) -> str:
    command = {
        "bash": ["bash", "-euo", "pipefail", "-c", content],
        "python": [sys.executable, "-c", content],
    }[language]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TUNEBOOK_DIR": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{content}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_readme_does_what_it_says(tmp_path: Path) -> None:
    run(README.read_text(), tmp_path)


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 150


def test_every_kind_of_block_is_known() -> None:
    languages = {language for language, _ in blocks(README.read_text())}
    assert languages == {"bash", "python", "yaml", "text"}


@pytest.mark.parametrize(
    "wrong",
    [
        "```bash\nfalse\n```\n",
        "```python\nraise ValueError\n```\n",
        "```bash\necho one\n```\n```text\ntwo\n```\n",
    ],
)
def test_a_block_that_is_wrong_is_found(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(AssertionError):
        run(wrong, tmp_path)


def test_files_are_written_and_not_run(tmp_path: Path) -> None:
    run("```python\n# a.py\nraise ValueError\n```\n```bash\ncat a.py\n```\n", tmp_path)
    assert (tmp_path / "a.py").read_text() == "# a.py\nraise ValueError\n"
