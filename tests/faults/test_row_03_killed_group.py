"""Row 3: `kill -9` of everything at once. Running again completes the study, with exactly N."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.harness import besiege, kill_everything, resumptions


def test_row_3_a_killed_group_is_run_again_to_its_end(tmp_path: Path) -> None:
    ended = besiege(tmp_path, kill_everything, kills=10, trials=4, seed=3, pause=0.01)
    assert resumptions(ended) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_row_3_hundreds_of_kills(tmp_path: Path, seed: int) -> None:
    assert resumptions(besiege(tmp_path, kill_everything, kills=75, trials=50, seed=seed)) > 0


@pytest.mark.soak
def test_row_3_thousands_of_kills(tmp_path: Path) -> None:
    besiege(tmp_path, kill_everything, kills=5000, trials=50, seed=3)
