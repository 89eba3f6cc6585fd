"""What every executor keeps to. A test class inherits the checks and provides `executor`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attempts import (
    TERMS,
    attempt_in,
    curve,
    go_on,
    is_tick,
    outcome,
    outcomes,
    program_in,
    run,
    running,
)
from tunebook.core.errors import ProgramError
from tunebook.core.events import Decision, Event, Finished, Logged, Resumed, Started, Tick, Wait
from tunebook.core.protocols import Executor, Run
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt, Cause, Outcome, OutcomeKind
from tunebook.execution import beginning, programs
from tunebook.execution.following import Follower
from tunebook.execution.spec import Spec

Make = Callable[..., Executor]

# Trains until it is asked to stop; resumes where it was.
UNTIL_STOPPED = """
    import time

    def train(run):
        folder = run.resume()
        step = int((folder / "step").read_text()) if folder else -1
        while not run.should_stop:
            step += 1
            run.log({"loss": 1 / (1 + step)}, step)
            time.sleep(0.01)
        with run.checkpoint(step) as folder:
            (folder / "step").write_text(str(step))
"""


class ExecutorContract:
    """Checks for any executor; `executor(**terms)` makes one for a study with these terms."""

    @pytest.fixture
    def executor(self) -> Make:
        raise NotImplementedError

    def test_an_attempt_is_told_from_its_start_to_its_end(
        self, executor: Make, tmp_path: Path
    ) -> None:
        program = program_in(
            tmp_path, "def train(run):\n    for n in range(5): run.log({'loss': n, 'other': -n})"
        )
        attempt = attempt_in(tmp_path)
        events = run(executor(), program, [attempt])
        assert isinstance(events[0], Started)
        assert isinstance(events[-1], Finished)
        assert all(event.attempt == attempt for event in events)  # type: ignore[union-attr]
        assert curve(events) == [(n, float(n)) for n in range(5)]
        assert curve(events, "other") == [(n, float(-n)) for n in range(5)]
        assert outcome(events) == Outcome(OutcomeKind.COMPLETE, "finished")

    def test_every_attempt_gets_its_own_configuration(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, "def train(run):\n    return run['x'] * 10 + run.seed")
        proposed = [attempt_in(tmp_path, n, config={"x": n}, seed=n % 2) for n in range(1, 6)]
        events = run(executor(), program, proposed)
        assert {n: ended.kind for n, ended in outcomes(events).items()} == dict.fromkeys(
            range(1, 6), OutcomeKind.COMPLETE
        )
        for number in range(1, 6):
            assert curve(events, trial=number) == [(0, float(10 * number + number % 2))]

    def test_one_bad_trial_does_not_touch_the_others(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(
            tmp_path,
            """
            import sys

            def train(run):
                match run["how"]:
                    case "raise": raise ValueError("no")
                    case "exit": sys.exit(3)
                    case "nan": run.log({"loss": float("nan")})
                    case "memory": raise MemoryError
                    case "infeasible": run.infeasible("too deep")
                    case "silent": return None
                return 1.0
            """,
        )
        ways = ["fine", "raise", "exit", "nan", "memory", "infeasible", "silent", "fine again"]
        proposed = [attempt_in(tmp_path, n, config={"how": way}) for n, way in enumerate(ways, 1)]
        ended = outcomes(run(executor(), program, proposed))
        told = {way: (ended[n].kind.value, ended[n].cause) for n, way in enumerate(ways, 1)}
        assert told == {
            "fine": ("complete", Cause.NONE),
            "raise": ("failed", Cause.NONE),
            "exit": ("failed", Cause.NONE),
            "nan": ("infeasible", Cause.DIVERGED),
            "memory": ("infeasible", Cause.OUT_OF_MEMORY),
            "infeasible": ("infeasible", Cause.REPORTED),
            "silent": ("failed", Cause.NONE),
            "fine again": ("complete", Cause.NONE),
        }
        assert ended[2].reason == "ValueError: no (train.py:6)"
        assert ended[2].detail.startswith("Traceback (most recent call last):")

    def test_attempts_are_taken_one_by_one(self, executor: Make, tmp_path: Path) -> None:
        """The last proposal depends on the first result, as a guided sampler's does."""
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        seen: list[str] = []

        def proposals() -> Iterator[Attempt | Wait]:
            yield attempt_in(tmp_path, 1)
            while "Finished" not in seen:
                yield Wait()
            yield attempt_in(tmp_path, 2)

        for event in running(executor(), program, proposals()):
            seen.append(type(event).__name__)
        assert seen.count("Finished") == 2

    def test_nothing_to_do(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        assert run(executor(), program, []) == []

    def test_every_event_is_decided_on_once_and_then_told(
        self, executor: Make, tmp_path: Path
    ) -> None:
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        decided: list[Event] = []

        def decide(event: Event) -> Decision:
            if not is_tick(event):
                decided.append(event)
            return Decision.GO_ON

        told = run(executor(), program, [attempt_in(tmp_path, n) for n in (1, 2)], decide)
        assert decided == told

    def test_a_rule_stops_an_attempt(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, UNTIL_STOPPED)

        def decide(event: Event) -> Decision:
            return Decision.STOP if isinstance(event, Logged) else Decision.GO_ON

        events = run(executor(), program, [attempt_in(tmp_path)], decide)
        last, _ = curve(events)[-1]
        assert outcome(events) == Outcome(OutcomeKind.STOPPED, f"stopped by a rule at step {last}")

    def test_draining_saves_and_starts_nothing_more(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, UNTIL_STOPPED)
        logged: list[Event] = []

        def decide(event: Event) -> Decision:
            logged.extend([event] if isinstance(event, Logged) else [])
            return Decision.DRAIN if logged and isinstance(event, Tick) else Decision.GO_ON

        proposed = [attempt_in(tmp_path, n) for n in range(1, 20)]
        left = iter(proposed)
        events = run(executor(), program, left, decide)
        begun = {event.attempt.trial.number for event in events if isinstance(event, Started)}
        assert len(begun) <= 4
        for number, ended in outcomes(events).items():
            assert ended.kind is OutcomeKind.PREEMPTED
            last, _ = curve(events, trial=number)[-1]
            assert ended.reason == f"interrupted at step {last}"
            assert (tmp_path / str(number) / "1" / "checkpoints" / str(last)).is_dir()
        assert len(list(left)) == len(proposed) - len(begun)
        # The next attempt goes on where the first one stopped.
        last, _ = curve(events, trial=1)[-1]
        logged.clear()
        later = run(executor(), program, [attempt_in(tmp_path, 1, 2)], decide)
        (resumed,) = [event for event in later if isinstance(event, Resumed)]
        assert (resumed.source, resumed.step) == (1, last)
        assert curve(later)[0][0] == last + 1

    def test_a_budget_of_seconds_is_kept(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, UNTIL_STOPPED)
        made = executor(budget=Budget(0.1, "seconds"))
        events = run(made, program, [attempt_in(tmp_path)])
        assert outcome(events) == Outcome(OutcomeKind.COMPLETE, "finished")

    def test_the_program_can_ask_for_its_run(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(
            tmp_path,
            """
            from tunebook.execution import current

            def train(run):
                current.get_run().log({"loss": current.get_run() is run})
            """,
        )
        events = run(executor(), program, [attempt_in(tmp_path)])
        assert curve(events) == [(0, 1.0)]

    def test_the_seed_decides_what_is_drawn(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(
            tmp_path,
            """
            import random
            import numpy
            numpy.random.rand()

            def train(run):
                return {"loss": random.random(), "numpy": numpy.random.rand()}
            """,
        )
        seeds = (7, 7, 8)
        proposed = [attempt_in(tmp_path, n, seed=seed) for n, seed in enumerate(seeds, 1)]
        events = run(executor(), program, proposed)
        for metric in ("loss", "numpy"):
            first, second, third = (curve(events, metric, n) for n in (1, 2, 3))
            assert first == second != third

    def test_an_attempt_that_has_ended_is_told_again_and_not_run_again(
        self, executor: Make, tmp_path: Path
    ) -> None:
        program = program_in(
            tmp_path,
            """
            def train(run):
                with (run.folder / "starts").open("a") as file:
                    file.write("once ")
                return 1.0
            """,
        )
        attempt = attempt_in(tmp_path)
        first = run(executor(), program, [attempt])
        second = run(executor(), program, [attempt])
        assert first == second
        assert (tmp_path / "1" / "files" / "starts").read_text() == "once "

    def test_an_attempt_that_died_is_not_run_again(self, executor: Make, tmp_path: Path) -> None:
        attempt = attempt_in(tmp_path)
        spec = Spec(attempt, TERMS)
        spec.write()
        lock = beginning.take(spec)
        assert lock is not None
        lock.release()
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        ended = outcome(run(executor(), program, [attempt]))
        assert ended == Outcome(OutcomeKind.CRASHED, "its processes died without a word")

    def test_an_attempt_that_was_given_up_is_not_run(self, executor: Make, tmp_path: Path) -> None:
        attempt = attempt_in(tmp_path)
        spec = Spec(attempt, TERMS)
        spec.write()
        assert list(Follower(spec).give_up_if_dead())
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        events = run(executor(), program, [attempt])
        assert outcome(events).kind is OutcomeKind.CRASHED
        assert curve(events) == []

    def test_a_function_by_value(self, executor: Make, tmp_path: Path) -> None:
        secret = 41

        def train(run: Run) -> int:
            return secret + 1

        events = run(executor(), programs.of_function(train), [attempt_in(tmp_path)])
        assert curve(events) == [(0, 42.0)]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (
                "x = 1 / 0",
                "importing train.py failed: ZeroDivisionError: division by zero (train.py:1)",
            ),
            ("import sys; sys.exit(3)", "importing train.py ended with exit code 3"),
            ("def trains(run): pass", "train.py has no function 'train'; did you mean 'trains'?"),
            ("def train(): pass", "train.py:train must take one argument, the run: def train(run)"),
        ],
    )
    def test_a_program_that_cannot_be_loaded(
        self, executor: Make, tmp_path: Path, text: str, reason: str
    ) -> None:
        program = program_in(tmp_path, text)
        with pytest.raises(ProgramError) as raised:
            run(executor(), program, [attempt_in(tmp_path)])
        assert str(raised.value) == reason

    def test_it_can_be_run_from_a_thread(self, executor: Make, tmp_path: Path) -> None:
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        events: list[Event] = []

        def work() -> None:
            events.extend(run(executor(), program, [attempt_in(tmp_path)]))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert outcome(events).kind is OutcomeKind.COMPLETE

    def test_whoever_stops_listening_is_not_waited_for(
        self, executor: Make, tmp_path: Path
    ) -> None:
        program = program_in(tmp_path, "def train(run):\n    return 1.0")
        listening = running(executor(), program, [attempt_in(tmp_path)], go_on)
        assert isinstance(next(event for event in listening if not is_tick(event)), Started)
        listening.close()  # type: ignore[attr-defined]
        # What it has not heard, the next one hears.
        assert outcome(run(executor(), program, [attempt_in(tmp_path)])).kind == "complete"
