"""Winners of the TabM tuning studies: where in its range each searched parameter's winner lies.

The log gives only the space and the winner of each study, so nothing can be tested; it shows how
often real winners lie at an end.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunebook.core.domains import Float, Int

NEAR = 0.05  # of a range, on its own scale


@dataclass(frozen=True)
class Placed:
    """A searched parameter and the winner's value, a place from 0 to 1 in its range."""

    study: str
    name: str
    domain: Float | Int
    value: float

    @property
    def place(self) -> float:
        domain = self.domain
        if isinstance(domain, Float):
            return domain.to_unit(self.value)
        return (self.value - domain.low) / (domain.high - domain.low)

    @property
    def end(self) -> str | None:
        """The end that the winner is near, if any."""
        if self.place <= NEAR:
            return "low"
        return "high" if self.place >= 1 - NEAR else None

    def expected(self, step: int = 1) -> float:
        """How often a winner that lies anywhere would be near an end."""
        if isinstance(self.domain, Float):
            return 2 * NEAR
        places = range(0, self.domain.high - self.domain.low + 1, step)
        span = self.domain.high - self.domain.low
        return sum(not NEAR < p / span < 1 - NEAR for p in places) / len(places)


@dataclass(frozen=True)
class Winner:
    """The winner of one study. `steps` are the intervals between whole numbers that were tried."""

    study: str
    placed: tuple[Placed, ...]
    steps: Mapping[str, int]

    @property
    def near_an_end(self) -> bool:
        return any(one.end for one in self.placed)

    @property
    def expected(self) -> float:
        """The chance of being near any end, were all places equally likely."""
        inside = 1.0
        for one in self.placed:
            inside *= 1 - one.expected(self.steps.get(one.name, 1))
        return 1 - inside


def tabm(data: Path) -> Iterator[Winner]:
    """The 492 tuning studies. A parameter that the winner switched off has no place."""
    with gzip.open(data / "tabm" / "tuning_studies.jsonl.gz", "rt") as stream:
        for line in stream:
            log = json.loads(line)
            placed, steps = [], {}
            for name, kind, numbers, value in _searched(log["space"], log["best_config"]):
                domain = _domain(kind, numbers)
                off = kind.startswith("?") and value == numbers[0]
                if domain is None or off:
                    continue
                placed.append(Placed(log["study"], name, domain, value))
                if kind == "int" and len(numbers) == 3:
                    steps[name] = numbers[2]
            yield Winner(log["study"], tuple(placed), steps)


def _searched(
    space: Any, winner: Any, path: str = ""
) -> Iterator[tuple[str, str, list[Any], float]]:
    """Searched parameters of a nested space with the winner's values."""
    if isinstance(space, list) and space[:1] == ["_tune_"]:
        if isinstance(winner, int | float):
            yield path, space[1], space[2:], winner
    elif isinstance(space, dict) and isinstance(winner, dict):
        for key, inner in space.items():
            yield from _searched(inner, winner.get(key), f"{path}.{key}".lstrip("."))


def _domain(kind: str, numbers: list[Any]) -> Float | Int | None:
    """A range; those marked `?` name first the value that switches them off."""
    if kind.startswith("?"):
        return _domain(kind[1:], numbers[1:])
    match kind:
        case "loguniform":
            return Float(numbers[0], numbers[1], log=True)
        case "uniform":
            return Float(numbers[0], numbers[1])
        case "int":
            return Int(numbers[0], numbers[1])
    return None
