"""A folder with a study in it, in which commands are called."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from commandline import call, write_study


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path, None, None]:
    """The current folder: empty, with a book of its own, and without a trace when it is left.

    The machine shows no accelerators, since commands speak of them.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNEBOOK_DIR")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
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


@pytest.fixture
def book(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A book with a study in a repository, and one with trials that broke and diverged."""
    (toy / "mixed.py").write_text(
        "def train(run):\n"
        "    print('begun')\n"
        "    if run['x'] < 0.5:\n"
        "        raise ValueError('too small')\n"
        "    run.log({'error': run['x'], 'nan': float('nan')}, step=3)\n"
        "    return float('nan') if run['x'] > 0.8 else None\n"
    )
    (toy / "mixed.yaml").write_text(
        "study: mixed\nnote: a note\nparent: size\nprogram: mixed.py:train\n"
        "objective: {metric: error, better: lower}\n"
        "fixed: {flag: true, nothing: null, name: text}\n"
        "nuisance: {x: {linear: [0, 1]}}\ntrials: 8\n"
    )
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for step in (["init"], ["add", "train.py"], ["commit", "--message", "First"]):
        subprocess.run([*git, *step], check=True, capture_output=True)
    (toy / "train.py").write_text((toy / "train.py").read_text() + "# changed\n")
    assert call(capsys, "run", "size.yaml", "--inline").code == 0
    assert call(capsys, "run", "mixed.yaml", "--inline").code == 0
    return toy


@pytest.fixture
def pair(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A book with `size`, of four trials, and then `more`, of two, which logs a loss too."""
    assert call(capsys, "run", "size.yaml", "--inline", "-q").code == 0
    (toy / "more.py").write_text(
        "def train(run):\n"
        "    for step in range(5):\n"
        "        run.log({'valid/error': run['x'] / (1 + step), 'margin': step}, step=step)\n"
    )
    (toy / "more.yaml").write_text(
        "study: more\nprogram: more.py:train\nobjective: {metric: valid/error, better: lower}\n"
        "nuisance: {x: {linear: [0.1, 1]}}\ntrials: 2\n"
    )
    assert call(capsys, "run", "more.yaml", "--inline", "-q").code == 0
    return toy
