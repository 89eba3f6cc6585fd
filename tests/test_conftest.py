"""The rules of conftest.py, seen from a run of pytest that obeys them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = """
import os
import pytest

def test_passes():
    pass

def test_skips():
    pytest.skip("no such component")

@pytest.mark.skip(reason="never")
def test_is_marked():
    pass

@pytest.mark.xfail(strict=True)
def test_is_known_to_fail():
    raise AssertionError

@pytest.mark.realdata
def test_reads_data(real_data):
    assert real_data.is_dir()

@pytest.mark.realdata
def test_skips_for_another_reason():
    pytest.skip("no such component")
"""
MODULE = 'import pytest\npytest.importorskip("no_such_module")\n'


def outcomes(folder: Path, **variables: str) -> dict[str, int]:
    """How many tests ended in which way, in a folder with our conftest.py and these tests."""
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = realdata\naddopts = --strict-markers\n")
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_module.py").write_text(MODULE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    command.append("--continue-on-collection-errors")
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1]
    return {kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)(?=,| in )", last)}


def test_a_skip_is_a_skip(tmp_path: Path) -> None:
    assert outcomes(tmp_path) == {"passed": 1, "skipped": 5, "xfailed": 1}


def test_a_skip_is_a_failure_where_all_is_required(tmp_path: Path) -> None:
    required = outcomes(tmp_path, TUNEBOOK_REQUIRE_ALL="1")
    assert required == {"passed": 1, "failed": 1, "errors": 2, "skipped": 2, "xfailed": 1}


def test_real_data_that_is_there_must_be_used(tmp_path: Path) -> None:
    required = outcomes(tmp_path, TUNEBOOK_REQUIRE_ALL="1", TUNEBOOK_REAL_DATA=str(tmp_path))
    assert required == {"passed": 2, "failed": 2, "errors": 2, "xfailed": 1}


def test_the_environment_is_not_the_callers(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    assert Path(os.environ["HOME"]).is_relative_to(base)
    assert Path(os.environ["TUNEBOOK_DIR"]).is_relative_to(base)
    assert [name for name in os.environ if name.startswith("TUNEBOOK_")] == ["TUNEBOOK_DIR"]


def test_the_long_profile_tries_more() -> None:
    usual, long = settings.get_profile("tunebook"), settings.get_profile("long")
    assert usual.deadline is long.deadline is None
    assert usual.max_examples < long.max_examples
