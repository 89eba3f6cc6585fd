"""Meters: every step is there, pauses do not count, and only the leading rank speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from runs import MemoryRun
from tunebook.core.errors import TunebookError
from tunebook.training import meters as meters_module
from tunebook.training.distribution import ALONE, World
from tunebook.training.meters import Meters


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(meters_module, "time", clock)
    return clock


def add(meters: Meters, step: int, norm: float = 1.0, waited: float = 0.0) -> None:
    meters.add(step, 0.1, torch.tensor(float(step)), torch.tensor(norm), waited)


def test_rows_and_summary(tmp_path: Path, clock: Clock) -> None:
    run = MemoryRun(tmp_path, {}, 10)
    meters = Meters(run, ALONE, batch_size=8, clip_norm=2.0)
    for step, norm in ((1, 1.0), (2, 3.0), (3, 2.0), (4, 5.0)):
        add(meters, step, norm, waited=0.25)
    clock.now = 4.0
    meters.log()
    assert run.rows[0] == (1, {"train/loss": 1.0, "learning_rate": 0.1, "grad_norm": 1.0})
    assert run.rows[-1] == (
        4,
        {
            "train/loss": 4.0,
            "learning_rate": 0.1,
            "grad_norm": 5.0,
            "examples_per_second": 8.0,
            "data_wait_share": 0.25,
            "clipped_share": 0.5,
        },
    )
    meters.log()
    assert len(run.rows) == 4


def test_an_evaluation_does_not_slow_the_training(tmp_path: Path, clock: Clock) -> None:
    run = MemoryRun(tmp_path, {}, 10)
    meters = Meters(run, ALONE, batch_size=10, clip_norm=None)
    add(meters, 1)
    clock.now = 1.0
    with meters.paused():
        clock.now = 100.0
    meters.log()
    assert run.rows[-1][1]["examples_per_second"] == 10.0
    assert "clipped_share" not in run.rows[-1][1]


def test_the_other_ranks_are_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda values: None)
    monkeypatch.setattr(World, "gathered", lambda self, value: [None, value])
    run = MemoryRun(tmp_path, {}, 10)
    meters = Meters(run, World(rank=1, size=2), batch_size=10, clip_norm=None)
    add(meters, 1)
    meters.log()
    assert run.rows == []


def test_what_the_leading_rank_cannot_log_ends_every_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(MemoryRun):
        def log(self, metrics, step=None) -> None:
            raise OSError("no space left")

    told: list[str | None] = []

    def gathered(self: World, value: str | None) -> list[str | None]:
        told.append(value)
        return [told[0], None]

    monkeypatch.setattr(torch.distributed, "all_reduce", lambda values: None)
    monkeypatch.setattr(World, "gathered", gathered)
    for rank, kind in ((0, OSError), (1, TunebookError)):
        meters = Meters(Full(tmp_path, {}, 10), World(rank, size=2), 10, clip_norm=None)
        add(meters, 1)
        with pytest.raises(kind, match="no space left"):
            meters.log()
