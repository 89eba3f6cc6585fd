"""Two processes on gloo give the run of one with the same global batch, replicated and sharded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tunebook.core.errors import StudyError
from tunebook.training.distribution import ALONE, World, bare, joined, spread

TESTS = Path(__file__).parent.parent
OPTIONS = {
    "learning_rate": 0.05,
    "optimizer": "adam",
    "batch_size": 16,
    "log_every": 5,
    "eval_every": 10,
    "clip_norm": 1.0,
    "checkpoint_every": 1000,
    "average": "ema",
}


def run_ranks(folder: Path, ranks: int, **options) -> list[dict]:
    """Run the loop on some ranks under torchrun; what each of them tells."""
    folder.mkdir(exist_ok=True)
    told = json.dumps({**OPTIONS, "steps": 50, **options})
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    script = [str(TESTS / "training" / "two_ranks.py"), str(folder), told]
    command = [*launcher, f"--nproc-per-node={ranks}", *script]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f"rank-{rank}.json").read_text()) for rank in range(ranks)]


def curve(told: dict, name: str) -> np.ndarray:
    return np.array([row[name] for _, row in told["rows"] if name in row])


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict:
    return run_ranks(tmp_path_factory.mktemp("alone"), 1)[0]


@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_two_ranks_give_the_curve_of_one(how: str, alone: dict, tmp_path: Path) -> None:
    first, second = run_ranks(tmp_path, 2, spread=how)
    for name in ("train/loss", "grad_norm", "valid/loss", "valid/error"):
        np.testing.assert_allclose(curve(first, name), curve(alone, name), atol=1e-5, err_msg=name)
    assert len(curve(first, "train/loss")) == 50
    # One rank logs and saves; both hold the same model at the end.
    assert second["rows"] == []
    assert any(name.startswith("best-") for name in first["files"])
    assert first["sum"] == pytest.approx(second["sum"], abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_two_ranks_resume_where_they_left(how: str, alone: dict, tmp_path: Path) -> None:
    (before, _) = run_ranks(tmp_path, 2, spread=how, stop_at=20)
    assert before["rows"][-1][0] == 20
    (after, _) = run_ranks(tmp_path, 2, spread=how)
    assert after["rows"][0][0] == 21
    for name in ("train/loss", "valid/loss"):
        both = np.concatenate([curve(before, name), curve(after, name)])
        np.testing.assert_allclose(both, curve(alone, name), atol=1e-5, err_msg=name)


def test_running_averages_are_the_same_on_every_rank(tmp_path: Path) -> None:
    first, second = run_ranks(tmp_path, 2, norm=True, steps=10)
    assert first["averages"]
    np.testing.assert_allclose(first["averages"], second["averages"])


def test_without_torchrun_a_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as world:
        assert (world.rank, world.size, world.leads) == (0, 1, True)
    model = nn.Linear(2, 2)
    assert spread(model, ALONE, "ddp") is model
    assert bare(model) is model
    values = torch.ones(3)
    assert ALONE.mean(values) is not None and ALONE.agree(True) and not ALONE.agree(False)
    ALONE.wait()


def test_an_unknown_way_of_spreading_is_refused() -> None:
    with pytest.raises(StudyError, match="ddp or fsdp, got 'pipeline'"):
        spread(nn.Linear(2, 2), World(size=2), "pipeline")  # type: ignore[arg-type]


def test_the_model_under_its_wrappings() -> None:
    class Compiled(nn.Module):
        """What `torch.compile` returns keeps the model under this name."""

        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self._orig_mod = model

    model = nn.Linear(2, 2)
    assert bare(Compiled(model)) is model
