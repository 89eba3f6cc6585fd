"""A study in a notebook: shown in place, interrupted, continued."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from nbclient import NotebookClient

import tunebook
from commandline import wait_until
from coordination import COMPLETE, FAILED, points, small_study
from shown import results
from tunebook.app import notebook
from tunebook.app.progress import Progress
from tunebook.core.events import Finished
from tunebook.core.results import Results
from tunebook.core.trials import Attempt, FromSequence, Trial

STUDY = small_study()
DEFINE = """
import os, pathlib, time
import tunebook

pathlib.Path("kernel").write_text(str(os.getpid()))
study = tunebook.Study(
    "cell",
    tunebook.Space.of(nuisance={"lr": tunebook.Float(1e-3, 1.0, log=True)}),
    tunebook.Objective(tunebook.Metric("error")),
    goal="Is <b>this</b> shown?",
    trials=3,
)
scale = 2.0

def train(run):
    for step in range(20):
        run.log({"error": scale * (run["lr"] - 0.1) ** 2}, step=step)
        if pathlib.Path("slowly").exists():
            pathlib.Path("begun").touch()
            time.sleep(0.1)
        if run.should_stop:
            return
"""
RUN = "results = tunebook.run(study, train, workers=2)\nresults"


@pytest.fixture
def client(here: Path) -> Iterator[NotebookClient]:
    """A notebook whose first cell defines a study and its training function."""
    cells = [nbformat.v4.new_code_cell(DEFINE)]
    document = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(here)}}
    client = NotebookClient(document, timeout=120, kernel_name="python3", resources=resources)
    with client.setup_kernel():
        execute(client, 0)
        yield client


def execute(client: NotebookClient, index: int, source: str | None = None) -> list[Any]:
    """Execute a cell: what it has put out."""
    if source is not None:
        client.nb.cells.append(nbformat.v4.new_code_cell(source))
    cell = client.nb.cells[index]
    outputs: list[Any] = client.execute_cell(cell, index).outputs
    assert [output for output in outputs if output.output_type == "error"] == []
    return outputs


def html(outputs: list[Any]) -> list[str]:
    return [output.data["text/html"] for output in outputs if "data" in output]


def test_a_study_of_a_function_in_a_cell(client: NotebookClient, here: Path) -> None:
    shown, result = html(execute(client, 1, RUN))
    assert shown.startswith("<p><strong>cell: 3 of 3 trials, ")
    assert result.startswith("<p><strong>cell: 3 complete</strong><br>Is &lt;b&gt;this&lt;/b&gt;")
    assert result.count("<tr>") == 4
    (again,) = html(execute(client, 2, 'tunebook.load("cell")'))
    assert again == result
    (study,) = html(execute(client, 3, "study"))
    assert "<td>lr</td><td>nuisance, 0.001 to 1 (log)</td>" in study
    (report,) = html(execute(client, 4, "tunebook.report_on(results)"))
    assert report.startswith('<iframe title="Report on cell" sandbox="" ')
    assert len(tunebook.load("cell")) == 3


def test_an_interrupted_cell_is_run_again(client: NotebookClient, here: Path) -> None:
    (here / "slowly").touch()
    kernel = int((here / "kernel").read_text())

    def interrupt() -> None:
        wait_until((here / "begun").exists)
        os.kill(kernel, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    shown, _ = html(execute(client, 1, RUN))
    thread.join()
    assert "Stopping: trials have 30 s to save and leave." in shown
    assert "Interrupted. Run again to continue." in shown
    before = tunebook.load("cell")
    assert before.counts() == {"preempted": 2}
    logged = {record.trial.number: record.trial for record in before}
    (here / "slowly").unlink()
    _, result = html(execute(client, 1))
    assert result.startswith("<p><strong>cell: 3 complete</strong>")
    after = tunebook.load("cell")
    assert {n: after[n].trial.config for n in logged} == {n: t.config for n, t in logged.items()}
    assert [len(record.curves["error"]) for record in after] == [20, 20, 20]
    assert [len(record.attempts) for record in after] == [2, 2, 1]


class Shown:
    """Stands for the cell's output."""

    def __init__(self, html: str) -> None:
        self.html = [html]

    def update(self, html: str) -> None:
        self.html.append(html)


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    made: list[Shown] = []

    def make(html: str) -> Shown:
        made.append(Shown(html))
        return made[-1]

    monkeypatch.setattr(notebook, "_Handle", make)
    monkeypatch.setattr(notebook.display, "REDRAW_SECONDS", -1.0)
    return made


def progress_of(found: Results) -> Progress:
    totals = dict.fromkeys(found.study.space.settings(), found.study.trials)
    return Progress(found, totals, workers=1)


def attempt(trial: int) -> Attempt:
    setting = STUDY.space.settings()[0]
    content = Trial("small", trial, setting, {}, 0, FromSequence(trial))
    return Attempt(content, 1, "token", "folder")


def test_the_table_is_replaced_in_place_and_ends_in_a_line(outputs: list[Shown]) -> None:
    table = notebook.NotebookTable()
    table.notice("The code has changed.")
    with table.showing(progress_of(Results(STUDY))) as show:
        show(points(attempt(1), 0, 4))
        show(Finished(attempt(1), COMPLETE, 1.0))
        show(Finished(attempt(2), FAILED, 1.0))
    (output,) = outputs
    first, *_, before, last = output.html
    assert "The code has changed." in first
    assert first.count("<tr>") == 3
    assert "<td>arm=a</td><td>2/3</td><td>0</td><td>1 complete, 1 failed</td>" in before
    assert "0.2 (trial 1, step 4)" in before
    assert "<table>" not in last
    assert "trial 2 (arm=a) failed: ValueError: no" in last
    table.notice("Interrupted.")
    assert output.html[-1] == last.replace("</p>", "<br>Interrupted.</p>")


def test_of_many_messages_the_last_are_kept(outputs: list[Shown]) -> None:
    table = notebook.NotebookTable()
    with table.showing(progress_of(Results(STUDY))):
        for number in range(25):
            table.notice(f"message {number}")
    shown = outputs[0].html[-1]
    assert "(15 earlier messages)<br>message 15<br>" in shown
    assert shown.count("<br>") == 11


@given(results())
def test_any_run_is_safe_to_show(found: Results) -> None:
    shown = notebook.settings(progress_of(found))
    assert shown.isprintable()
    assert shown.count("<") == shown.count(">")
