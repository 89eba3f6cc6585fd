"""Results into files and onto standard output."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from exported import results_of
from tunebook.app import exporting
from tunebook.core.curves import Curve
from tunebook.core.errors import StudyError, UnknownName
from tunebook.exchange import formats

RESULTS = results_of([{"x": 1}, {"x": 2}], [{"loss": Curve.of([1, 2, 3], [3, 2, 1])}, {}])


def test_a_file_is_as_readable_as_the_user_wants(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    before = os.umask(0o027)
    try:
        said = exporting.export(RESULTS, "trials", "csv", path)
    finally:
        os.umask(before)
    assert said == f"Wrote {path}: 2 trials ({path.stat().st_size / 1000:.1f} kB)."
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["trials.csv"]
    assert exporting.export(RESULTS, "curves", "csv", path) == f"Wrote {path}: 3 points (0.1 kB)."


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_what_is_interrupted_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("old")

    def broken(*arguments: Any, **options: Any) -> None:
        arguments[3].write(b"half a file")
        raise error

    monkeypatch.setattr(formats, "write", broken)
    expected = StudyError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        exporting.export(RESULTS, "trials", "csv", path)
    if isinstance(error, OSError):
        assert str(caught.value) == f"cannot write {path}: No space left"
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["trials.csv"]


def test_links_pipes_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to("target.csv")
    exporting.export(RESULTS, "trials", "csv", link)
    assert link.is_symlink()
    assert (tmp_path / "target.csv").read_text().startswith("study,trial,")
    exporting.check("csv", Path(os.devnull), force=False)
    assert exporting.export(RESULTS, "trials", "csv", Path(os.devnull)) == (
        f"Wrote {os.devnull}: 2 trials."
    )
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_who_waits_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    path = tmp_path / "a.csv"
    exporting.export(RESULTS, "curves", "csv", path, notice=said.append)
    assert said == []
    monkeypatch.setattr(exporting, "_MANY", 3)
    exporting.export(RESULTS, "curves", "csv", path, notice=said.append)
    assert said == ["Writing 2 trials with 3 points."]


def test_what_cannot_work_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    with pytest.raises(StudyError, match=r"a\.csv exists; choose another with --output, or"):
        exporting.check("csv", tmp_path / "a.csv", force=False)
    exporting.check("csv", tmp_path / "a.csv", force=True)
    with pytest.raises(StudyError, match="is a folder; name a file in it"):
        exporting.check("csv", tmp_path, force=True)
    with pytest.raises(StudyError, match=f"there is no folder {tmp_path}/new; make it first, or"):
        exporting.check("csv", tmp_path / "new" / "a.csv", force=True)
    assert not (tmp_path / "new").exists()
    with pytest.raises(StudyError, match="--raw is for CSV; json keeps text as it is, so leave"):
        exporting.check("json", None, force=False, raw=True)
    exporting.check("csv", None, force=False, raw=True)
    with pytest.raises(UnknownName, match="cannot export 'curve'; did you mean 'curves'"):
        exporting.what_of("curve")
    with pytest.raises(UnknownName, match="cannot export 'x'; choose trials or curves"):
        exporting.what_of("x")
