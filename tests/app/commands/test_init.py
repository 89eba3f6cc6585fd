"""`tunebook init`, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("init train.py", "'train.py' does not name a training function; write FILE.py:FUNCTION"),
        ("init train.py:trian", "has no function 'trian'; did you mean 'train'?"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    toy: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    done = call(capsys, *arguments.split())
    assert done.code == 1
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err
