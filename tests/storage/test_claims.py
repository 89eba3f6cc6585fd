"""Studies and trials as they are remembered; the contract has the rest."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from contracts.store_contract import CODE, CRASHED, STUDY, proposal
from strategies import studies
from tunebook.core.errors import StoreError
from tunebook.core.events import Finished
from tunebook.core.study import Study
from tunebook.core.trials import Attempt
from tunebook.storage.sqlite import SQLiteStore, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        yield store


@given(studies())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_study_comes_back(store: SQLiteStore, study: Study) -> None:
    name = f"{study.name}-{len(store.studies())}"
    written = replace(study, name=name, parent="depth")
    store.create(written)
    assert store.studies()[-1] == written
    assert store.create(written) == written


def test_one_of_many_claims_the_trial(store: SQLiteStore) -> None:
    first = store.claim("depth", proposal(), CODE)
    store.append(Finished(first, CRASHED, 1.0))
    won: list[Attempt] = []
    lost: list[str] = []
    start = threading.Barrier(8)

    def claim() -> None:
        start.wait()
        try:
            won.append(store.claim("depth", proposal(), CODE))
        except StoreError as error:
            lost.append(str(error))

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [attempt.number for attempt in won] == [2]
    assert len(lost) == 7
    assert all("its attempt 2 has not ended" in line for line in lost)


def test_attempts_count_up_and_tokens_differ(store: SQLiteStore) -> None:
    attempts = []
    for _ in range(5):
        attempts.append(store.claim("depth", proposal(), CODE))
        store.append(Finished(attempts[-1], CRASHED, 1.0))
    assert [attempt.number for attempt in attempts] == [1, 2, 3, 4, 5]
    assert len({attempt.token for attempt in attempts}) == 5
    assert len({attempt.trial.number for attempt in attempts}) == 1


def test_a_refused_study_leaves_nothing(store: SQLiteStore) -> None:
    with pytest.raises(StoreError):
        store.create(replace(STUDY, name="child", parent="unknown"))
    store.create(replace(STUDY, name="next"))
    assert [study.name for study in store.studies()] == ["depth", "next"]
