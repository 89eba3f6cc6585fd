"""`tunebook recover`: exit codes, and the same for machines."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commandline import call
from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.events import Finished
from tunebook.storage.sqlite import open_store


def test_codes_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(tmp_path) as store:
        store.create(STUDY)
    assert call(capsys, "recover", "--check", "--dir", tmp_path).code == 0
    (tmp_path / "book.db").write_bytes(b"no book " * 4096)
    looked = call(capsys, "recover", "--check", "--json", "--dir", tmp_path)
    assert looked.code == 4
    assert json.loads(looked.out)["whole"] is False
    done = call(capsys, "recover", "--dir", tmp_path)
    assert done.code == 4
    assert "The new book has:" in done.out
    assert call(capsys, "recover", "--dir", tmp_path).code == 0


def test_lost_files_of_a_whole_book_are_no_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1], 1))
        store.append(Finished(attempt, COMPLETE, 1.0))
    found = call(capsys, "recover", "--check", "--dir", tmp_path)
    assert found.code == 0
    assert "Those of 1 of 1 attempt are gone or damaged" in found.out
    asked = call(capsys, "recover", "--check", "--json", "--dir", tmp_path)
    assert json.loads(asked.out)["compared"]["uncompared"] == 1


def test_another_database_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "book.db")) as other:
        other.execute("CREATE TABLE books (a)")
    for options in ((), ("--check",)):
        refused = call(capsys, "recover", *options, "--dir", tmp_path)
        assert refused.code == 1
        assert "is a database, but not a book of tunebook" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["book.db"]
