"""Following an attempt: its news, its ending, and what is said when it left none."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from attempts import attempt_in, curve, outcome, spec_in
from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished, Logged, Started
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution import beginning, here, records
from tunebook.execution.following import Follower
from tunebook.execution.spec import Spec
from tunebook.files import spool

DONE = Outcome(OutcomeKind.COMPLETE, "finished")


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return spec_in(tmp_path)


def begin(spec: Spec) -> here.RunHere:
    begun = here.begin(spec)
    assert begun is not None
    return begun


def test_news_come_once_and_in_order(spec: Spec) -> None:
    follower = Follower(spec)
    assert list(follower.news()) == []
    begun = begin(spec)
    (started,) = follower.news()
    assert isinstance(started, Started)
    told: list[Event] = []
    for step in range(3):
        begun.run.log({"loss": float(step)})
        begun.run._journal.flush()
        told += follower.news()
    assert curve(told) == [(0, 0.0), (1, 1.0), (2, 2.0)]
    offsets = [event.offset for event in told if isinstance(event, Logged)]
    assert offsets == sorted(set(offsets))
    assert list(follower.news()) == []
    begun.run.end(DONE)
    begun.release()


def test_an_ending_is_told_when_nothing_of_the_attempt_lives(spec: Spec) -> None:
    follower = Follower(spec)
    begun = begin(spec)
    begun.run.log({"loss": 1.0})
    begun.run.end(DONE)
    # The outcome is written, but whoever holds the lock may still have children to end.
    assert not any(isinstance(event, Finished) for event in follower.news())
    assert list(follower.give_up_if_dead()) == []
    assert not follower.finished
    begun.release()
    (last,) = follower.give_up_if_dead()
    assert isinstance(last, Finished)
    assert last.outcome == DONE
    assert follower.finished
    assert list(follower.give_up_if_dead()) == []
    assert not spec.fence.exists()


def test_an_attempt_that_left_no_ending_gets_one(spec: Spec) -> None:
    begun = begin(spec)
    begun.run.log({"loss": 1.0})
    begun.run._journal.flush()
    begun.release()
    follower = Follower(spec)
    events = [*follower.news(), *follower.give_up_if_dead()]
    assert curve(events) == [(0, 1.0)]
    assert outcome(events) == Outcome(OutcomeKind.CRASHED, "its processes died without a word")
    assert isinstance(events[-1], Finished)
    assert events[-1].seconds >= 0
    assert list(follower.give_up_if_dead()) == []
    begun.run.end(DONE)


def test_what_was_given_up_cannot_begin(spec: Spec) -> None:
    spec.write()
    follower = Follower(spec)
    assert outcome(follower.give_up_if_dead()).kind is OutcomeKind.CRASHED
    assert spec.fence.exists()
    assert beginning.take(spec) is None
    assert here.begin(spec) is None
    assert not beginning.has_begun(spec)


def refuse_fences(patch: pytest.MonkeyPatch, number: int) -> None:
    def touch(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    patch.setattr(Path, "touch", touch)


def test_on_a_full_disk_nobody_is_given_up_yet(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(spec).release()
    follower = Follower(spec)
    with monkeypatch.context() as patch:
        refuse_fences(patch, errno.ENOSPC)
        assert [type(event) for event in follower.give_up_if_dead()] == [Started]
        assert not follower.finished
    assert outcome(follower.give_up_if_dead()).kind is OutcomeKind.CRASHED


def test_a_folder_that_is_removed_at_the_last_moment(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(spec).release()
    follower = Follower(spec)

    def touch(path: Path, **_: object) -> None:
        shutil.rmtree(path.parent)
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "touch", touch)
        list(follower.give_up_if_dead())
        assert not follower.finished
    assert outcome(follower.give_up_if_dead()).reason == f"its folder {spec.folder} was removed"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EIO])
def test_a_death_that_can_never_be_written_down_is_told(
    spec: Spec, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    begin(spec).release()
    follower = Follower(spec)
    with monkeypatch.context() as patch:
        refuse_fences(patch, number)
        with pytest.raises(StoreError) as told:
            list(follower.give_up_if_dead())
    assert str(told.value) == (
        f"trial 1 has died, and that cannot be written down in {spec.folder}: "
        f"{os.strerror(number)}; when it can, run again: nothing is lost"
    )
    # The next run finds it as it was, and nobody holds its lock.
    assert outcome(Follower(spec).give_up_if_dead()).kind is OutcomeKind.CRASHED


def test_a_torn_record_is_no_news(spec: Spec) -> None:
    begun = begin(spec)
    size = spec.spool.stat().st_size
    begun.run.log({"loss": 1.0})
    begun.run._journal.flush()
    whole = spec.spool.read_bytes()
    os.truncate(spec.spool, len(whole) - 1)
    follower = Follower(spec)
    assert [type(event) for event in follower.news()] == [Started]
    spec.spool.write_bytes(whole)
    assert curve(list(follower.news())) == [(0, 1.0)]
    assert size < len(whole)
    begun.run.end(DONE)
    begun.release()


def test_a_folder_that_was_removed_is_an_end(spec: Spec) -> None:
    begun = begin(spec)
    follower = Follower(spec)
    list(follower.news())
    begun.run.end(DONE)
    begun.release()
    shutil.rmtree(spec.folder)
    assert list(follower.news()) == []
    ended = outcome(follower.give_up_if_dead())
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == f"its folder {spec.folder} was removed"
    assert list(follower.give_up_if_dead()) == []


def test_events_name_the_attempt_that_is_followed(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    begin(spec).release()
    (event,) = Follower(Spec(attempt_in(tmp_path, seed=5), spec.terms)).news()
    assert isinstance(event, Started)
    assert event.attempt.trial.seed == 5


def test_the_last_words_are_read_before_the_end(spec: Spec) -> None:
    begin(spec).release()
    follower = Follower(spec)
    list(follower.news())
    writer = spool.SpoolWriter(spec.spool)
    writer.append(records.noted("one more thing"))
    writer.append(records.finished(DONE, 2.0))
    writer.close()
    noted, last = follower.give_up_if_dead()
    assert getattr(noted, "text", None) == "one more thing"
    assert last == Finished(spec.attempt, DONE, 2.0)
