"""`tunebook recover`: exit codes, and the same for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import call
from contracts.store_contract import STUDY
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
