"""Reading walks the rows of its own study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from contracts.store_contract import CODE, STUDY, logged, proposal
from tunebook.core.errors import UnknownName
from tunebook.core.trials import NO_CODE
from tunebook.storage.reading import (
    attempt_folder,
    find_study,
    look_up_study,
    nearest_study,
    read_results,
    read_studies,
)
from tunebook.storage.sqlite import SQLiteStore, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """Two studies with two trials each, whose rows alternate."""
    with open_store(tmp_path) as store:
        for study in ("depth", "width"):
            store.create(replace(STUDY, name=study))
        for index in range(2):
            for study in ("depth", "width"):
                attempt = store.claim(study, proposal(index), CODE)
                store.append(logged(attempt, [index, index + 10], 1))
        yield store


@pytest.fixture
def connection(store: SQLiteStore) -> Iterator[Connection]:
    with store._engine.begin() as connection:
        yield connection


def test_studies_are_found_by_name(connection: Connection) -> None:
    assert [study.name for study in read_studies(connection)] == ["depth", "width"]
    assert find_study(connection, "depth") == (1, STUDY)
    assert look_up_study(connection, "height") is None
    assert nearest_study(connection, "widht") == "; did you mean 'width'?"
    with pytest.raises(UnknownName, match=r"^the book has no study 'height'$"):
        find_study(connection, "height")


def test_a_study_has_its_own_trials_and_points(connection: Connection) -> None:
    for study in ("depth", "width"):
        results = read_results(connection, Path("/a"), study, None)
        assert [record.trial.number for record in results] == [1, 2]
        assert [r.curves["error"].steps.tolist() for r in results] == [[0, 10], [1, 11]]
    assert results[2].attempts[0].folder == attempt_folder(Path("/a"), 2, 2, 1) == "/a/2/2/1"


def test_a_trial_without_attempts_can_be_read(store: SQLiteStore) -> None:
    with store._relaxed.begin() as connection:
        connection.exec_driver_sql('DELETE FROM "columns"')
        connection.exec_driver_sql("DELETE FROM blocks")
        connection.exec_driver_sql("DELETE FROM attempts")
    record = store.results("depth")[1]
    assert (record.attempts, record.curves, record.trial.code) == ((), {}, NO_CODE)


@pytest.mark.parametrize("metrics", [None, ["error"]])
def test_nothing_is_scanned_or_sorted(store: SQLiteStore, metrics: list[str] | None) -> None:
    seen: list[tuple[str, object]] = []

    def watch(_c: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        seen.append((statement, parameters))

    event.listen(store._engine, "before_cursor_execute", watch)
    store.results("depth", metrics)
    event.remove(store._engine, "before_cursor_execute", watch)
    queries = [(text, given) for text, given in seen if text.startswith("SELECT")]
    assert len(queries) == 5
    for text, given in queries:
        with store._engine.begin() as connection:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", given).all()
        plan = [str(row[-1]) for row in rows]
        # A study's notes are few: they alone are sorted.
        allowed = ("SEARCH", "USE TEMP B-TREE FOR ORDER BY") if "notes" in text else ("SEARCH",)
        assert [step for step in plan if not step.startswith(allowed)] == []
