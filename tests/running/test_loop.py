"""The loop: every trial once, every event stored before it is shown, and an honest ending."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordination import (
    COMPLETE,
    CRASHED,
    FAILED,
    PREEMPTED,
    NoProgram,
    Scripted,
    points,
    small_study,
)
from tunebook.core.events import Event, Finished, Started, Tick, Wait
from tunebook.core.protocols import Decide, Executor, Program
from tunebook.core.trials import Attempt, Code, Outcome, RetryPolicy
from tunebook.running.breaker import Breaker
from tunebook.running.interrupts import Interrupts
from tunebook.running.loop import Ending, run_study
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import SQLiteStore, open_store

STUDY = small_study(3)
CODE = Code("a" * 40)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        yield store


def run(
    store: SQLiteStore,
    executor: Executor,
    *,
    code: Code = CODE,
    interrupts: Interrupts | None = None,
    watch: Callable[[Event], None] = lambda _: None,
    room: Callable[[], bool] = lambda: True,
) -> Ending:
    return run_study(
        STUDY,
        NoProgram(),
        store=store,
        sampler=sampler_for(STUDY),
        executor=executor,
        code=code,
        policy=RetryPolicy(),
        breaker=Breaker(),
        interrupts=interrupts or Interrupts(),
        watch=watch,
        room=room,
    )


@pytest.mark.parametrize("room", [1, 4])
def test_every_setting_gets_its_trials(store: SQLiteStore, room: int) -> None:
    assert run(store, Scripted(room=room)) == Ending()
    results = store.results("small")
    assert [results.counts(setting) for setting in STUDY.space.settings()] == [{"complete": 3}] * 2


def test_where_every_trial_waits_for_room_somebody_tells(store: SQLiteStore) -> None:
    asked: list[int] = []

    class Idle(Scripted):
        def run(
            self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
        ) -> Iterator[Event]:
            yield Tick(2)

    def room() -> bool:
        asked.append(1)
        return True

    run(store, Idle(), room=room)
    assert asked == [1]


def test_running_again_changes_nothing(store: SQLiteStore) -> None:
    run(store, Scripted())
    again = Scripted()
    assert run(store, again).done
    assert again.taken == []


def test_crashes_come_back_through_the_proposals(store: SQLiteStore) -> None:
    executor = Scripted(ends=lambda attempt: CRASHED if attempt.number == 1 else COMPLETE)
    assert run(store, executor).done
    assert store.results("small").counts() == {"complete": 6}
    assert [a.number for a in executor.taken] == [1, 2] * 6


def test_an_event_is_shown_when_it_is_stored_and_not_before(store: SQLiteStore) -> None:
    shown = []

    def watch(event: Event) -> None:
        if isinstance(event, Finished):
            shown.append(event.attempt.trial.number)
            stored = store.results("small")[event.attempt.trial.number]
            assert stored.outcome == event.outcome

    run(store, Scripted(), watch=watch)
    assert shown == [1, 2, 3, 4, 5, 6]


class Ghosts(Scripted):
    """An executor that also tells of ends that came too late."""

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        for event in Scripted.run(self, program, proposals, decide):
            yield event
            if isinstance(event, Finished):
                yield Finished(event.attempt, FAILED, 1.0)
                yield points(event.attempt, 5, 9, offset=99)


def test_what_is_fenced_out_is_not_shown_and_breaks_nothing(store: SQLiteStore) -> None:
    shown: list[Outcome] = []

    def watch(event: Event) -> None:
        if isinstance(event, Finished):
            shown.append(event.outcome)

    assert run(store, Ghosts(room=2), watch=watch).done
    assert shown == [COMPLETE] * 6
    assert store.results("small").counts() == {"complete": 6}


def test_five_quick_failures_pause_the_study(store: SQLiteStore) -> None:
    executor = Scripted(ends=lambda _: FAILED)
    ending = run(store, executor)
    assert ending == Ending(
        paused="Paused: 5 attempts in a row broke within 60 s, the last one: ValueError: no."
    )
    assert not ending.done
    assert len(executor.taken) == 5


def test_a_paused_study_is_paused_even_if_the_last_trial_works(store: SQLiteStore) -> None:
    executor = Scripted(ends=lambda attempt: COMPLETE if attempt.trial.number == 6 else FAILED)
    executor.room = 6
    assert run(store, executor).paused is not None


def test_mended_code_tries_failures_again(store: SQLiteStore) -> None:
    run(store, Scripted(ends=lambda _: FAILED))
    assert run(store, Scripted(), code=Code("b" * 40)).done
    assert store.results("small").counts() == {"complete": 6}


def left_behind(store: SQLiteStore) -> list[Attempt]:
    """The attempts of a coordinator that has died."""

    class Dying(Scripted):
        def run(
            self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
        ) -> Iterator[Event]:
            self.taken = [a for _ in range(6) if isinstance(a := next(proposals), Attempt)]
            yield Tick(6)

    dying = Dying()
    run(store, dying)
    return dying.taken


def test_failures_left_behind_by_other_code_say_nothing_about_this(store: SQLiteStore) -> None:
    left = left_behind(store)
    mended = Code("b" * 40)
    executor = Scripted(ends=lambda attempt: FAILED if attempt.trial.code == CODE else COMPLETE)
    executor.room = 6
    assert run(store, executor, code=mended).done
    assert executor.taken[:6] == left
    assert [a.number for a in executor.taken[6:]] == [2] * 6
    assert store.results("small").counts() == {"complete": 6}


def test_attempts_that_died_with_the_machine_do_not_pause_the_study(store: SQLiteStore) -> None:
    left = left_behind(store)
    tokens = {attempt.token for attempt in left}
    executor = Scripted(ends=lambda a: CRASHED if a.token in tokens else COMPLETE, room=6)
    assert run(store, executor).done
    assert store.results("small").counts() == {"complete": 6}


def test_an_interrupt_is_decided_on_ticks_and_told_by_the_ending(store: SQLiteStore) -> None:
    with Interrupts() as interrupts:

        def watch(event: Event) -> None:
            if isinstance(event, Started) and event.attempt.trial.number == 3:
                signal.raise_signal(signal.SIGINT)

        ending = run(store, Scripted(), interrupts=interrupts, watch=watch)
    assert ending == Ending(interrupted=True)
    assert store.results("small").counts() == {"complete": 2, "preempted": 1}
    assert run(store, Scripted()).done
    assert store.results("small").counts() == {"complete": 6}


def test_an_executor_that_leaves_early_was_interrupted(store: SQLiteStore) -> None:
    class Leaving(Scripted):
        def run(
            self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
        ) -> Iterator[Event]:
            attempt = next(proposals)
            assert isinstance(attempt, Attempt)
            yield Finished(attempt, PREEMPTED, 1.0)

    assert run(store, Leaving()) == Ending(interrupted=True)
