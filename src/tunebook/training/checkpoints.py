"""Checkpoints of a training run: tensors as safetensors, the rest as JSON, nothing pickled.

With what is saved here a run continues bit for bit: weights, optimiser, average, the random states
of each rank and the step. The order of the data and the masks of dropout follow from the step.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from tunebook.core.errors import TunebookError
from tunebook.core.objective import Metric
from tunebook.files import atomic
from tunebook.training.averaging import Average
from tunebook.training.distribution import ALONE, World

_BEST = "best-"


@dataclass
class State:
    """Everything that changes while a model is trained."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    average: Average | None
    step: int = 0


def save(
    folder: Path, tensors: Mapping[str, Mapping[str, Tensor]], facts: Mapping[str, Any]
) -> None:
    """Write what `collect` has gathered into a folder."""
    for name, group in tensors.items():
        save_file(dict(group), folder / f"{name}.safetensors")
    (folder / "state.json").write_text(json.dumps(facts))


def collect(
    state: State, world: World = ALONE
) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """A state as groups of tensors and plain facts: every rank takes part, the leading has it."""
    slots, numbers = _slots(state.optimiser)
    average = state.average
    states = world.gathered((_random_tensors(), random.getstate()))
    tensors = {
        "model": model_tensors(state, world),
        "optimiser": _gathered(slots, world),
        "average": _gathered(_numbered(average.values if average else ()), world),
        **{f"random-{rank}": drawn for rank, (drawn, _) in enumerate(states)},
    }
    facts = {
        "step": state.step,
        "optimiser": numbers,
        "average_count": average.count if average else 0,
        "python": [python for _, python in states],
    }
    return tensors, facts


def load(folder: Path, state: State, rank: int = 0) -> bool:
    """Put a state back as it was saved, whole or sharded as it is now.

    Returns whether this rank's random states were there, too: a run may go on with more ranks than
    it was saved by. Ranks do not speak to one another here.
    """
    facts = json.loads((folder / "state.json").read_text())
    load_model(folder, state.model)
    _load_slots(state.optimiser, load_file(folder / "optimiser.safetensors"), facts["optimiser"])
    if state.average is not None:
        _put_back(folder, "average", _numbered(state.average.values))
        state.average.count = facts["average_count"]
    state.step = facts["step"]
    if rank >= len(facts["python"]):
        return False
    drawn = load_file(folder / f"random-{rank}.safetensors")
    _put_back_random(drawn, facts["python"][rank])
    return True


def load_model(folder: Path, model: nn.Module) -> None:
    """Give a model the weights of a checkpoint or of a kept evaluation."""
    _put_back(folder, "model", model.state_dict())


def model_tensors(state: State, world: World = ALONE) -> dict[str, Tensor]:
    """The model's weights on the CPU; every rank takes part, the leading one has them."""
    return _gathered(state.model.state_dict(), world)


def is_among_best(folder: Path, value: float, metric: Metric, keep: int) -> bool:
    """Whether an evaluation is one of so many to be kept."""
    kept = sorted((value for value, _, _ in _kept(_entries(folder))), key=metric.loss)
    return keep > len(kept) or (keep > 0 and metric.is_better(value, kept[keep - 1]))


def keep_best(
    folder: Path, model: Mapping[str, Tensor], step: int, value: float, metric: Metric, keep: int
) -> None:
    """Keep the weights of one of the best evaluations, for a choice afterwards."""
    with atomic.new_folder(folder / f"{_BEST}{step}") as target:
        save_file(dict(model), target / "model.safetensors")
        (target / "state.json").write_text(json.dumps({"step": step, "value": value}))
    for _, _, worse in sorted(_kept(_entries(folder)), key=lambda entry: metric.loss(entry[0]))[
        keep:
    ]:
        shutil.rmtree(worse, ignore_errors=True)


def best_of(folder: Path) -> list[tuple[float, int, Path]]:
    """The kept evaluations that are whole: value, step and folder."""
    return _kept(entry for entry in _entries(folder) if atomic.flaw(entry) is None)


def remove_damaged(folder: Path) -> None:
    """Remove kept evaluations that are not whole: to be called before a run begins or goes on.

    What is kept afterwards was written by the run itself, which need not read all of it again to
    know its values.
    """
    for entry in _entries(folder):
        if atomic.flaw(entry) is not None:
            shutil.rmtree(entry, ignore_errors=True)


def _entries(folder: Path) -> list[Path]:
    return list(folder.glob(f"{_BEST}*"))


def _kept(entries: Iterable[Path]) -> list[tuple[float, int, Path]]:
    found = []
    for entry in entries:
        facts = json.loads((entry / "state.json").read_text())
        found.append((facts["value"], facts["step"], entry))
    return found


def _slots(optimiser: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The optimiser's state by parameter number and name: tensors, and plain numbers."""
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, Any] = {}
    for index, slots in optimiser.state_dict()["state"].items():
        for name, value in slots.items():
            (tensors if isinstance(value, Tensor) else numbers)[f"{index}.{name}"] = value
    return tensors, numbers


def _load_slots(
    optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor], numbers: dict[str, Any]
) -> None:
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    slots: dict[int, dict[str, Any]] = {}
    for key, value in (*tensors.items(), *numbers.items()):
        number, _, name = key.partition(".")
        index = int(number)
        if isinstance(value, Tensor) and value.shape == parameters[index].shape:
            value = _like(parameters[index], value)
        slots.setdefault(index, {})[name] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": slots, "param_groups": groups})


def _random_tensors() -> dict[str, Tensor]:
    states = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    _, keys, *rest = np.random.get_state()
    states["numpy"] = torch.from_numpy(np.asarray(keys).astype(np.int64))
    states["numpy_position"] = torch.tensor(rest, dtype=torch.float64)
    return states


def _put_back_random(states: Mapping[str, Tensor], python: list[Any]) -> None:
    torch.set_rng_state(states["torch"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"])
    position, has_gauss, gauss = states["numpy_position"].tolist()
    keys = states["numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, int(position), int(has_gauss), gauss))
    random.setstate((python[0], tuple(python[1]), python[2]))


def _gathered(tensors: Mapping[str, Tensor], world: World) -> dict[str, Tensor]:
    """Whole tensors on the CPU that share no memory, as the format asks (tied weights do).

    Only the leading rank, which saves them, copies them; the others help to put shards together.
    """
    found = {}
    for name, value in tensors.items():
        whole = _full(value)
        if world.leads:
            found[name] = whole.detach().to("cpu", copy=True).contiguous()
    return found


def _full(value: Any) -> Tensor:
    """A tensor that may be sharded, as a whole."""
    whole: Tensor = value.full_tensor() if hasattr(value, "full_tensor") else value
    return whole


def _like(target: Any, value: Tensor) -> Tensor:
    """A whole tensor, sharded if the target is."""
    if not hasattr(target, "device_mesh"):
        return value
    from torch.distributed.tensor import distribute_tensor

    mesh = target.device_mesh
    # Each rank has the whole of it: none needs to be sent its part.
    return distribute_tensor(
        value.to(mesh.device_type), mesh, target.placements, src_data_rank=None
    )


@torch.no_grad()
def _put_back(folder: Path, group: str, targets: Mapping[str, Tensor]) -> None:
    """Fill tensors with those that were saved, if they are still of the same names and shapes."""
    saved = load_file(folder / f"{group}.safetensors")
    for name in sorted(saved.keys() | targets.keys()):
        there, here = (
            f"of shape {tuple(found[name].shape)}" if name in found else "missing"
            for found in (saved, targets)
        )
        if there != here:
            raise TunebookError(
                f"{group} tensor {name!r} is {there} in the checkpoint {folder} but {here} in this "
                "run; go back to the code that wrote it, or begin anew in another study"
            )
    for name, target in targets.items():
        target.copy_(_like(target, saved[name]))


def _numbered(values: Iterable[Tensor]) -> dict[str, Tensor]:
    return {str(number): value for number, value in enumerate(values)}
