"""Scripts of a user's that track themselves, and how their runs ended."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tunebook.core.results import Results


def script(folder: Path, source: str, name: str = "train.py") -> subprocess.Popen[str]:
    """Start a script of the user's."""
    (folder / name).write_text(textwrap.dedent(source))
    return subprocess.Popen(
        [sys.executable, name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcomes(results: Results) -> list[tuple[str, str]]:
    return [(r.outcome.kind.value, r.outcome.reason) for r in results if r.outcome is not None]
