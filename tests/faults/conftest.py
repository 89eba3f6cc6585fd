"""A folder with a study file and a program, and the command line in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "bench")
    yield bench
    bench.end()
