"""Writing a study and reading it back gives the same study."""

from __future__ import annotations

from hypothesis import given

from strategies import studies
from tunebook.core.study import Study
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.writing import write


@given(studies())
def test_what_is_written_reads_back(study: Study) -> None:
    assert parse(write(study)) == study
