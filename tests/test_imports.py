"""Importing tunebook is light: heavy libraries are loaded by the modules that need them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    *("torch", "ray", "scipy", "sqlalchemy", "pydantic", "ruamel", "rich", "psutil"),
    *("pandas", "polars", "pyarrow", "matplotlib", "fastapi", "uvicorn"),
)


def loaded_by(statement: str) -> set[str]:
    """Which of the heavy libraries a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in done.stdout.split()} & set(HEAVY)


def test_import_is_light() -> None:
    assert loaded_by("import tunebook") == set()


@pytest.mark.parametrize("library", ["psutil", "rich"])
def test_the_check_can_fail(library: str) -> None:
    assert library in loaded_by(f"import tunebook, {library}")
