"""Definitions of studies are kept beside their attempts, and give a lost study its key again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.store_contract import STUDY
from tunebook.core.errors import StoreError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.storage import definitions

OTHER = replace(STUDY, name="width")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    root = tmp_path / "studies"
    assert definitions.read(root) == {}
    definitions.write(root, 1, STUDY)
    definitions.write(root, 3, OTHER)
    assert definitions.read(root) == {1: STUDY, 3: OTHER}
    assert definitions.keys(root) == [1, 3]


def test_the_same_is_not_written_again(tmp_path: Path) -> None:
    definitions.write(tmp_path, 1, STUDY)
    before = definitions.path(tmp_path, 1).stat().st_ino
    definitions.write(tmp_path, 1, STUDY)
    assert definitions.path(tmp_path, 1).stat().st_ino == before
    definitions.write(tmp_path, 1, replace(STUDY, trials=99))
    assert definitions.read(tmp_path)[1].trials == 99


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b'{"tunebook":1,"value":7}'])
def test_what_is_no_definition_is_passed_over(tmp_path: Path, content: bytes) -> None:
    definitions.write(tmp_path, 1, STUDY)
    definitions.path(tmp_path, 1).write_bytes(content)
    (tmp_path / "2").mkdir()
    (tmp_path / "notes").mkdir()
    assert definitions.read(tmp_path) == {}
    assert definitions.keys(tmp_path) == [1, 2]


def test_a_place_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "1").touch()
    with pytest.raises(StoreError, match=r"cannot write .*study.json: File exists"):
        definitions.write(tmp_path, 1, STUDY)


def test_a_lost_study_gets_its_key_again_and_another_none_that_is_in_use(tmp_path: Path) -> None:
    definitions.write(tmp_path, 4, STUDY)
    changed = replace(STUDY, space=Space(), objective=Objective(Metric("loss")))
    assert definitions.next_key(tmp_path, STUDY, set(), 0) == 4
    assert definitions.next_key(tmp_path, STUDY, {4}, 4) == 5
    assert definitions.next_key(tmp_path, OTHER, set(), 0) == 5
    assert definitions.next_key(tmp_path, OTHER, {1}, 9) == 10
    assert definitions.next_key(tmp_path, changed, set(), 0) == 5
