"""The folder of an attempt says whose it is and what was said in it, or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from attempts import spec_in
from tunebook.core.events import Finished, Noted, Started
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution import beginning, records
from tunebook.execution.spec import Spec
from tunebook.running.stories import tell


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
    done = Outcome(OutcomeKind.COMPLETE, "finished")
    beginning.write(spec, records.started("here", 7))
    beginning.write(spec, records.finished(done, 2.0))
    (tmp_path / "1").rename(tmp_path / "2")
    folder = tmp_path / "2" / spec.folder.parent.name / spec.folder.name
    story = tell(folder)
    assert story is not None
    assert story.attempt == replace(spec.attempt, folder=str(folder))
    assert story.events == (
        Started(story.attempt, "here", 7),
        Finished(story.attempt, done, 2.0),
    )


def test_a_record_of_a_newer_version_ends_the_story(tmp_path: Path) -> None:
    spec = written(tmp_path)
    beginning.write(spec, records.noted("known"))
    beginning.write(spec, b'F{"fact": "unheard of"}')
    story = tell(spec.folder)
    assert story is not None
    assert [event for event in story.events if isinstance(event, Noted)] == list(story.events)


def test_nobody_knows_whose_it_is(tmp_path: Path) -> None:
    spec = written(tmp_path)
    assert tell(tmp_path / "missing") is None
    spec.folder.rename(spec.folder.with_name("77"))
    assert tell(spec.folder.with_name("77")) is None
    (spec.folder.with_name("77") / "attempt.json").write_text("[")
    assert tell(spec.folder.with_name("77")) is None
