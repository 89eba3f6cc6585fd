"""One seed, many named streams: what is random in a run, and on which ranks it is the same.

The rule: the seed of a stream is a hash of (run seed, stream name), and where the stream is a
rank's own, of (run seed, stream name, rank).

    initialisation   the same on every rank: all replicas begin as one model
    order            the same on every rank: one global order, of which each rank takes its own part
    dropout          a rank's own
    augmentation     a rank's own
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from tunebook.core.hashing import derive_seed

SHARED = ("initialisation", "order")
OWN = ("dropout", "augmentation")


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one rank of a run."""

    seed: int
    rank: int = 0

    def seed_of(self, stream: str, *parts: int) -> int:
        """The seed of a stream; `parts`, such as an epoch, make further streams of it."""
        if stream in SHARED:
            return derive_seed(self.seed, stream, *parts)
        if stream in OWN:
            return derive_seed(self.seed, stream, f"rank {self.rank}", *parts)
        raise ValueError(f"no stream is named {stream!r}; there are {', '.join(SHARED + OWN)}")

    def generator(self, stream: str, device: torch.device | str = "cpu") -> torch.Generator:
        return torch.Generator(device).manual_seed(self.seed_of(stream))

    @contextmanager
    def seeded(self, stream: str) -> Iterator[None]:
        """Torch, numpy and Python draw from a stream inside, and go on as before afterwards."""
        before = random.getstate(), np.random.get_state()
        try:
            with torch.random.fork_rng():
                seed_everything(self.seed_of(stream))
                yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def seed_everything(seed: int) -> None:
    """Seed the global generators of torch, numpy and Python."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
