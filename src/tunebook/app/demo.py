"""The demo: a real network on MNIST-1D, tuned by the same machinery as everything else."""

from __future__ import annotations

import importlib.util
from importlib import resources
from pathlib import Path

from tunebook.app import describe, display, places, start, tables, workflow
from tunebook.core.errors import ProgramError

FILES = ("train.py", "model.yaml")


def run_demo(folder: Path, trials: int, *, quiet: bool) -> int:
    """Write the demo's files into a folder, run its study, show the sheet and the best trials."""
    missing = [name for name in ("torch", "mnist1d") if importlib.util.find_spec(name) is None]
    if missing:
        raise ProgramError(f"the demo needs {' and '.join(missing)}: pip install 'tunebook[demo]'")
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        _write(folder / name)
    console = tables.console()
    if not quiet:
        console.print(
            f"The demo's files are in {folder}: a training function (train.py) and a study of it "
            "(model.yaml).\nIts question: does a convolutional network beat a plain one of its "
            "size, when both are tuned equally well?\n"
        )
    book = folder / places.DEFAULT_FOLDER
    wish = start.Wish(folder / "model.yaml", trials=trials)
    study = wish.study()
    ending, results = workflow.run(
        study, wish.program(study), book, workflow.Options(), display.choose(quiet, machine=False)
    )
    if not quiet:
        console.print(tables.study(describe.study(results)))
        console.print("\nThe book", style="bold")
        console.print(tables.sheet(describe.sheet(workflow.book(book), book)))
        console.print(_next_steps(folder, results.best()))
    return 130 if ending.interrupted else 0 if ending.done else 3


def _write(path: Path) -> None:
    """Put a demo file in place; one that the user has changed stays as it is."""
    if not path.exists():
        content = resources.files("tunebook.app").joinpath("demo_files", path.name).read_bytes()
        path.write_bytes(content)


def _next_steps(folder: Path, best: object) -> str:
    number = best[0].trial.number if best else 1  # type: ignore[index]
    return (
        f"Look further: cd {folder}, then\n"
        f"  tunebook show model {number}           one trial, with its metrics and attempts\n"
        f"  tunebook run model.yaml --trials 40    continue to 40 trials for each setting\n"
        f"  tunebook init train.py:train -o my.yaml    a study file of your own"
    )
