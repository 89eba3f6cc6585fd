"""What is logged at every step, gathered on the device and fetched only at logging points."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from tunebook.core.protocols import Run
from tunebook.training.distribution import World


class Meters:
    """Loss, learning rate and gradient norm of each step; speed and clipping since the last log."""

    def __init__(self, run: Run, world: World, batch_size: int, clip_norm: float | None) -> None:
        self._run = run
        self._world = world
        self._batch_size = batch_size
        self._clip_norm = clip_norm
        self._rows: list[tuple[int, float]] = []
        self._losses: list[Tensor] = []
        self._norms: list[Tensor] = []
        self._waited = 0.0
        self._began = time.perf_counter()
        self._pause = 0.0

    def add(self, step: int, rate: float, loss: Tensor, norm: Tensor, waited: float) -> None:
        """Note a step. Nothing is read from the device."""
        self._rows.append((step, rate))
        self._losses.append(loss)
        self._norms.append(norm)
        self._waited += waited

    def log(self) -> None:
        """Log every step since the last time: here, and only here, the device is waited for."""
        if not self._rows:
            return
        # One transfer for all steps; the ranks' losses are averaged, the norm is global already.
        losses = self._world.mean(torch.stack(self._losses).float())
        table = torch.stack([losses, torch.stack(self._norms).float()]).tolist()
        seconds = max(time.perf_counter() - self._began - self._pause, 1e-9)
        with self._world.together():
            if self._world.leads:
                self._log_rows(table[0], table[1], seconds)
        self._rows, self._losses, self._norms = [], [], []
        self._waited, self._pause, self._began = 0.0, 0.0, time.perf_counter()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time spent inside, such as on an evaluation, does not count as training."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._pause += time.perf_counter() - began

    def _log_rows(self, losses: list[float], norms: list[float], seconds: float) -> None:
        log = self._run.log
        for (step, rate), loss, norm in zip(self._rows[:-1], losses, norms, strict=False):
            log({"train/loss": loss, "learning_rate": rate, "grad_norm": norm}, step)
        step, rate = self._rows[-1]
        summary = {
            "train/loss": losses[-1],
            "learning_rate": rate,
            "grad_norm": norms[-1],
            "examples_per_second": self._batch_size * len(self._rows) / seconds,
            "data_wait_share": min(self._waited / seconds, 1.0),
        }
        if self._clip_norm is not None:
            summary["clipped_share"] = sum(n > self._clip_norm for n in norms) / len(norms)
        log(summary, step)
