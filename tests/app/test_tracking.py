"""`tunebook.init()` outside a study and inside one."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

import tunebook
from attempts import spec_in
from commandline import end, wait_until
from coordination import small_study
from scripts import outcomes, script
from tunebook.app import workflow
from tunebook.core.errors import StudyError, TunebookError
from tunebook.core.results import Results, TrialRecord
from tunebook.execution import current


def only(results: Results) -> TrialRecord:
    (record,) = results
    return record


def test_a_run_from_begin_to_finish(here: Path) -> None:
    run = tunebook.init("mine", {"lr": 0.1}, metric="valid/error", note="a note")
    assert run["lr"] == run.config["lr"] == 0.1
    assert (run.params, run.should_stop) == ({"lr": 0.1}, False)
    assert repr(run) == "<tunebook run mine/1 attempt 1, running>"
    assert tunebook.load("mine").counts() == {"running": 1}
    for _ in range(3):
        run.log({"valid/error": 0.5})
    run.log({"valid/error": 0.25, "other": np.float32(1)}, step=10)
    tunebook.log({"valid/error": 0.75})
    run.finish()
    results = tunebook.load("mine")
    record, measure = results.best() or pytest.fail("it has a result")
    assert (measure.value, measure.step) == (0.25, 10)
    assert record.curves["valid/error"].steps.tolist() == [0, 1, 2, 10, 11]
    assert record.trial.config == {"lr": 0.1}
    assert results.study.note == "a note"
    assert outcomes(results) == [("complete", "finished")]


def test_logging_without_a_run() -> None:
    with pytest.raises(TunebookError, match=r"there is no run to log to; call tunebook\.init\(\)"):
        tunebook.log({"loss": 1.0})


def test_a_second_run_finishes_the_first(here: Path) -> None:
    first = tunebook.init("mine", {"lr": 1})
    first.log({"loss": 1.0})
    second = tunebook.init("mine", {"lr": 2})
    assert current.get_run() is not None
    second.log({"loss": 0.5})
    first.finish()
    assert tunebook.load("mine").counts() == {"complete": 1, "running": 1}
    second.finish()
    results = tunebook.load("mine")
    assert [record.trial.config["lr"] for record in results] == [1, 2]
    assert [len(record.curves["loss"]) for record in results] == [1, 1]


def test_of_several_ranks_the_first_writes_the_book(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "apart"))
    (tmp_path / "apart").mkdir()
    told = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        run = tunebook.init("mine", {"model": {"depth": 3}})
        run.log({"loss": 0.5}, step=1)
        tunebook.log({"loss": 0.25}, step=2)
        with pytest.raises(ValueError, match="steps must not go back"):
            run.log({"loss": 0.1}, step=1)
        with run.checkpoint(2) as folder:
            (folder / "state").write_text("all of it")
        again = run.resume()
        assert again is not None
        text = (again / "state").read_text()
        told.append((dict(run.params), run.seed, run.budget, run.should_stop, text))
        assert (run.folder.is_relative_to(tmp_path / "apart")) == (rank == "1")
        run.finish()
    assert told[0] == told[1] == ({"model.depth": 3}, 0, None, False, "all of it")
    assert outcomes(tunebook.load("mine")) == [("complete", "finished")]
    assert list((tmp_path / "apart").iterdir()) == []
    with pytest.raises(TunebookError, match="there is no run to log to"):
        tunebook.log({"loss": 1.0})


def test_nan_is_a_value_like_another(here: Path) -> None:
    with tunebook.init("mine") as run:
        run.log({"loss": float("nan")})
        run.log({"loss": 1.0})
    results = tunebook.load("mine")
    assert results.counts() == {"complete": 1}
    assert len(only(results).curves["loss"]) == 2


def test_a_configuration_of_any_kind(here: Path) -> None:
    config = {
        "model": {"depth": np.int64(3), "sizes": [64, 64], "deep": {"name": "a"}},
        "lr": np.float64(0.5),
        "nan": float("nan"),
        "none": None,
        "flag": True,
    }
    with tunebook.init("mine", config):
        pass
    assert only(tunebook.load("mine")).trial.config == {
        "model.depth": 3,
        "model.sizes": "[64, 64]",
        "model.deep.name": "a",
        "lr": 0.5,
        "nan": "nan",
        "none": None,
        "flag": True,
    }
    with tunebook.init("parsed", argparse.Namespace(lr=0.1, name="x")) as run:
        assert run.config == {"lr": 0.1, "name": "x"}


def test_a_study_is_not_a_project(here: Path) -> None:
    tunebook.run(small_study(trials=1), lambda run: run["x"], inline=True, quiet=True)
    with pytest.raises(TunebookError, match="'small' is a study of this book with parameters of"):
        tunebook.init("small")
    with pytest.raises(StudyError, match="'a b' cannot name a study"):
        tunebook.init("a b")
    assert current.get_run() is None


def test_inside_a_study_the_trial_is_the_run(here: Path) -> None:
    def train(run: tunebook.Run) -> None:
        with tunebook.init("other", {"x": 7}, metric="unused") as mine:
            assert (mine["x"], mine.seed) == (run["x"], run.seed)
            mine.log({"error": 0.5}, step=0)
        tunebook.log({"error": 0.25}, step=1)
        mine.finish()
        run.log({"error": 0.125}, step=2)

    results = tunebook.run(small_study(trials=1), train, inline=True, quiet=True)
    assert results.counts() == {"complete": 2}
    assert [record.curves["error"].values.tolist() for record in results] == [
        [0.5, 0.25, 0.125]
    ] * 2
    assert [every.study.name for every in workflow.book(Path(".tunebook"))] == ["small"]


def test_a_script_of_a_command_joins_its_trial(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_in(here)
    spec.write()
    monkeypatch.setenv("TUNEBOOK_ATTEMPT", str(spec.folder))
    monkeypatch.setenv("TUNEBOOK_METRICS", str(here / "told"))
    with tunebook.init("ignored", {"x": 1}) as run:
        assert run.params == {}
        assert repr(run) == "<tunebook run study/1 attempt 1, running>"
        run.log({"loss": 1})
        tunebook.log({"loss": 2})
    lines = (here / "told").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 1]
    assert not (here / ".tunebook").exists()


def test_two_scripts_at_once(here: Path) -> None:
    source = """
        import tunebook
        for _ in range(3):
            with tunebook.init("both") as run:
                for step in range(20):
                    run.log({"loss": 1 / (1 + step)}, step=step)
        """
    processes = [script(here, source, f"{name}.py") for name in ("a", "b")]
    assert [end(process).code for process in processes] == [0, 0]
    results = tunebook.load("both")
    assert results.counts() == {"complete": 6}
    assert [len(record.curves["loss"]) for record in results] == [20] * 6
    assert [record.trial.number for record in results] == [1, 2, 3, 4, 5, 6]


def test_what_a_killed_script_logged_is_handed_in_by_the_next(here: Path) -> None:
    process = script(
        here,
        """
        import time, tunebook
        run = tunebook.init("mine")
        run.log({"loss": 0.5}, step=3)
        time.sleep(1)
        open("logged", "w").close()
        time.sleep(600)
        """,
    )
    wait_until((here / "logged").exists)
    with tunebook.init("mine"):
        # The first one is alive: it is left alone.
        assert tunebook.load("mine").counts() == {"running": 2}
    process.kill()
    end(process)
    assert tunebook.load("mine").counts() == {"complete": 1, "running": 1}
    with tunebook.init("mine"):
        results = tunebook.load("mine")
    assert outcomes(results)[0] == ("crashed", "its processes died without a word")
    assert results[1].curves["loss"].values.tolist() == [0.5]


def test_the_name_of_the_script_is_the_name_of_its_study(here: Path) -> None:
    done = end(script(here, "import tunebook; print(tunebook.init())", "my script.py"))
    assert done.out == "<tunebook run my-script/1 attempt 1, running>\n"
    assert tunebook.load("my-script").counts() == {"complete": 1}
