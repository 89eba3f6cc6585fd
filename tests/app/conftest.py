"""A folder with a study in it, in which commands are called."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from commandline import write_study


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path, None, None]:
    """The current folder: empty, with a book of its own, and without a trace when it is left."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNEBOOK_DIR")
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def toy(here: Path) -> Path:
    """A folder with `train.py` and `size.yaml`."""
    write_study(here)
    return here
