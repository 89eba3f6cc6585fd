"""Row 2: `kill -9` of the coordinator. Attempts need none to finish, and none is run twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.harness import Siege, besiege, kill, kill_coordinators, until
from tunebook.core.results import Results


def each_trial_ran_once(results: Results) -> None:
    assert [len(record.attempts) for record in results] == [1] * len(results)


def check(folder: Path, kills: int, trials: int, seed: int) -> None:
    for results in besiege(folder, kill_coordinators, kills=kills, trials=trials, seed=seed):
        each_trial_ran_once(results)


@pytest.fixture
def siege(tmp_path: Path) -> Iterator[Siege]:
    with Siege(tmp_path / "siege", trials=2, pause=0.05) as siege:
        yield siege


def lose_coordinator(siege: Siege) -> None:
    """Kill a coordinator whose two workers have just begun."""
    process = siege.start()
    until(lambda: len(siege.starts()) == 2, "two attempts begin")
    kill([process.pid])
    process.wait()


def test_row_2_attempts_finish_without_a_coordinator(siege: Siege) -> None:
    lose_coordinator(siege)
    until(lambda: not siege.mark.parents(), "attempts and server end by themselves")
    assert [record.outcome for record in siege.results()] == [None, None]
    siege.finish()
    each_trial_ran_once(siege.check())


def test_row_2_living_attempts_are_adopted(siege: Siege) -> None:
    lose_coordinator(siege)
    process = siege.start()
    until(lambda: len(siege.acknowledged()) == 2, "the adopted attempts are told of")
    assert {trial for trial, _ in siege.acknowledged()} == {1, 2}
    assert process.wait(timeout=60) == 0
    each_trial_ran_once(siege.check())


def test_row_2_killed_coordinators(tmp_path: Path) -> None:
    check(tmp_path, kills=10, trials=6, seed=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_row_2_hundreds_of_kills(tmp_path: Path, seed: int) -> None:
    check(tmp_path, kills=75, trials=50, seed=seed)


@pytest.mark.soak
def test_row_2_thousands_of_kills(tmp_path: Path) -> None:
    check(tmp_path, kills=5000, trials=50, seed=2)
