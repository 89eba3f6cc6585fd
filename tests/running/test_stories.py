"""The folder of an attempt says whose it is and what was said in it, or nothing."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from attempts import read, spec_in
from tunebook.core.events import Finished, Started
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution import beginning, records
from tunebook.execution.spec import Spec
from tunebook.files import spool
from tunebook.running import stories
from tunebook.running.stories import tell
from tunebook.storage.restoring import After, Story, Untold

DONE = Outcome(OutcomeKind.COMPLETE, "finished")


def written(tmp_path: Path) -> Spec:
    spec = spec_in(tmp_path)
    trial, number = spec.attempt.trial.number, spec.attempt.number
    folder = tmp_path / "1" / str(trial) / str(number)
    attempt = Attempt(spec.attempt.trial, number, spec.attempt.token, str(folder))
    spec = replace(spec, attempt=attempt)
    spec.write()
    return spec


def test_all_that_was_said_is_told_and_a_moved_folder_is_known(tmp_path: Path) -> None:
    spec = written(tmp_path)
    beginning.write(spec, records.started("here", 7))
    beginning.write(spec, records.finished(DONE, 2.0))
    (tmp_path / "1").rename(tmp_path / "2")
    folder = tmp_path / "2" / spec.folder.parent.name / spec.folder.name
    story = tell(folder)
    assert isinstance(story, Story)
    assert story.attempt == replace(spec.attempt, folder=str(folder))
    assert story.events == (
        Started(story.attempt, "here", 7),
        Finished(story.attempt, DONE, 2.0),
    )


def whole(tmp_path: Path) -> Spec:
    """An attempt that has told points and its ending."""
    spec = written(tmp_path)
    beginning.write(spec, records.started("here", 7))
    beginning.write(spec, records.noted("still here"))
    beginning.write(spec, records.finished(DONE, 2.0))
    spec.output.touch()
    return spec


def ends(spec: Spec) -> list[int]:
    return [0, *(offset for _, offset in spool.read(spec.spool))]


def told(spec: Spec) -> tuple[After, int, int]:
    """What follows, from which byte on, and how much was told."""
    story = tell(spec.folder)
    assert isinstance(story, Story)
    return story.after, story.end, len(story.events)


def test_a_record_of_a_newer_version_ends_the_story(tmp_path: Path) -> None:
    spec = written(tmp_path)
    beginning.write(spec, records.noted("known"))
    beginning.write(spec, b'F{"fact": "unheard of"}')
    assert told(spec) == (After.LOST, ends(spec)[1], 1)


def test_one_that_has_ended_has_told_all(tmp_path: Path) -> None:
    spec = whole(tmp_path)
    assert told(spec) == (After.NOTHING, ends(spec)[3], 3)
    story = tell(spec.folder)
    assert isinstance(story, Story)
    assert story.ended
    with spec.spool.open("ab") as file:
        file.write(b"rubbish")
    assert told(spec) == (After.NOTHING, ends(spec)[3], 3)


def test_one_without_an_ending_was_killed_or_cut(tmp_path: Path) -> None:
    """Wherever the file ends: nobody can say more than that."""
    spec = whole(tmp_path)
    begin, first, second, size = ends(spec)
    content = spec.spool.read_bytes()
    for at in (first, first + 3, second - 1, second, second + 12, size - 1):
        spec.spool.write_bytes(content[:at])
        assert told(spec) == (After.UNKNOWN, *((first, 1) if at < second else (second, 2)))
    spec.spool.write_bytes(content[:second] + bytes(999))
    assert told(spec) == (After.UNKNOWN, second, 2)
    assert begin == 0


def test_what_lies_before_records_that_are_there_is_lost(tmp_path: Path) -> None:
    spec = whole(tmp_path)
    _, first, second, _ = ends(spec)
    content = spec.spool.read_bytes()
    assert content[second + spool.HEADER_BYTES :].startswith(stories._ENDING)
    # The second looks like a record that was cut: its length reaches beyond the end of the file.
    for broken in (b"\xff" * 12, struct.pack("<II", 4096, 0) + b"F{{{"):
        spec.spool.write_bytes(content[:first] + broken + content[first + 12 :])
        assert told(spec) == (After.LOST, first, 1)


@pytest.mark.parametrize("evidence", ["log.txt", "run", "checkpoints"])
def test_no_records_where_there_were_some_are_lost(tmp_path: Path, evidence: str) -> None:
    spec = written(tmp_path)
    assert told(spec) == (After.NOTHING, 0, 0)
    (spec.folder / evidence).mkdir()
    assert told(spec) == (After.LOST, 0, 0)
    spec.spool.touch()
    assert told(spec) == (After.LOST, 0, 0)


def test_one_that_lives_goes_on(tmp_path: Path) -> None:
    spec = written(tmp_path)
    lock = beginning.take(spec)
    assert lock is not None
    with lock:
        story = tell(spec.folder)
        assert isinstance(story, Story)
        assert (story.after, story.alive) == (After.NOTHING, True)
    assert told(spec)[0] is After.UNKNOWN


def test_one_that_was_given_up_ended_as_whoever_gave_it_up_said(tmp_path: Path) -> None:
    spec = written(tmp_path)
    beginning.write(spec, records.started("here", 7))
    *_, said = read(spec)
    story = tell(spec.folder)
    assert isinstance(story, Story)
    assert isinstance(said, Finished)
    assert (story.after, story.ended) == (After.NOTHING, False)
    assert isinstance(story.events[-1], Finished)
    assert story.events[-1].outcome == said.outcome


def test_a_spool_that_cannot_be_read_is_lost(tmp_path: Path) -> None:
    spec = written(tmp_path)
    spec.spool.mkdir()
    assert told(spec) == (After.LOST, 0, 0)


def test_nobody_knows_whose_it_is(tmp_path: Path) -> None:
    spec = written(tmp_path)
    folder = spec.folder.with_name("77")
    spec.folder.rename(folder)
    assert tell(folder) == Untold("attempt.json is that of trial 1, attempt 1")
    (folder / "attempt.json").write_text("[")
    assert tell(folder) == Untold("attempt.json cannot be read")
    (folder / "log.txt").touch()
    (folder / "attempt.json").unlink()
    assert tell(folder) == Untold("attempt.json is missing")


def test_a_folder_in_which_nothing_was_begun_tells_nothing(tmp_path: Path) -> None:
    assert tell(tmp_path / "missing") is None
    folder = tmp_path / "1" / "2"
    folder.mkdir(parents=True)
    assert tell(folder) is None
    for name in ("lock", "stop", "fenced", ".attempt.json.half"):
        (folder / name).touch()
    assert tell(folder) is None
