"""One seed, many named streams: what is random in a run, and on which ranks it is the same.

The rule: the seed of a stream is a hash of (run seed, stream name), and where the stream is a
rank's own, of (run seed, stream name, rank). That of the split is a hash of its name alone. A seed
that is given for one part of a run takes the place of the run seed there, so that it can be varied
alone: `init` for the initialisation, `data` for the order and the augmentation, `split`.

    split            the same in every run: trials are compared on the same validation examples
    initialisation   the same on every rank: all replicas begin as one model
    order            the same on every rank: one global order, of which each rank takes its own part
    dropout          a rank's own
    augmentation     a rank's own
    elsewhere        a rank's own: the global generators, from which a model or task may draw
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from tunebook.core.errors import UnknownName, did_you_mean
from tunebook.core.hashing import derive_seed

FIXED = ("split",)
SHARED = ("initialisation", "order")
OWN = ("dropout", "augmentation", "elsewhere")
# The field below whose seed a stream follows, where it is given.
_PARTS = {"split": "split", "initialisation": "init", "order": "data", "augmentation": "data"}


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one rank of a run."""

    seed: int
    rank: int = 0
    init: int | None = None
    data: int | None = None
    split: int | None = None

    def seed_of(self, stream: str, *parts: int) -> int:
        """The seed of a stream; `parts`, such as an epoch, make further streams of it.

        >>> Streams(seed=0, rank=0).seed_of("order") == Streams(seed=0, rank=1).seed_of("order")
        True
        """
        part = getattr(self, _PARTS[stream]) if stream in _PARTS else None
        seed = self.seed if part is None else part
        if stream in FIXED:
            return derive_seed(*(() if part is None else (part,)), stream, *parts)
        if stream in SHARED:
            return derive_seed(seed, stream, *parts)
        if stream in OWN:
            return derive_seed(seed, stream, f"rank {self.rank}", *parts)
        known = FIXED + SHARED + OWN
        raise UnknownName(
            f"no stream is named {stream!r}{did_you_mean(stream, known)}; "
            f"there are {', '.join(known)}"
        )

    @contextmanager
    def seeded(self, stream: str) -> Iterator[None]:
        """Torch, numpy and Python draw from a stream inside, and go on as before afterwards."""
        seed = self.seed_of(stream)
        before = random.getstate(), np.random.get_state()
        try:
            with torch.random.fork_rng(_devices_in_use()):
                seed_everything(seed)
                yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def seed_everything(seed: int) -> None:
    """Seed the global generators of torch (on every device), numpy and Python."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def _devices_in_use() -> list[int]:
    # To ask another GPU for its state would start it, which costs memory on every one of a host.
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.cuda.current_device()] if in_use else []
