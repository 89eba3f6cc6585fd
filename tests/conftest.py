"""What every test relies on: a home of its own, and skips that fail where every part must be."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Before numpy is loaded: several test processes with several threads each wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Read here, because the tests themselves see none of the caller's variables.
REQUIRE_ALL = bool(os.environ.get("TUNEBOOK_REQUIRE_ALL"))
REAL_DATA = os.environ.get("TUNEBOOK_REAL_DATA", "")

settings.register_profile(
    "tunebook", deadline=None, max_examples=50, derandomize="CI" in os.environ
)
settings.register_profile("long", settings.get_profile("tunebook"), max_examples=1000)
settings.load_profile("tunebook")

_folders = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path, None, None]:
    """A home of its own for the session, and none of the caller's variables."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("TUNEBOOK_")]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield home


@pytest.fixture(autouse=True)
def _tunebook_dir(_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that no other test has seen, wherever the test runs."""
    monkeypatch.setenv("TUNEBOOK_DIR", str(_home / f"tunebook-{next(_folders)}"))


@pytest.fixture
def real_data() -> Path:
    """The folder of public tuning logs, for tests marked `realdata`."""
    if not os.path.isdir(REAL_DATA):
        pytest.skip("TUNEBOOK_REAL_DATA names no folder with public tuning logs")
    return Path(REAL_DATA)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    lacks_data = item.get_closest_marker("realdata") and not os.path.isdir(REAL_DATA)
    if not lacks_data and not hasattr(report, "wasxfail"):
        _allow_no_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _allow_no_skip(report)
    return report


def _allow_no_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if REQUIRE_ALL and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"TUNEBOOK_REQUIRE_ALL allows no skip: {reason}"
