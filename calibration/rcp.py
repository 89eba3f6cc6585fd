"""MLPerf's reference convergence points: what training to a goal took at many batch sizes.

`points` reads the folder of the logs, which is not part of the project. A benchmark is taken from
the newest round that has it. Most files count epochs and some samples; steps follow from either up
to a factor of the benchmark, which a critical batch size does not know of.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tunebook.stats.critical_batch import FEWEST_SIZES, BatchScaling, batch_scaling


@dataclass(frozen=True)
class Points:
    """One benchmark: batch sizes `(n,)` and the steps of each run to the goal, up to a factor."""

    name: str
    sizes: np.ndarray
    steps: np.ndarray


def points(data: Path) -> Iterator[Points]:
    """Every benchmark with three batch sizes or more, by its name."""
    newest: dict[str, tuple[list[int], Path]] = {}
    for file in (data / "mlperf_rcp" / "mlperf_logging" / "rcp_checker").glob("*/rcps_*.json"):
        release = [int(number) for number in re.findall(r"\d+", file.parent.name)]
        name = file.stem.removeprefix("rcps_")
        newest[name] = max(newest.get(name, (release, file)), (release, file))
    for name, (_, file) in sorted(newest.items()):
        found = [_runs(entry) for entry in json.loads(file.read_text()).values()]
        sizes = np.concatenate([size for size, _ in found])
        if len(np.unique(sizes)) >= FEWEST_SIZES:
            yield Points(name, sizes, np.concatenate([steps for _, steps in found]))


def _runs(entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    examples = next(value for key, value in entry.items() if key.endswith("to converge"))
    steps = np.asarray(examples, dtype=np.float64) / entry["BS"]
    return np.full(len(steps), float(entry["BS"])), steps


def judged(benchmark: Points) -> dict[str, Any]:
    """The fit of a benchmark, and how far off a fit without a size is at that size.

    `inside` and `outside` hold a factor for each size within and at the end of the others.
    """
    fit = batch_scaling(benchmark.sizes, benchmark.steps, benchmark.steps)
    assert isinstance(fit, BatchScaling)
    ends = (min(fit.sizes), max(fit.sizes))
    factors: dict[str, list[float]] = {"inside": [], "outside": []}
    held = 0
    for size in fit.sizes if len(fit.sizes) > FEWEST_SIZES else ():
        rest = benchmark.sizes != size
        other = batch_scaling(benchmark.sizes[rest], benchmark.steps[rest], benchmark.steps[rest])
        assert isinstance(other, BatchScaling)
        true = float(np.exp(np.log(benchmark.steps[~rest]).mean()))
        said = other.steps_at(size)
        factor = math.exp(abs(math.log(said.estimate / true)))
        factors["outside" if size in ends else "inside"].append(round(factor, 3))
        held += true in said
    c = fit.critical
    return {
        "kind": "rcp",
        "benchmark": benchmark.name,
        "sizes": [int(size) for size in fit.sizes],
        "runs": fit.observations,
        "critical": [_json(x) for x in (c.estimate, c.low, c.high)],
        "scaling": fit.scaling.value,
        "sd": round(fit.sd, 3),
        "misfit": None if fit.misfit is None else float(f"{fit.misfit:.2g}"),
        **factors,
        "held": held,
    }


def _json(value: float) -> float | None:
    """Three digits; None is no bound."""
    return float(f"{value:.3g}") if math.isfinite(value) else None
