"""SQLite keeps to the contract of stores, and what is its own: files, readers, faults."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from contracts import oracle
from contracts.store_contract import (
    CODE,
    COMPLETE,
    CRASHED,
    STUDY,
    StoreContract,
    assert_same,
    logged,
    proposal,
    steps_of,
)
from tunebook.core.errors import StoreError, StoreLocked
from tunebook.core.events import Finished, Noted, Tick
from tunebook.storage import blocks, connections, sqlite
from tunebook.storage.sqlite import SQLiteStore, open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tunebook"


@pytest.fixture
def store(folder: Path) -> Iterator[SQLiteStore]:
    with open_store(folder) as opened:
        yield opened
    oracle.check(folder)


class TestContract(StoreContract):
    """The contract, over SQLite."""


class TestContractInSmallBlocks(StoreContract):
    """The contract again, with curves cut into blocks of a few points."""

    @pytest.fixture(autouse=True)
    def _small_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(blocks, "FULL", 3)


def test_only_the_owner_may_look(folder: Path) -> None:
    before = os.umask(0)
    try:
        with open_store(folder) as store:
            store.create(STUDY)
            attempt = Path(store.claim("depth", proposal(), CODE).folder)
            modes = {p.name: _mode(p) for p in folder.iterdir() if p.is_file()}
    finally:
        os.umask(before)
    assert modes == {"book.db": 0o600, "book.db-wal": 0o600, "book.db-shm": 0o600}
    assert attempt == folder / "studies" / "1" / "1" / "1"
    for level in (folder, *attempt.relative_to(folder).parents, attempt.relative_to(folder)):
        assert _mode(folder / level) == 0o700


def test_a_store_is_found_again(folder: Path) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1, 2], 1))
        expected = store.results("depth")
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["book.db"]
    with open_store(folder) as store:
        assert_same(store.results("depth").trials, expected.trials)
        assert store.append(Finished(attempt, COMPLETE, 1.0))


def test_attempts_may_lie_elsewhere(folder: Path, tmp_path: Path) -> None:
    with open_store(folder, attempts=tmp_path / "shared" / "spools") as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        assert attempt.folder == str(tmp_path / "shared" / "spools" / "1" / "1" / "1")
        assert store.results("depth")[1].attempts[0].folder == attempt.folder


def test_a_claim_without_its_folder_is_no_claim(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with open_store(folder, attempts=tmp_path / "spools") as store:
        store.create(STUDY)
        (tmp_path / "spools" / "1" / "1").touch()
        with pytest.raises(StoreError) as refusal:
            store.claim("depth", proposal(), CODE)
        assert str(refusal.value) == (
            f"cannot write {tmp_path}/spools/1/1/1: File exists; check the disk and the permissions"
        )
        assert len(store.results("depth")) == 0


def test_a_study_without_its_file_is_no_study(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with open_store(folder, attempts=tmp_path / "file") as store:
        with pytest.raises(StoreError) as refusal:
            store.create(STUDY)
        assert str(refusal.value) == (
            f"cannot write {tmp_path}/file: File exists; check the disk and the permissions"
        )
        assert store.studies() == ()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as refusal:
        open_store(tmp_path / "file" / "book")
    assert str(refusal.value) == (
        f"cannot make a book in {tmp_path}/file/book: Not a directory; check the disk and the "
        "permissions, or choose another folder with `--dir`"
    )


def test_several_events_in_one_transaction(store: SQLiteStore) -> None:
    store.create(STUDY)
    attempt = store.claim("depth", proposal(), CODE)
    events = [
        logged(attempt, [1], 1),
        Tick(1),
        Finished(attempt, COMPLETE, 1.0),
        Noted(attempt, "late"),
    ]
    assert store.append_all(events) == (True, True, True, False)
    assert store.append_all([]) == ()
    assert steps_of(store) == [1]


def test_a_reader_needs_a_book(folder: Path) -> None:
    with pytest.raises(StoreError) as refusal:
        open_store(folder, readonly=True)
    assert str(refusal.value) == (
        f"no book in {folder}; run a study first, or choose another with `--dir`"
    )
    assert not folder.exists()


def test_a_reader_sees_what_is_written_meanwhile_and_writes_nothing(
    store: SQLiteStore, folder: Path
) -> None:
    store.create(STUDY)
    with open_store(folder, readonly=True) as reader:
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1], 1))
        assert steps_of(reader) == [1]
        assert reader.studies() == (STUDY,)
        for write in (
            lambda: reader.create(STUDY),
            lambda: reader.claim("depth", proposal(1), CODE),
            lambda: reader.append(Finished(attempt, COMPLETE, 1.0)),
        ):
            with pytest.raises(StoreError, match=r"book.db was opened for reading only$"):
                write()
        assert reader.append(Tick(1))


def test_row_10_readers_neither_block_a_writer_nor_see_half_a_transaction(
    store: SQLiteStore, folder: Path
) -> None:
    store.create(STUDY)
    attempt = store.claim("depth", proposal(), CODE)
    done = threading.Event()
    torn: list[str] = []

    def read() -> None:
        with open_store(folder, readonly=True) as reader:
            while not done.is_set():
                record = reader.results("depth")[1]
                steps = record.curves["error"].steps.tolist() if record.curves else []
                last = record.attempts[0].last_step
                if steps != list(range(last + 1)) or record.attempts[0].offset != last + 1:
                    torn.append(f"{steps} {record.attempts[0]}")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        assert all(store.append(logged(attempt, [k], k + 1)) for k in range(60))
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert torn == []


def test_a_folder_that_cannot_be_written_can_be_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with open_store(folder, readonly=True) as reader:
        assert reader.studies() == (STUDY,)
    assert sorted(path.name for path in folder.iterdir()) == ["book.db", "studies"]


_CREATED = """
import sys
from multiprocessing import get_context
from pathlib import Path
from contracts.store_contract import STUDY
from tunebook.storage.sqlite import open_store

def create(barrier):
    barrier.wait()
    with open_store(Path(sys.argv[1])) as store:
        store.create(STUDY)

context = get_context("fork")
barrier = context.Barrier(20)
processes = [context.Process(target=create, args=(barrier,)) for _ in range(20)]
for process in processes:
    process.start()
for process in processes:
    process.join()
sys.exit(sum(process.exitcode != 0 for process in processes))
"""


def test_row_15_two_processes_create_the_same_study(folder: Path) -> None:
    assert _run(_CREATED, folder) == 0
    with open_store(folder, readonly=True) as store:
        assert store.studies() == (STUDY,)
    assert not list(folder.glob(".*"))
    oracle.check(folder)


_KILLED = """
import os, sys
from pathlib import Path
from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.events import Finished
from tunebook.storage.sqlite import open_store

store = open_store(Path(sys.argv[1]))
store.create(STUDY)
for index in range(5):
    attempt = store.claim("depth", proposal(index), CODE)
    store.append(logged(attempt, [1, 2], 1))
    store.append(Finished(attempt, COMPLETE, 1.0))
os.kill(os.getpid(), 9)
"""


def test_what_was_acknowledged_survives_a_kill(folder: Path) -> None:
    assert _run(_KILLED, folder) == -9
    with open_store(folder, readonly=True) as reader:
        assert reader.results("depth").counts() == {"complete": 5}
    oracle.check(folder)


def test_outcomes_are_synced_and_points_are_not(store: SQLiteStore) -> None:
    modes: list[int] = []
    store.create(STUDY)
    attempt = store.claim("depth", proposal(), CODE)
    connection = store._engine.raw_connection()
    driver = connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    connection.close()  # back to the pool, which holds one connection for one thread
    for event in (logged(attempt, [1], 1), Finished(attempt, CRASHED, 1.0)):
        store.append(event)
        modes.append(driver.execute("PRAGMA synchronous").fetchone()[0])
    store.claim("depth", proposal(), CODE)
    modes.append(driver.execute("PRAGMA synchronous").fetchone()[0])
    assert modes == [1, 2, 2]


def test_row_9_a_lock_held_too_long_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # the lock is not another's here
    with open_store(folder, busy_seconds=0.05) as store:
        store.create(STUDY)
        with closing(sqlite3.connect(folder / "book.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreLocked, match=r"book.db is locked by process \d+ \(.*python"):
                store.claim("depth", proposal(), CODE)
            assert store.studies() == (STUDY,)
            other.execute("ROLLBACK")
        assert store.claim("depth", proposal(), CODE).number == 1


def test_row_5_a_failing_disk_ends_the_writing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        with monkeypatch.context() as patch:
            patch.setattr(sqlite, "append_event", _fails_with("SQLITE_IOERR_FSYNC"))
            with pytest.raises(StoreError, match="the disk failed"):
                store.append(Finished(attempt, COMPLETE, 1.0))
        with pytest.raises(StoreError) as refusal:
            store.append(Finished(attempt, COMPLETE, 1.0))
        assert str(refusal.value) == (
            f"nothing more is written to {folder}/book.db since its disk failed; "
            "check the disk, then run again"
        )
        assert store.results("depth")[1].outcome is None
    with open_store(folder) as store:
        assert store.append(Finished(attempt, COMPLETE, 1.0))


def test_row_6_a_full_disk_is_a_pause(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1], 1))
        _limit_pages(store._engine, growth=2)
        with pytest.raises(StoreError, match=r"no room for .*book.db: its disk has \d+ bytes free"):
            for index in range(1, 500):
                store.claim("depth", proposal(index), CODE)
        claimed = len(store.results("depth"))
        _limit_pages(store._engine, growth=10_000)
        assert store.append(Finished(attempt, COMPLETE, 1.0))
        assert store.claim("depth", proposal(claimed), CODE).trial.number == claimed + 1
    oracle.check(folder)


def test_an_error_of_our_own_is_not_dressed_up(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(STUDY)
    attempt = store.claim("depth", proposal(), CODE)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "append_event", _fails_with("SQLITE_ERROR"))
        with pytest.raises(OperationalError):
            store.append(Finished(attempt, COMPLETE, 1.0))
    assert store.append(Finished(attempt, COMPLETE, 1.0))


def test_points_that_are_damaged_are_named(folder: Path) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1, 2], 1))
        with store._engine.begin() as connection:
            connection.exec_driver_sql("UPDATE columns SET \"values\" = X'0102'")
            connection.exec_driver_sql("COMMIT")
        with pytest.raises(StoreError) as refusal:
            store.results("depth")
    assert str(refusal.value) == (
        f"{folder}/book.db: study depth, trial 1, attempt 1, metric 'error': stored points are "
        "damaged (2 bytes do not hold 2 numbers). "
        f"`tunebook recover --dir {folder}` makes a new book of what can be read and of the "
        "attempts' spools"
    )


def test_a_reader_of_a_book_that_is_gone_is_told_of_its_files(folder: Path) -> None:
    with open_store(folder) as store:
        store.create(STUDY)
        store.claim("depth", proposal(), CODE)
    (folder / "book.db").unlink()
    told = r"book.db is missing, but the files of its attempts are there. `tunebook recover --dir "
    with pytest.raises(StoreError, match=told):
        open_store(folder, readonly=True)


def test_row_12_damage_is_found_when_a_writer_opens(folder: Path) -> None:
    _damage(folder)
    with pytest.raises(
        StoreError, match=r"book.db is damaged .* `tunebook recover --dir .*` makes a new"
    ):
        open_store(folder)


def test_row_12_damage_in_a_large_book_is_found_when_it_is_met(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _damage(folder)
    monkeypatch.setattr(sqlite, "CHECKED_BYTES", 1000)
    with open_store(folder) as store, pytest.raises(StoreError, match="is damaged"):
        store.results("depth")


@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_that_is_no_database(folder: Path, readonly: bool) -> None:
    folder.mkdir()
    (folder / "book.db").write_text("Once upon a time, " * 100)
    with pytest.raises(StoreError, match=r"is damaged or is not a book \(SQLITE_NOTADB\)"):
        open_store(folder, readonly=readonly)


def test_a_network_file_system_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"1 0 0:1 / {tmp_path} rw - nfs4 server:/ rw\n")
    monkeypatch.setattr("tunebook.storage.mounts._MOUNTINFO", mountinfo)
    for readonly in (False, True):
        with pytest.raises(StoreError, match=r"network file system \(nfs4\)"):
            open_store(folder, readonly=readonly)
    assert not folder.exists()


def _run(script: str, folder: Path) -> int:
    """Run a script that can import the contracts; its exit code."""
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": tests}
    command = [sys.executable, "-c", script, folder]
    return subprocess.run(command, env=environment, check=False).returncode


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _fails_with(name: str) -> Callable[..., bool]:
    def fail(*_: object) -> bool:
        error = sqlite3.OperationalError("as asked")
        error.sqlite_errorname = name
        raise OperationalError("INSERT", {}, error)

    return fail


def _limit_pages(engine: Engine, growth: int) -> None:
    """Leave room for so many more pages: what SQLite says then is what it says on a full disk."""
    with engine.begin() as connection:
        count = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={count + growth}")


def _damage(folder: Path) -> None:
    """Overwrite the pages of the trials of a book."""
    with open_store(folder) as store:
        store.create(STUDY)
        for index in range(30):
            store.claim("depth", proposal(index), CODE)
    with closing(sqlite3.connect(folder / "book.db")) as book:
        root = book.execute("SELECT rootpage FROM sqlite_master WHERE name = 'trials'").fetchone()
    with (folder / "book.db").open("r+b") as file:
        file.seek((root[0] - 1) * connections.PAGE_BYTES)
        file.write(os.urandom(connections.PAGE_BYTES))
