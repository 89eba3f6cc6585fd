"""The demo: a real network on MNIST-1D, tuned by the same machinery as everything else."""

from __future__ import annotations

import importlib.util
from importlib import resources
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tunebook.app import describe, reporting, start, tables, workflow
from tunebook.core.errors import ProgramError
from tunebook.core.results import Results
from tunebook.report import terminal
from tunebook.running.loop import Ending
from tunebook.storage.folders import DEFAULT_FOLDER

FILE = "model.yaml"
PAGE = "report.html"
_NEEDED = ("torch", "safetensors", "mnist1d")


def run_demo(folder: Path, trials: int, *, quiet: bool) -> Ending:
    """Write the demo's study into a folder, run it, show the book and the report."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ProgramError(f"the demo needs {' and '.join(missing)}: pip install 'tunebook[demo]'")
    _write(folder / FILE)
    console = Console(quiet=True) if quiet else tables.console()
    console.print(_introduction(folder))
    book = folder / DEFAULT_FOLDER
    wish = start.Wish(folder / FILE, trials=trials)
    ending, results = start.run_file(wish, book, workflow.Options(), quiet=quiet)
    if not ending.done:
        console.print(tables.study(describe.study(results, top=5)))
        return ending
    console.print(Text("The book: what was run, what came of it, how to have it again", "bold"))
    console.print(tables.sheet(describe.sheet(workflow.book(book), book)))
    report = reporting.on(results)
    console.print(Text("\nThe report: what the study shows, and what to do next\n", "bold"))
    terminal.print_to(console, report)
    for line in reporting.write(report, folder / PAGE):
        console.print(line)
    console.print(_next_steps(folder, results))
    return ending


def _write(path: Path) -> None:
    """Put the study file in place; one that the user has changed stays as it is."""
    if not path.exists():
        source = resources.files("tunebook.app").joinpath("demo_files", path.name)
        start.write_text(path, source.read_text(encoding="utf-8"))


def _introduction(folder: Path) -> str:
    return (
        f"{folder}/{FILE} asks a question about MNIST-1D, a small problem:\n"
        "is a convolutional network better than a plain one, when both are well tuned?\n"
    )


def _next_steps(folder: Path, results: Results) -> str:
    best = results.best()
    number = best[0].trial.number if best else 1
    return (
        f"\nGo on with: cd {folder}\n"
        f"  tunebook show model {number:<16} one trial: its metrics and attempts\n"
        "  tunebook run model.yaml --trials 30  more trials of the same two settings\n"
        "  tunebook init train.py:train         a study file for a function of your own"
    )
