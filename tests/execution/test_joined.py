"""The run of a command's trial as its script sees it, and what the worker hears."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from attempts import attempt_in, in_a_child, terms
from tunebook.core.errors import UnknownName
from tunebook.core.protocols import Run
from tunebook.core.study import Budget
from tunebook.execution import checkpoints, joined
from tunebook.execution.joined import JoinedRun
from tunebook.execution.run import TrialEnded
from tunebook.execution.spec import Spec, StopRequest


@pytest.fixture(autouse=True)
def _nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "PATIENCE_SECONDS", 0.0)


def spec(folder: Path, number: int = 1, budget: Budget | None = None) -> Spec:
    attempt = attempt_in(folder, number=number, seed=5, config={"lr": 0.1})
    found = Spec(attempt, terms(budget=budget))
    found.write()
    return found


def told(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_it_knows_its_trial(tmp_path: Path) -> None:
    run: Run = JoinedRun(spec(tmp_path, budget=Budget(7)), tmp_path / "told")
    assert dict(run.params) == {"lr": 0.1}
    assert (run["lr"], run.seed, run.budget) == (0.1, 5, Budget(7))
    assert run.folder == tmp_path / "1" / "files"
    with pytest.raises(UnknownName, match="this trial has no parameter 'lrr'; did you mean 'lr'"):
        run["lrr"]


def test_what_it_logs_is_a_line(tmp_path: Path) -> None:
    run = JoinedRun(spec(tmp_path), tmp_path / "told")
    began = time.time()
    run.log({"loss": 1}, step=3)
    with run.timing("data"):
        pass
    run.log({"loss": 0.5})
    with pytest.raises(TypeError, match="the metric 'loss' must be a number"):
        run.log({"loss": "low"})
    first, second = told(tmp_path / "told")
    assert first == {"tunebook": "log", "step": 3, "metrics": {"loss": 1.0}, "at": first["at"]}
    assert began <= first["at"] <= second["at"] <= time.time()
    assert second["step"] == 4
    assert second["metrics"].keys() == {"loss", "time/data"}


def test_other_ranks_and_forked_children_are_not_heard(tmp_path: Path) -> None:
    silent = JoinedRun(spec(tmp_path), tmp_path / "told", speaks=False)
    silent.log({"loss": 1})
    with silent.checkpoint(1) as folder:
        (folder / "x").touch()
    assert not folder.exists()
    run = JoinedRun(spec(tmp_path), tmp_path / "told")

    def log() -> bool:
        run.log({"loss": 1})
        return True

    assert in_a_child(log)
    assert told(tmp_path / "told") == []
    assert list(checkpoints.newest(tmp_path / "1")) == []


def test_checkpoints_are_those_of_the_trial(tmp_path: Path) -> None:
    first = JoinedRun(spec(tmp_path), tmp_path / "told")
    assert first.resume() is None
    first.log({"loss": 1}, step=2)
    with first.checkpoint(2) as folder:
        (folder / "weights").write_text("w")
    second = JoinedRun(spec(tmp_path, number=2), tmp_path / "told-2")
    found = second.resume()
    assert found is not None
    assert (found / "weights").read_text() == "w"
    second.log({"loss": 0.5})
    resumed, logged = told(tmp_path / "told-2")
    assert resumed == {"tunebook": "resumed", "attempt": 1, "step": 2, "logged": ["loss"]}
    assert (logged["step"], logged["metrics"]) == (3, {"loss": 0.5})


def test_a_full_disk_costs_the_checkpoint_only(tmp_path: Path) -> None:
    run = JoinedRun(spec(tmp_path), tmp_path / "told")
    with run.checkpoint(2):
        raise OSError(28, "No space left on device")
    (note,) = told(tmp_path / "told")
    assert note["text"].startswith("the checkpoint of step 2 was not saved, as the disk is full")
    with pytest.raises(KeyError), run.checkpoint(3):
        raise KeyError


def test_it_is_asked_to_stop(tmp_path: Path) -> None:
    run = JoinedRun(spec(tmp_path), tmp_path / "told")
    assert not run.should_stop
    StopRequest("stop", "by a rule", 1.0).write(tmp_path / "1" / "1")
    assert run.should_stop
    assert JoinedRun(spec(tmp_path, 2, Budget(1e-9, "seconds")), tmp_path / "told").should_stop


def test_infeasible_leaves_the_script(tmp_path: Path) -> None:
    with pytest.raises(TrialEnded):
        JoinedRun(spec(tmp_path), tmp_path / "told").infeasible("too wide")
    assert told(tmp_path / "told") == [{"tunebook": "infeasible", "reason": "too wide"}]


def test_a_process_finds_its_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert joined.of_environment() is None
    monkeypatch.setenv("TUNEBOOK_ATTEMPT", str(spec(tmp_path).folder))
    assert joined.of_environment() is None
    monkeypatch.setenv("TUNEBOOK_METRICS", str(tmp_path / "told"))
    run = joined.of_environment()
    assert run is not None
    assert joined.of_environment() is run
    run.log({"loss": 1})
    monkeypatch.setenv("RANK", "1")
    other = joined.of_environment()
    assert other is not None
    other.log({"loss": 2})
    assert len(told(tmp_path / "told")) == 1
    assert os.stat(tmp_path / "told").st_mode & 0o777 == 0o600
