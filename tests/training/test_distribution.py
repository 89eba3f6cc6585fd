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
from safetensors.torch import load_file
from torch import nn

from problems_in_torch import Clouds
from runs import MemoryRun
from training.two_ranks import Listed
from tunebook.core.errors import StudyError
from tunebook.training import checkpoints
from tunebook.training.distribution import ALONE, World, bare, joined, sharded_alone, spread
from tunebook.training.evaluation import evaluate
from tunebook.training.loop import fit
from tunebook.training.normalisation import running_averages

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


def run_several(folder: Path, ranks: int, *runs: tuple[str, dict]) -> list[tuple[dict, ...]]:
    """Run the loop on some ranks under torchrun, time after time; what each run's ranks tell."""
    folder.mkdir(exist_ok=True)
    told = json.dumps([(name, {**OPTIONS, "steps": 50, **options}) for name, options in runs])
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    script = [str(TESTS / "training" / "two_ranks.py"), str(folder), told]
    command = [*launcher, f"--nproc-per-node={ranks}", *script]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    environment["PYTHONWARNINGS"] = "error::FutureWarning"
    files = [folder / f"rank-{rank}.json" for rank in range(ranks)]
    for file in files:
        file.unlink(missing_ok=True)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr[-3000:]
    return list(zip(*(json.loads(file.read_text()) for file in files), strict=True))


def run_ranks(folder: Path, ranks: int, **options) -> tuple[dict, ...]:
    return run_several(folder, ranks, ("run", options))[0]


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


# It leaves at a step without an evaluation, before which ranks would agree anyway.
NORMED = {"norm": True, "steps": 10, "ema_decay": 0.8}
DRAWING = {"drawing": True, "dropout": 0.3, "steps": 12, "log_every": 4}


@pytest.fixture(scope="module")
def mishaps(tmp_path_factory) -> dict[str, tuple[dict, ...]]:
    """Runs of two ranks that are interrupted or go wrong, one after another in one world."""
    runs = {
        "whole": ("whole", DRAWING),
        "stopped": ("parts", {**DRAWING, "stop_at": 8}),
        "resumed": ("parts", DRAWING),
        "normed": ("normed", NORMED),
        "normed, stopped": ("normed parts", {**NORMED, "stop_at": 5}),
        "normed, resumed": ("normed parts", NORMED),
        "unwritable": ("unwritable", {"steps": 4, "unwritable": True}),
        "apart": ("apart", {"steps": 4, "own_disks": True}),
        "resumed apart": ("apart", {"steps": 8, "own_disks": True}),
    }
    told = run_several(tmp_path_factory.mktemp("mishaps"), 2, *runs.values())
    return dict(zip(runs, told, strict=True))


def test_resumed_ranks_draw_what_they_would_have_drawn(mishaps) -> None:
    assert mishaps["stopped"][0]["rows"][-1][0] == 8
    assert curve(mishaps["resumed"][0], "train/loss").size == 4
    for whole, stopped, resumed in zip(
        mishaps["whole"], mishaps["stopped"], mishaps["resumed"], strict=True
    ):
        assert stopped["draws"] + resumed["draws"] == whole["draws"]
        assert stopped["masks"] + resumed["masks"] == whole["masks"]
        both = [*stopped["rows"], *resumed["rows"]]
        losses = [row["train/loss"] for _, row in both if "train/loss" in row]
        np.testing.assert_array_equal(losses, curve(whole, "train/loss"))


def test_a_checkpoint_has_the_running_averages_of_all_ranks(mishaps) -> None:
    whole, stopped, resumed = (mishaps[f"normed{part}"] for part in ("", ", stopped", ", resumed"))
    assert [step for step, row in stopped[0]["rows"] if "valid/loss" in row] == []
    assert stopped[0]["averages"] == stopped[1]["averages"]
    np.testing.assert_allclose(resumed[0]["averages"], whole[0]["averages"], rtol=1e-5)
    # What is evaluated is the average of the weights, and of the running averages.
    found, expected = curve(resumed[0], "valid/loss"), curve(whole[0], "valid/loss")
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_running_averages_of_ranks_are_those_of_one_process(mishaps, tmp_path: Path) -> None:
    params = {name: value for name, value in {**OPTIONS, **NORMED}.items() if name != "steps"}
    model = fit(Clouds(), MemoryRun(tmp_path, params, 10), ALONE)
    # Not the means: the bias before the norm has a gradient of rounding errors, which Adam scales.
    _, variances = running_averages(model)
    for told in mishaps["normed"]:
        np.testing.assert_allclose(told["averages"][1], variances, rtol=1e-3)


def test_ranks_draw_apart_before_and_after_resuming(mishaps) -> None:
    for name in ("whole", "resumed"):
        first, second = mishaps[name]
        assert len(first["draws"]) == len(first["masks"]) > 0
        for one, other in zip(first["draws"], second["draws"], strict=True):
            assert one != other
        for one, other in zip(first["masks"], second["masks"], strict=True):
            known = [pair for pair in zip(one, other, strict=True) if -1 not in pair]
            assert any(mine != theirs for mine, theirs in known)


def test_a_checkpoint_that_cannot_be_written_ends_every_rank(mishaps) -> None:
    first, second = mishaps["unwritable"]
    assert first["error"].startswith("PermissionError: [Errno 13] Permission denied")
    assert second["error"].startswith(
        "TunebookError: rank 0 has failed, and this one with it: PermissionError(13"
    )


def test_a_checkpoint_that_a_rank_cannot_read_ends_every_rank(mishaps) -> None:
    assert "error" not in mishaps["apart"][0]
    first, second = mishaps["resumed apart"]
    assert second["error"] == (
        "TunebookError: rank 1 cannot continue from the checkpoint run/checkpoints/4, as the "
        "leading rank does: it has no manifest; checkpoints must be in a folder that every rank "
        "can reach"
    )
    assert first["error"].startswith("TunebookError: rank 1 has failed, and this one with it: ")


LOOKING = {"norm": True, "steps": 10, "saved_predictions": 9}


@pytest.fixture(scope="module")
def looks(tmp_path_factory) -> tuple[Path, dict[str, tuple[dict, ...]]]:
    """Runs of two ranks with batch norm, and the folder of their files."""
    runs = {
        "ddp": {**LOOKING, "average": "none"},
        "ddp, ema": {**LOOKING},
        "fsdp, ema": {**LOOKING, "spread": "fsdp"},
    }
    folder = tmp_path_factory.mktemp("looks")
    return folder, dict(zip(runs, run_several(folder, 2, *runs.items()), strict=True))


@pytest.mark.parametrize("kind", ["ddp", "ddp, ema", "fsdp, ema"])
def test_what_two_ranks_evaluate_is_one_model(kind: str, looks) -> None:
    folder, told = looks[0] / kind / "files", looks[1][kind]
    np.testing.assert_allclose(told[0]["averages"], told[1]["averages"])
    # With running averages that differ, each rank would evaluate a model of its own.
    model = Clouds().build({"norm": True})
    checkpoints.load_model(folder / "best-10", model)
    valid = Clouds().data({}).valid
    found = evaluate(model, Clouds(), valid, 16).values
    assert curve(told[0], "valid/loss") == pytest.approx([found["loss"]], abs=1e-6)
    kept = load_file(folder / "predictions-10" / "predictions.safetensors")
    assert torch.equal(kept["targets"], valid.targets[kept["indices"]])
    expected = model.eval()(valid.inputs[kept["indices"]]).detach()
    torch.testing.assert_close(kept["outputs"], expected, atol=1e-5, rtol=1e-5)


def test_an_average_is_not_the_last_weights(looks) -> None:
    one, other = (curve(looks[1][kind][0], "valid/loss") for kind in ("ddp", "ddp, ema"))
    assert abs(one - other) > 1e-4


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, tuple[dict, ...]]:
    """Runs of two ranks with models that are hard to spread."""
    runs = {
        f"{model}, {how}": {"model": model, "spread": how, "steps": 6, "eval_every": 6}
        for model in ("listed", "scaled", "wasteful")
        for how in ("ddp", "fsdp")
    }
    told = run_several(tmp_path_factory.mktemp("models"), 2, *runs.items())
    return dict(zip(runs, told, strict=True))


def test_containers_and_tied_weights_can_be_sharded(models) -> None:
    replicated, sharded = models["listed, ddp"][0], models["listed, fsdp"][0]
    for name in ("train/loss", "valid/loss"):
        np.testing.assert_allclose(curve(sharded, name), curve(replicated, name), atol=1e-5)
    assert sharded["sum"] == pytest.approx(replicated["sum"], abs=1e-4)


def test_a_parameter_without_a_dimension_cannot_be_sharded(models) -> None:
    assert "error" not in models["scaled, ddp"][0]
    for told in models["scaled, fsdp"]:
        assert told["error"] == (
            "StudyError: fsdp cannot shard parameters without a dimension, which scale are; make "
            "them of shape (1,), or set spread to ddp"
        )


def test_a_parameter_without_a_gradient_cannot_be_replicated(models) -> None:
    assert len(curve(models["wasteful, fsdp"][0], "train/loss")) == 6
    for told in models["wasteful, ddp"]:
        assert told["error"].startswith(
            "StudyError: the loss does not depend on unused.weight, unused.bias, and replicas "
        )


def test_blocks_that_share_nothing_are_sharded_by_themselves() -> None:
    model = Listed()
    found = sharded_alone(model)
    assert found == [model.blocks[0], model.blocks[3], model.heads["one"][1]]
    model.head = model.blocks[0].weight  # held by the root as well
    model.blocks[3].requires_grad_(False)
    assert sharded_alone(model) == [model.heads["one"][1]]


def test_without_torchrun_a_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as world:
        assert (world.rank, world.size, world.leads) == (0, 1, True)
    model = nn.Linear(2, 2)
    assert spread(model, ALONE, "ddp") is model
    assert bare(model) is model
    values = torch.ones(3)
    assert ALONE.mean(values) is not None and ALONE.agree(True) and not ALONE.agree(False)
    assert ALONE.told(3) == 3
    assert ALONE.gathered(3) == [3]
    with pytest.raises(ValueError, match="mine"), ALONE.together():
        raise ValueError("mine")


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
