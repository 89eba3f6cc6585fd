"""Figures as files: of the kind their name says, the same bytes each time, clear when they fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from drawings import scatter
from tunebook.charts.files import save
from tunebook.core.errors import TunebookError

BEGINNINGS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_file_is_of_its_kind_and_the_same_each_time(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first = save(scatter(), tmp_path / f"a.{kind.upper()}").read_bytes()
    assert first.startswith(BEGINNINGS[kind])
    assert save(scatter(), str(tmp_path / f"b.{kind}")).read_bytes() == first


def test_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TunebookError) as error:
        save(scatter(), tmp_path / "figure.jpeg")
    assert str(error.value) == (
        "a figure cannot be written to 'figure.jpeg': end the name in .png, .pdf or .svg"
    )


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tunebook.charts.paper", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TunebookError) as error:
        save(scatter(), tmp_path / "figure.png")
    assert str(error.value).startswith("figures as files need matplotlib (")
    assert str(error.value).endswith("): pip install 'tunebook[plots]'")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(TunebookError, match=r"'scatter' cannot be written to .*: No such file"):
        save(scatter(), tmp_path / "gone" / "figure.png")
