"""Everything between a wish and its results."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coordination import small_study
from fake_devices import FakeSmi
from tunebook.app import workflow
from tunebook.app.progress import Progress
from tunebook.app.workflow import Options
from tunebook.core.errors import StoreError, StudyChanged, StudyOwned, UnknownName
from tunebook.core.events import Event, Finished
from tunebook.core.protocols import Run
from tunebook.core.study import Asked, Budget, Resources, Study
from tunebook.execution import programs
from tunebook.running.ownership import ask_for_workers, owned

STUDY = small_study(trials=2)
INLINE = Options(inline=True)
TRAIN = "def train(run):\n    return run['x']\n"


class Recorded:
    """A display that remembers what it was told."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.ended: list[int] = []
        self.progress: Progress | None = None

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[Callable[[Event], None]]:
        self.progress = progress

        def show(event: Event) -> None:
            progress.note(event)
            if isinstance(event, Finished):
                self.ended.append(event.attempt.trial.number)

        yield show

    def notice(self, text: str) -> None:
        self.notices.append(text)


def program(folder: Path, source: str = TRAIN) -> programs.NamedFunction:
    (folder / "small.py").write_text(source)
    return programs.parse("small.py:train", folder)


def test_a_study_is_run_once_and_continued(here: Path) -> None:
    display = Recorded()
    ending, results = workflow.run(STUDY, program(here), Path("book"), INLINE, display)
    assert ending.done
    assert results.counts() == {"complete": 4}
    assert display.ended == [1, 2, 3, 4]
    more = replace(STUDY, trials=3)
    ending, results = workflow.run(more, program(here), Path("book"), INLINE, display)
    assert display.ended == [1, 2, 3, 4, 5, 6]
    assert display.progress is not None
    assert (display.progress.ended, display.progress.total) == (6, 6)
    assert display.notices == []


# Works in trainings of 10 steps, and breaks in longer ones.
BREAKS = """\
def train(run):
    if run.budget.amount > 10:
        raise FloatingPointError("overflow")
    return run["x"]
"""


@pytest.mark.parametrize(("probing", "worked", "pauses"), [(1, 1, 0), (1, 0, 1), (0, 1, 1)])
def test_a_probe_goes_on_where_its_program_worked_and_breaks_further_out(
    here: Path, probing: int, worked: int, pauses: int
) -> None:
    study = replace(STUDY, asked=Asked("stability", STUDY) if probing else None, trials=4)
    first = replace(study, name="small.sweep", budget=Budget(10))
    second = replace(study, name="small.sweep-2", budget=Budget(20))
    for one in (first, second) if worked else (second,):
        ending, results = workflow.run(one, program(here, BREAKS), Path("book"), INLINE, Recorded())
    assert results.counts()["failed"] == (5 if pauses else 8)
    assert (ending.paused is not None) is bool(pauses)


def test_changed_code_is_told(here: Path) -> None:
    display = Recorded()
    workflow.run(STUDY, program(here), Path("book"), INLINE, display)
    workflow.run(STUDY, program(here, TRAIN + "# changed"), Path("book"), INLINE, display)
    (notice,) = display.notices
    assert notice.startswith("The code has changed since trial 4 (no commit, file ")
    assert notice.endswith(
        "trials from now on run the new code, and the book records which ran what."
    )


@pytest.mark.parametrize(
    ("given", "options", "study", "expected"),
    [
        (
            "0,1",
            Options(),
            STUDY,
            [
                "This machine has 2 GPUs and the study asks for none, so that its trials see none. "
                "To use them, write into the study: resources: {gpus: 1}"
            ],
        ),
        (
            "GPU-8a1f",
            Options(),
            STUDY,
            [
                "This machine has 1 GPU and the study asks for none, so that its trials see none. "
                "To use it, write into the study: resources: {gpus: 1}"
            ],
        ),
        ("", Options(), STUDY, []),
        # Inline, a trial sees what the process sees.
        ("0,1", INLINE, STUDY, []),
        ("0,1", Options(share_gpus=True), replace(STUDY, resources=Resources(gpus=1)), []),
        # A stage of a probe, whose study has said so.
        ("0,1", Options(), replace(STUDY, asked=Asked("variance", STUDY)), []),
    ],
)
def test_accelerators_that_nobody_asks_for_are_told_once(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    options: Options,
    study: Study,
    expected: list[str],
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    display = Recorded()
    ending, _ = workflow.run(study, program(here), Path("book"), options, display)
    assert ending.done
    assert display.notices == expected


def test_trials_see_what_the_driver_lists(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, which has a node of another number, or none at all."""
    smi = FakeSmi(here / "smi", ["GPU-8a1f"])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("PATH", f"{smi.folder}:{os.environ['PATH']}")
    source = "import os\n\ndef train(run):\n    return int(os.environ['CUDA_VISIBLE_DEVICES'])\n"
    study = replace(STUDY, resources=Resources(gpus=1))
    _, results = workflow.run(study, program(here, source), Path("book"), Options(), Recorded())
    assert [record.curves["error"].values.tolist() for record in results] == [[0.0]] * 4


def test_a_study_that_runs_elsewhere_is_left_alone(here: Path) -> None:
    with owned(Path("book"), "small"):
        pid = os.fork()
        if pid == 0:
            try:
                workflow.run(STUDY, program(here), Path("book"), INLINE, Recorded())
            except StudyOwned as refused:
                os._exit(f"process {os.getppid()}" not in str(refused))
            os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0


def test_a_refused_study_stays_as_it_was(here: Path) -> None:
    workflow.run(STUDY, program(here), Path("book"), INLINE, Recorded())
    with pytest.raises(StudyChanged):
        workflow.run(replace(STUDY, seed=1), program(here), Path("book"), INLINE, Recorded())
    assert workflow.results("small", Path("book")).study.seed == 0


def test_ctrl_c_inline_leaves_the_trial_for_the_next_run(here: Path) -> None:
    def train(run: Run) -> object:
        run.log({"error": 1.0}, step=0)
        if not (here / "interrupted").exists():
            (here / "interrupted").touch()
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("the signal has come")
        return run["x"]

    passed = programs.of_function(train)
    ending, results = workflow.run(STUDY, passed, Path("book"), INLINE, Recorded())
    assert ending.interrupted
    assert results.counts() == {"preempted": 1}
    ending, results = workflow.run(STUDY, passed, Path("book"), INLINE, Recorded())
    assert ending.done
    assert results.counts() == {"complete": 4}
    assert [len(record.attempts) for record in results] == [2, 1, 1, 1]


def test_the_book_is_read_without_being_made(here: Path) -> None:
    for read in (lambda: workflow.book(Path("book")), lambda: workflow.results("x", Path("book"))):
        with pytest.raises(StoreError, match=r"no book in .*/book; run a study first"):
            read()
    assert not Path("book").exists()
    workflow.run(STUDY, program(here), Path("book"), INLINE, Recorded())
    (only,) = workflow.book(Path("book"))
    assert only == workflow.results("small", Path("book"))
    with pytest.raises(UnknownName, match="no study 'smal'; did you mean 'small'"):
        workflow.results("smal", Path("book"))


def test_attempts_may_be_kept_elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEBOOK_ATTEMPTS", str(here / "shared"))
    _, results = workflow.run(STUDY, program(here), Path("book"), INLINE, Recorded())
    folders = {Path(attempt.folder) for record in results for attempt in record.attempts}
    assert len(folders) == 4
    assert all((here / "shared") in folder.parents and folder.is_dir() for folder in folders)


def test_workers_that_join_get_slots_of_their_own(here: Path) -> None:
    study = replace(STUDY, resources=Resources(gpus=1))
    joined = workflow._joined(study, Path("book"), have=1, gpus=("0", "1", "2"))
    with owned(Path("book"), "small"):
        assert next(joined) == ()
        for wished in (1, 5):
            pid = os.fork()
            if pid == 0:
                os._exit(not ask_for_workers(Path("book"), "small", wished))
            assert os.waitpid(pid, 0)[1] == 0
            (slot,) = next(joined)
            # There are three accelerators: of six more workers, one more finds a place.
            assert slot.gpus == (str(wished // 5 + 1),)
        assert next(joined) == ()
