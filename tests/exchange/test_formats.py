"""The formats by name and by suffix."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from exported import results_of
from tunebook.core.errors import StudyError, UnknownName
from tunebook.exchange import formats


@pytest.mark.parametrize(
    ("name", "path", "form"),
    [
        (None, None, "csv"),
        ("JSON", None, "json"),
        (None, "a.CSV", "csv"),
        (None, "a.pq", "parquet"),
        (None, "a.b.json", "json"),
        ("csv", "a.txt", "csv"),
        ("csv", "A.CSV", "csv"),
        (None, "/dev/null", "csv"),
        ("json", "/dev/null", "json"),
    ],
)
def test_the_format(name: str | None, path: str | None, form: str) -> None:
    assert formats.chosen(name, Path(path) if path else None) == form


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("cvs", None, "there is no format 'cvs'; did you mean 'csv'?"),
        ("xlsx", None, "there is no format 'xlsx'; choose csv, parquet or json"),
        (None, "a.xlsx", "the name 'a.xlsx' tells no format; add --format csv, parquet or json"),
        (None, "a", "the name 'a' tells no format; add --format csv, parquet or json"),
    ],
)
def test_no_format(name: str | None, path: str | None, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        formats.chosen(name, Path(path) if path else None)
    assert str(caught.value) == message


def test_a_format_that_the_name_contradicts() -> None:
    with pytest.raises(StudyError) as caught:
        formats.chosen("csv", Path("a.json"))
    assert str(caught.value) == (
        "the name 'a.json' tells json, and --format csv; leave out --format, or name the file "
        "otherwise"
    )


@pytest.mark.parametrize(
    ("form", "begin"), [("csv", b"study,trial,"), ("parquet", b"PAR1"), ("json", b'{"kind":')]
)
def test_each_format_is_written(form: str, begin: bytes) -> None:
    file = io.BytesIO()
    formats.write(results_of([{"x": "=1"}]), "trials", form, file)
    assert file.getvalue().startswith(begin)


def test_raw_text() -> None:
    for raw, text in ((False, b"'=1"), (True, b"=1")):
        file = io.BytesIO()
        formats.write(results_of([{"x": "=1"}]), "trials", "csv", file, raw=raw)
        assert file.getvalue().splitlines()[1].endswith(b"," + text)
    file = io.BytesIO()
    formats.write(results_of([{"x": "=1"}]), "trials", "json", file)
    assert json.loads(file.getvalue())["trials"][0]["params"] == {"x": "=1"}
