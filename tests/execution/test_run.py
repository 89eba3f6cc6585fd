"""The run that a training function is given: what it logs, saves, resumes and is asked."""

from __future__ import annotations

import errno
import itertools
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attempts import attempt_in, curve, notes, outcome, read, spec_in, terms, train_here
from tunebook.core.errors import UnknownName
from tunebook.core.events import Finished, Logged, Resumed
from tunebook.core.objective import Metric
from tunebook.core.study import Budget, Divergence
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import journal
from tunebook.execution import run as run_module
from tunebook.execution.following import Follower
from tunebook.execution.run import SpoolRun, TrialEnded
from tunebook.execution.spec import Spec, StopRequest, Terms
from tunebook.files import atomic

DONE = Outcome(OutcomeKind.COMPLETE, "finished")


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return spec_in(tmp_path)


@pytest.fixture
def run(spec: Spec) -> Iterator[SpoolRun]:
    spec.write()
    run = SpoolRun(spec)
    yield run
    run.end(DONE)


def another(tmp_path: Path, number: int) -> SpoolRun:
    spec = spec_in(tmp_path, number)
    spec.write()
    return SpoolRun(spec)


def test_what_is_logged_is_told(spec: Spec, run: SpoolRun) -> None:
    run.log({"loss": 1.0, "accuracy": 0.5}, step=10)
    run.log({"loss": 0.5}, step=20)
    run.log({"accuracy": np.float32(0.75)}, step=np.int64(30))
    run.end(DONE)
    events = read(spec)
    assert curve(events) == [(10, 1.0), (20, 0.5)]
    assert curve(events, "accuracy") == [(10, 0.5), (30, 0.75)]
    assert outcome(events) == DONE


def test_steps_count_by_themselves(spec: Spec, run: SpoolRun) -> None:
    run.log({"loss": 3.0})
    run.log({"loss": 2.0})
    run.log({"loss": 1.0}, step=10)
    run.log({"loss": 0.0})
    run.end(DONE)
    assert curve(read(spec)) == [(0, 3.0), (1, 2.0), (10, 1.0), (11, 0.0)]


def test_a_queue_is_written_while_the_program_goes_on(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.01)
    spec.write()
    run = SpoolRun(spec)
    run.log({"loss": 1.0})
    while not spec.spool.stat().st_size:
        time.sleep(0.01)
    run.log({"loss": 0.5})
    run.end(DONE)
    blocks = [event for event in read(spec) if isinstance(event, Logged)]
    assert len(blocks) == 2
    assert curve(blocks) == [(0, 1.0), (1, 0.5)]


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b", "time/x", "é"]),
            st.floats(allow_nan=True, width=32) | st.integers(-100, 100),
            max_size=3,
        ),
        max_size=30,
    )
)
def test_every_point_is_told_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, float]]
) -> None:
    spec = spec_in(tmp_path_factory.mktemp("run"))
    spec.write()
    run = SpoolRun(spec)
    for step, row in enumerate(rows):
        run.log(row, step)
    run.end(DONE)
    events = read(spec)
    for name in ("a", "b", "time/x", "é"):
        logged = [(step, float(row[name])) for step, row in enumerate(rows) if name in row]
        told = curve(events, name)
        assert [step for step, _ in told] == [step for step, _ in logged]
        assert np.array_equal(
            [value for _, value in told], [value for _, value in logged], equal_nan=True
        )


def test_row_25_a_step_that_goes_back_is_refused(run: SpoolRun) -> None:
    run.log({"loss": 1.0}, step=10)
    run.log({"other": 1.0}, step=5)
    with pytest.raises(ValueError) as raised:
        run.log({"loss": 0.5}, step=9)
    assert str(raised.value) == "'loss' was logged at step 9 after step 10; steps must not go back"


def test_row_25_of_a_repeated_step_the_first_value_counts(spec: Spec, run: SpoolRun) -> None:
    for value in (1.0, 0.5, 0.25):
        run.log({"loss": value, f"once at {value}": value}, step=3)
    run.end(DONE)
    events = read(spec)
    assert curve(events) == [(3, 1.0)]
    assert curve(events, "once at 0.25") == [(3, 0.25)]
    assert notes(events) == ["'loss' was logged twice at step 3; the first value counts"]


@pytest.mark.parametrize("step", [-1, 0.5, "1", 2**63])
def test_row_25_a_step_that_is_none_is_refused(run: SpoolRun, step: object) -> None:
    with pytest.raises(ValueError, match="a step must be a whole number from 0 on, got"):
        run.log({"loss": 1.0}, step=step)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0.5, 1, "text"])
def test_row_25_a_name_that_is_no_text_is_refused(run: SpoolRun, value: object) -> None:
    with pytest.raises(TypeError, match="a metric's name must be text, got 7"):
        run.log({7: value})  # type: ignore[dict-item]


def test_a_call_that_raises_has_logged_nothing(spec: Spec, run: SpoolRun) -> None:
    with pytest.raises(TypeError, match="the metric 'accuracy' must be a number, got 'high'"):
        run.log({"loss": 1.0, "accuracy": "high"}, step=5)
    assert run.last_step == -1
    assert run.logged == ()
    run.log({"loss": 2.0}, step=5)
    run.end(DONE)
    assert curve(read(spec)) == [(5, 2.0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "loss became nan at step 4"),
        (math.inf, "loss became inf at step 4"),
        (-math.inf, "loss became -inf at step 4"),
        (np.float32("nan"), "loss became nan at step 4"),
        (1e400, "loss became inf at step 4"),
    ],
)
def test_an_objective_that_is_not_finite_ends_the_trial(
    spec: Spec, run: SpoolRun, value: object, text: str
) -> None:
    with pytest.raises(TrialEnded):
        run.log({"loss": value, "other": 1.0}, step=4)
    events = read(spec)
    assert outcome(events) == Outcome(OutcomeKind.INFEASIBLE, text, Cause.DIVERGED)
    # The value itself is part of the curve.
    ((step, told),) = curve(events)
    assert step == 4
    assert not math.isfinite(told)
    with pytest.raises(TrialEnded):
        run.log({"loss": 1.0})


def test_nan_in_a_metric_that_nobody_watches_goes_on(spec: Spec, run: SpoolRun) -> None:
    run.log({"grad": math.nan, "loss": 1.0}, step=1)
    run.log({"grad": math.inf, "loss": 1.0}, step=2)
    run.end(DONE)
    ((_, first), second) = curve(read(spec), "grad")
    assert math.isnan(first)
    assert second == (2, math.inf)


@pytest.mark.parametrize(
    ("metrics", "text"),
    [
        ({"train": 100.5}, "train rose above 100 at step 0"),
        ({"train": math.inf}, "train became inf at step 0"),
        ({"train": math.nan}, "train became nan at step 0"),
    ],
)
def test_a_threshold_ends_the_trial(tmp_path: Path, metrics: dict[str, float], text: str) -> None:
    spec = spec_in(tmp_path, given=terms(watched=["train"], above=100.0))
    (*_, last) = train_here(lambda run: run.log(metrics), spec)
    assert isinstance(last, Finished)
    assert last.outcome == Outcome(OutcomeKind.INFEASIBLE, text, Cause.DIVERGED)


def test_a_threshold_is_for_the_metrics_named_for_it(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, given=terms(watched=["train"], above=100.0))
    events = train_here(lambda run: run.log({"loss": 1e6, "train": 100.0, "other": 1e9}), spec)
    assert outcome(events) == DONE


def test_infeasible_ends_the_trial(spec: Spec, run: SpoolRun) -> None:
    with pytest.raises(TrialEnded):
        run.infeasible("the batch does not fit" + "!" * 1000)
    ended = outcome(read(spec))
    assert ended.kind is OutcomeKind.INFEASIBLE
    assert ended.cause is Cause.REPORTED
    assert ended.reason.startswith("the batch does not fit!")
    assert len(ended.reason) == run_module.LONGEST_REASON


def test_the_first_outcome_counts(spec: Spec, run: SpoolRun) -> None:
    run.end(DONE)
    run.end(Outcome(OutcomeKind.FAILED, "too late"))
    assert outcome(read(spec)) == DONE


def test_parameters(tmp_path: Path, run: SpoolRun) -> None:
    assert dict(run.params) == {}
    with pytest.raises(UnknownName, match=r"this trial has no parameter 'learning_rte'$"):
        run["learning_rte"]
    with pytest.raises(TypeError):
        run.params["new"] = 1  # type: ignore[index]


def test_a_parameter_s_nearest_name_is_offered(tmp_path: Path) -> None:
    spec = Spec(attempt_in(tmp_path, config={"learning_rate": 0.1}, seed=7), terms(Budget(5)))
    spec.write()
    run = SpoolRun(spec)
    assert run["learning_rate"] == run.params["learning_rate"] == 0.1
    assert (run.seed, run.budget, run.objective) == (7, Budget(5), "loss")
    assert run.attempt == spec.attempt
    with pytest.raises(UnknownName, match=r"'learning_rte'; did you mean 'learning_rate'\?"):
        run["learning_rte"]
    run.end(DONE)


def test_files_of_the_program_are_kept_with_the_trial(tmp_path: Path, run: SpoolRun) -> None:
    (run.folder / "note.txt").write_text("from the first attempt")
    later = another(tmp_path, 2)
    assert (later.folder / "note.txt").read_text() == "from the first attempt"
    assert later.resume() is None
    later.end(DONE)


def test_a_checkpoint_is_found_by_the_next_attempt(tmp_path: Path, run: SpoolRun) -> None:
    run.log({"loss": 1.0}, step=100)
    with run.checkpoint(100) as folder:
        (folder / "weights").write_text("w")
    later = another(tmp_path, 2)
    found = later.resume()
    assert found is not None
    assert (found / "weights").read_text() == "w"
    assert later.last_step == 100
    later.log({"loss": 0.5})
    later.end(DONE)
    events = read(spec_in(tmp_path, 2))
    (resumed,) = [event for event in events if isinstance(event, Resumed)]
    assert (resumed.source, resumed.step) == (1, 100)
    assert curve(events) == [(101, 0.5)]


def test_row_27_resuming_twice_does_not_move_the_steps_back(tmp_path: Path, run: SpoolRun) -> None:
    with run.checkpoint(100):
        pass
    later = another(tmp_path, 2)
    assert later.resume() == later.resume()
    later.log({"loss": 1.0})
    later.log({"loss": 0.9})
    assert later.resume() is not None
    assert later.last_step == 102
    later.log({"loss": 0.8})
    with later.checkpoint(103):
        pass
    own = later.resume()
    assert own is not None
    assert own.parent.parent.name == "2"
    later.log({"loss": 0.7})
    later.end(DONE)
    events = read(spec_in(tmp_path, 2))
    assert curve(events) == [(101, 1.0), (102, 0.9), (103, 0.8), (104, 0.7)]
    # An attempt's own checkpoint is no other attempt's that it continues.
    assert [(e.source, e.step) for e in events if isinstance(e, Resumed)] == [(1, 100)]


def test_points_are_on_the_disk_before_the_checkpoint_that_follows_them(
    tmp_path: Path, spec: Spec, run: SpoolRun
) -> None:
    run.log({"loss": 1.0}, step=100)
    with run.checkpoint(100):
        pass
    follower = Follower(spec)
    assert curve(list(follower.news())) == [(100, 1.0)]
    # Who resumes at the end has nothing left to log, and is complete all the same.
    later = spec_in(tmp_path, 2)
    assert outcome(train_here(lambda run: run.resume() and None, later)) == DONE


def test_row_27_steps_may_overlap_those_of_an_earlier_attempt(
    tmp_path: Path, run: SpoolRun
) -> None:
    for step in range(150):
        run.log({"loss": 1.0}, step)
        if step == 100:
            with run.checkpoint(step):
                pass
    run.end(Outcome(OutcomeKind.CRASHED, "killed"))
    for number in (2, 3):
        later = another(tmp_path, number)
        assert later.resume() is not None
        later.log({"loss": 0.5}, step=101)
        later.end(DONE)
        events = read(spec_in(tmp_path, number))
        assert [(e.source, e.step) for e in events if isinstance(e, Resumed)] == [(1, 100)]
        assert curve(events) == [(101, 0.5)]


def test_nothing_to_resume(run: SpoolRun) -> None:
    assert run.resume() is None
    assert run.last_step == -1


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path, int], None]] = {
    "truncated": lambda path, place: os.truncate(path, place % path.stat().st_size),
    "flipped": flip,
    "removed": lambda path, _: path.unlink(),
}


@given(
    st.sampled_from(sorted(DAMAGES)),
    st.sampled_from(["weights", atomic.MANIFEST]),
    st.integers(0, 10**6),
)
def test_row_08_half_written_or_flipped_checkpoint_is_skipped(
    tmp_path_factory: pytest.TempPathFactory, damage: str, file: str, place: int
) -> None:
    folder = tmp_path_factory.mktemp("row08")
    run = another(folder, 1)
    for step in (10, 20):
        with run.checkpoint(step) as checkpoint:
            (checkpoint / "weights").write_bytes(bytes(range(200)) + bytes([step]))
    run.end(DONE)
    DAMAGES[damage](folder / "1" / "1" / "checkpoints" / "20" / file, place)
    later = another(folder, 2)
    found = later.resume()
    later.end(DONE)
    assert found is not None
    assert found.name == "10"
    assert (found / "weights").read_bytes()[-1] == 10
    (note,) = notes(read(spec_in(folder, 2)))
    assert note.startswith("skipped the checkpoint of step 20 by attempt 1: ")


def test_a_checkpoint_that_was_killed_in_the_middle_is_not_there(
    tmp_path: Path, run: SpoolRun
) -> None:
    saving = run.checkpoint(5)
    folder = saving.__enter__()
    (folder / "weights").write_text("half")
    later = another(tmp_path, 2)
    assert later.resume() is None
    later.end(DONE)
    assert not saving.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert list((tmp_path / "1" / "1" / "checkpoints").iterdir()) == []


def test_a_checkpoint_needs_a_step(run: SpoolRun) -> None:
    with pytest.raises(ValueError, match="a step must be a whole number"), run.checkpoint(-1):
        pass


def test_row_07_a_full_disk_does_not_end_the_training(
    spec: Spec, run: SpoolRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run.checkpoint(1) as folder:
        (folder / "weights").write_text("w")
    with run.checkpoint(2) as folder:
        (folder / "weights").write_text("w")
        raise OSError(errno.ENOSPC, "No space left on device")
    with run.checkpoint(3) as folder:
        raise RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed")
    with pytest.raises(OSError, match="Permission denied"), run.checkpoint(4):
        raise OSError(errno.EACCES, "Permission denied")
    assert [entry.name for entry in (spec.folder / "checkpoints").iterdir()] == ["1"]
    run.end(DONE)
    first, second = notes(read(spec))
    assert first == (
        "the checkpoint of step 2 was not saved, as the disk is full: "
        "[Errno 28] No space left on device"
    )
    assert second.startswith("the checkpoint of step 3 was not saved, as the disk is full: Pytorch")


def test_points_wait_for_a_full_disk(
    spec: Spec, run: SpoolRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", full)
        run.log({"loss": 1.0})
        with pytest.raises(OSError, match="No space left"):
            run._journal.flush()
        run.note("heard once there is room")
        run.log({"loss": 0.5})
        run.log({"loss": 0.5}, step=1)
    run.end(DONE)
    events = read(spec)
    assert curve(events) == [(0, 1.0), (1, 0.5)]
    assert notes(events) == [
        "heard once there is room",
        "'loss' was logged twice at step 1; the first value counts",
    ]


def test_timings_are_told_beside_the_last_step(spec: Spec, run: SpoolRun) -> None:
    with run.timing("data"):
        time.sleep(0.001)
    with pytest.raises(ZeroDivisionError), run.timing("broken"):
        _ = 1 / 0
    run.log({"loss": 1.0}, step=7)
    run._journal.flush()
    run._journal.flush()
    with run.timing("data"):
        pass
    run.log({"loss": 0.5}, step=8)
    with run.timing("data"):
        pass
    run.end(DONE)
    events = read(spec)
    assert outcome(events) == DONE
    (first, second) = curve(events, "time/data")
    assert (first[0], second[0]) == (7, 8)
    assert 0.001 <= first[1] <= second[1]
    assert [step for step, _ in curve(events, "time/broken")] == [7, 8]
    assert run.logged == ("loss",)


def test_timings_without_a_step_are_not_told(spec: Spec, run: SpoolRun) -> None:
    with run.timing("data"):
        pass
    run.end(DONE)
    assert curve(read(spec), "time/data") == []


def test_the_thread_that_writes_does_not_move_the_steps(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        spec.write()
        run = SpoolRun(spec)
        for step in range(2000):
            with run.timing("data"):
                run.log({"loss": float(step)})
        run.end(DONE)
    finally:
        sys.setswitchinterval(interval)
    events = read(spec)
    assert curve(events) == [(step, float(step)) for step in range(2000)]
    assert notes(events) == []


def test_a_stop_request_is_seen_and_remembered(spec: Spec, run: SpoolRun) -> None:
    assert not run.should_stop
    assert run.obeyed is None
    request = StopRequest("preempt", "interrupted", 30.0)
    request.write(spec.folder)
    while not run.should_stop:
        pass
    (spec.folder / "stop").unlink()
    assert run.should_stop
    assert run.obeyed == request


def test_looking_for_a_request_is_cheap(spec: Spec) -> None:
    asked: list[int] = []

    def ask() -> None:
        asked.append(1)

    spec.write()
    run = SpoolRun(spec, ask)
    for _ in range(1000):
        assert not run.should_stop
    run.end(DONE)
    assert 1 <= len(asked) < 100


def test_a_budget_of_seconds_asks_to_stop(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, given=terms(Budget(0.05, "seconds")))
    spec.write()
    run = SpoolRun(spec)
    assert not run.has_spent_its_budget
    while not run.should_stop:
        time.sleep(0.005)
    assert run.obeyed is None
    assert run.has_spent_its_budget
    run.end(DONE)


def test_a_resumed_trial_has_spent_what_its_checkpoint_had(tmp_path: Path) -> None:
    budget = terms(Budget(1000, "seconds"))
    spec = spec_in(tmp_path, 1, budget)
    spec.write()
    run = SpoolRun(spec)
    run._began -= 600
    with run.checkpoint(1):
        pass
    run.end(DONE)
    spec = spec_in(tmp_path, 2, budget)
    spec.write()
    second = SpoolRun(spec)
    assert second.resume() is not None
    assert not second.should_stop
    second._began -= 300
    with second.checkpoint(2):
        pass
    second.end(DONE)
    spec = spec_in(tmp_path, 3, budget)
    spec.write()
    third = SpoolRun(spec)
    third.resume()
    assert not third.should_stop
    third._began -= 101
    assert third.should_stop
    third.end(DONE)


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (None, False),
        (Budget(10), True),
        (Budget(11), False),
        (Budget(1, "examples"), False),
        (Budget(1e6, "seconds"), False),
    ],
)
def test_what_a_budget_knows(tmp_path: Path, budget: Budget | None, spent: bool) -> None:
    spec = spec_in(tmp_path, given=terms(budget))
    spec.write()
    run = SpoolRun(spec)
    run.log({"loss": 1.0}, step=9)
    assert run.has_spent_its_budget is spent
    run.end(DONE)


def test_a_forked_child_writes_nothing(spec: Spec, run: SpoolRun) -> None:
    run.log({"loss": 1.0})
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run.log({"loss": 9.0})
            run.note("from a child")
            run.end(Outcome(OutcomeKind.FAILED, "from a child"))
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    run.log({"loss": 0.5})
    run.end(DONE)
    events = read(spec)
    assert curve(events) == [(0, 1.0), (1, 0.5)]
    assert notes(events) == []
    assert outcome(events) == DONE


def test_threads_may_log(spec: Spec, run: SpoolRun) -> None:
    def work(name: str) -> None:
        for step in range(200):
            run.log({name: float(step)}, step)

    threads = [threading.Thread(target=work, args=(f"metric {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.end(DONE)
    events = read(spec)
    for n in range(4):
        assert curve(events, f"metric {n}") == [(step, float(step)) for step in range(200)]


def test_a_run_that_is_killed_has_told_all_but_its_last_half_second(tmp_path: Path) -> None:
    code = """
import os, sys, time
from pathlib import Path
from tunebook.execution.following import Follower
from tunebook.execution.run import SpoolRun
from tunebook.execution.spec import Spec
run = SpoolRun(Spec.read(Path(sys.argv[1])))
for step in range(10):
    run.log({"loss": 1.0}, step)
time.sleep(1.2)
run.log({"loss": 1.0}, 10)
os.kill(os.getpid(), 9)
"""
    spec = spec_in(tmp_path)
    spec.write()
    done = subprocess.run([sys.executable, "-c", code, str(spec.folder)], check=False)
    assert done.returncode == -9
    assert curve(read(spec)) == [(step, 1.0) for step in range(10)]


def test_a_run_of_no_study_watches_nothing(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, given=Terms(None, Divergence(), None))
    spec.write()
    run = SpoolRun(spec)
    run.log({"loss": math.nan})
    assert run.objective is None
    run.end(DONE)
    assert outcome(read(spec)) == DONE


# Memory, which the trials of procedures log too.


def measured(tmp_path: Path) -> SpoolRun:
    given = Terms(Metric("loss"), Divergence(), None, measured=True)
    spec = spec_in(tmp_path, given=given)
    spec.write()
    return SpoolRun(spec)


def told(tmp_path: Path) -> list[tuple[int, float]]:
    return curve(read(spec_in(tmp_path)), run_module.MEMORY)


def test_trials_of_procedures_log_their_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module.memory, "resident_bytes", lambda: 7 * 2**20)
    run = measured(tmp_path)
    run.log({"loss": 1.0}, step=3)
    run.end(DONE)
    assert told(tmp_path) == [(3, 7 * 2**20)]


def test_memory_is_looked_at_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(0.05 * n for n in range(1000))
    monkeypatch.setattr(run_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(run_module.memory, "resident_bytes", lambda: 1)
    run = measured(tmp_path)
    for step in range(30):
        run.log({"loss": 1.0}, step=step)
    # Each log looks at the clock once: 30 of them are a second and a half.
    steps = [step for step, _ in _logged_memory(run)]
    assert 5 <= len(steps) <= 8
    assert min(b - a for a, b in itertools.pairwise(steps)) >= 4


def _logged_memory(run: SpoolRun) -> list[tuple[int, float]]:
    run.end(DONE)
    spec = run._spec
    return curve(read(spec), run_module.MEMORY)


def test_memory_is_logged_once_for_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "MEMORY_SECONDS", -1.0)
    run = measured(tmp_path)
    run.log({"loss": 1.0}, step=3)
    run.log({"other": 1.0}, step=3)
    run.log({"loss": 1.0}, step=4)
    assert [step for step, _ in _logged_memory(run)] == [3, 4]


def test_other_trials_do_not_look(
    spec: Spec, run: SpoolRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module.memory, "resident_bytes", lambda: pytest.fail("looked"))
    run.log({"loss": 1.0}, step=3)
    run.end(DONE)
    assert curve(read(spec), run_module.MEMORY) == []
