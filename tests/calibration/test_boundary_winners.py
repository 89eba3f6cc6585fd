"""Winners at the end of a range, on the range's own scale."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from boundary_winners import Placed, tabm
from tunebook.core.domains import Float, Int

SPACE = {
    "seed": 0,
    "optimizer": {
        "lr": ["_tune_", "loguniform", 1e-4, 1e-2],
        "weight_decay": ["_tune_", "?loguniform", 0.0, 1e-4, 1e-1],
    },
    "model": {
        "blocks": ["_tune_", "int", 1, 5],
        "width": ["_tune_", "int", 64, 1024, 64],
        "dropout": ["_tune_", "?uniform", 0.0, 0.0, 0.5],
    },
}
WINNER = {
    "seed": 0,
    "optimizer": {"lr": 9.9e-3, "weight_decay": 0.0},
    "model": {"blocks": 3, "width": 64, "dropout": 0.25},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "tabm").mkdir()
    line = json.dumps({"study": "mlp/adult", "space": SPACE, "best_config": WINNER})
    with gzip.open(tmp_path / "tabm" / "tuning_studies.jsonl.gz", "wt") as stream:
        stream.write(line + "\n")
    return tmp_path


def test_a_winner_has_a_place_in_each_range(data: Path) -> None:
    (winner,) = tabm(data)
    ends = {one.name: one.end for one in winner.placed}
    assert ends == {
        "optimizer.lr": "high",
        "model.blocks": None,
        "model.width": "low",
        "model.dropout": None,
    }
    assert winner.near_an_end


def test_chance_puts_whole_numbers_at_an_end_more_often(data: Path) -> None:
    assert Placed("s", "x", Float(1e-4, 1e-2, log=True), 1e-3).expected() == pytest.approx(0.1)
    assert Placed("s", "x", Int(1, 5), 3).expected() == pytest.approx(2 / 5)
    assert Placed("s", "x", Int(64, 1024), 64).expected(step=64) == pytest.approx(2 / 16)
    (winner,) = tabm(data)
    assert winner.expected == pytest.approx(1 - 0.9 * 0.6 * (14 / 16) * 0.9)
