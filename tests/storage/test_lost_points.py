"""What was gone on from where points are lost has no result, and is not gone on from again."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.store_contract import (
    CODE,
    FOR_GOOD,
    OUT_OF_MEMORY,
    STUDY,
    TRIED_AGAIN,
    logged,
    proposal,
)
from tunebook.core.events import Resumed
from tunebook.core.trials import Outcome
from tunebook.storage import lost_points
from tunebook.storage.lost_points import ALL, LOST_POINTS, NONE
from tunebook.storage.sqlite import open_store


def test_steps_and_sources_of_events(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
    events = [Resumed(attempt, 1, 7), logged(attempt, [8, 9], 20)]
    assert lost_points.last_step(events) == 9
    assert lost_points.last_step(events[:1]) == 7
    assert lost_points.last_step([]) == -1
    assert lost_points.went_on_from(events) == (1, 7)
    assert lost_points.went_on_from(events[1:]) is None


@pytest.mark.parametrize(
    ("source", "hollow"),
    [
        (None, False),
        ((1, 99), False),
        ((2, 4), False),
        ((2, 5), True),
        ((3, 0), True),
        ((4, 0), True),
        ((5, 9), False),
    ],
)
def test_an_attempt_is_hollow_where_the_points_before_it_are_lost(
    source: tuple[int, int] | None, hollow: bool
) -> None:
    """The first is whole, of the second the first steps are known, of the third and fourth none."""
    known = {1: ALL, 2: 5.0, 3: NONE}
    assert lost_points.is_hollow(5, source, known) is hollow


@pytest.mark.parametrize("outcome", [*FOR_GOOD, *TRIED_AGAIN, LOST_POINTS, None])
def test_what_ended_for_good_is_over(outcome: Outcome | None) -> None:
    assert lost_points.is_over(outcome) is (outcome in FOR_GOOD)
    assert OUT_OF_MEMORY in TRIED_AGAIN


def test_what_lies_beyond_is_found_and_put_aside(tmp_path: Path) -> None:
    for attempt in (1, 2, 3):
        for step in (3, 5, 9):
            (tmp_path / str(attempt) / "checkpoints" / str(step)).mkdir(parents=True)
    (tmp_path / "files" / "checkpoints").mkdir(parents=True)
    known = {1: ALL, 2: 5.0, 3: NONE, 4: NONE}
    assert lost_points.any_lost(known)
    assert not lost_points.any_lost({1: ALL})
    steps = [(2, 5), (2, 9), (3, 3), (3, 5), (3, 9)]
    expected = [tmp_path / str(a) / "checkpoints" / str(step) for a, step in steps]
    assert sorted(lost_points.beyond(tmp_path, known)) == expected
    # Nobody knows up to which step the trial's own files reach.
    (tmp_path / "files" / "checkpoints" / "state").touch()
    assert [*lost_points.beyond(tmp_path, {})] == [tmp_path / "files"]
    aside = lost_points.put_aside(tmp_path / "files")
    assert aside.name.startswith("files.lost-")
    assert (aside / "checkpoints" / "state").exists()
    assert [*lost_points.beyond(tmp_path, {})] == []
