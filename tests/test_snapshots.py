"""The snapshots themselves, and the one of the public names."""

from __future__ import annotations

from pathlib import Path

import pytest

import tunebook
from snapshots import check_snapshot


def test_public_names() -> None:
    names = getattr(tunebook, "__all__", ())
    assert [name for name in names if not hasattr(tunebook, name)] == []
    check_snapshot("public_names.txt", "\n".join(sorted(names)))


def test_equal_texts_pass_whatever_their_last_line_break(tmp_path: Path) -> None:
    check_snapshot("a.txt", "one\ntwo", tmp_path, update=True)
    check_snapshot("a.txt", "one\ntwo\n", tmp_path, update=False)
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"


def test_a_difference_is_shown_with_the_way_to_accept_it(tmp_path: Path) -> None:
    check_snapshot("a.txt", "same\nold\n", tmp_path, update=True)
    with pytest.raises(AssertionError) as caught:
        check_snapshot("a.txt", "same\nnew\n", tmp_path, update=False)
    assert str(caught.value) == (
        "tests/snapshots/a.txt says something else:\n"
        " same\n"
        "-old\n"
        "+new\n"
        "If users should see this change, write it into CHANGELOG.md and run the test with "
        "TUNEBOOK_UPDATE_SNAPSHOTS=1."
    )


def test_a_new_text_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"deep/new\.txt says something else"):
        check_snapshot("deep/new.txt", "first", tmp_path, update=False)
    check_snapshot("deep/new.txt", "first", tmp_path, update=True)
    check_snapshot("deep/new.txt", "first", tmp_path, update=False)
