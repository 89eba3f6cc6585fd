"""Steps at batch sizes that were left out are foretold from the others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rcp
from page_of_probes import FACTOR


def written(folder: Path, release: str, name: str, runs: dict[int, list[float]], key: str) -> None:
    place = folder / "mlperf_rcp" / "mlperf_logging" / "rcp_checker" / release
    place.mkdir(parents=True, exist_ok=True)
    entries = {f"{name}_{size}": {"BS": size, key: values} for size, values in runs.items()}
    (place / f"rcps_{name}.json").write_text(json.dumps(entries))


def test_the_newest_round_counts_and_few_sizes_do_not(tmp_path: Path) -> None:
    epochs, samples = "Epochs to converge", "samples to converge"
    written(tmp_path, "training_9.0.0", "a", {1: [1.0], 2: [1.0], 4: [1.0]}, epochs)
    written(tmp_path, "training_10.0.0", "a", {8: [8.0, 16.0], 16: [16.0], 32: [64.0]}, samples)
    written(tmp_path, "training_10.0.0", "b", {8: [8.0], 16: [16.0]}, epochs)
    (found,) = rcp.points(tmp_path)
    assert found.name == "a"
    assert found.sizes.tolist() == [8.0, 8.0, 16.0, 32.0]
    assert found.steps.tolist() == [1.0, 2.0, 1.0, 2.0]


def test_a_curve_foretells_its_own_points() -> None:
    sizes = np.repeat(32.0 * 2.0 ** np.arange(5), 3)
    noise = np.tile([0.99, 1.0, 1.01], 5)
    row = rcp.judged(rcp.Points("x", sizes, 100.0 * (1.0 + 150.0 / sizes) * noise))
    assert row["critical"][0] == pytest.approx(150.0, rel=0.05)
    assert max(row["inside"] + row["outside"]) < 1.02
    assert row["held"] == 5


@pytest.mark.realdata
def test_real_benchmarks_have_critical_sizes(real_data: Path) -> None:
    found = {one.name: one for one in rcp.points(real_data)}
    assert len(found) >= 20
    for name in ("llama31_8b", "flux1", "gnn"):
        row = rcp.judged(found[name])
        assert row["scaling"] == "both"
        assert max(row["inside"] + row["outside"]) <= FACTOR


@pytest.mark.realdata
@pytest.mark.long
def test_held_out_sizes_are_foretold_within_a_factor(real_data: Path) -> None:
    rows = [rcp.judged(one) for one in rcp.points(real_data)]
    inside = [factor for row in rows for factor in row["inside"]]
    outside = [factor for row in rows for factor in row["outside"]]
    assert sum(factor <= FACTOR for factor in inside) >= 0.95 * len(inside) > 0
    assert sum(factor <= FACTOR for factor in outside) >= 0.9 * len(outside) > 0
