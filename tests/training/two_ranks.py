"""One rank of distributed runs; started by torchrun from the tests of distribution."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from problems_in_torch import Clouds
from runs import MemoryRun
from tunebook.core.errors import TunebookError
from tunebook.core.space import Config
from tunebook.training.data import Batch
from tunebook.training.distribution import World, joined
from tunebook.training.loop import fit
from tunebook.training.regularisation import Dropout


class Drawing(Clouds):
    """Its losses draw from the global generators. It keeps these draws and the dropout masks."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[list[float]] = []
        self.masks: list[list[int]] = []

    def build(self, params: Config) -> nn.Module:
        model = super().build(params)
        for module in model.modules():
            if isinstance(module, Dropout):
                module.register_forward_hook(self._note)
        return model

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        drawn = [torch.rand(()).item(), np.random.rand(), random.random()]
        self.draws.append(drawn)
        return super().losses(outputs, batch, params) * (1 + 0.1 * sum(drawn))

    def _note(self, module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        """1: kept, 0: dropped, -1: nobody can tell, as it was zero before."""
        if module.training:
            told = torch.where(inputs[0] == 0, -1, (output != 0).int())
            self.masks.append(told.flatten().tolist())


class Listed(nn.Module):
    """Blocks in a list, of which two share their weights."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.blocks[2].weight = self.blocks[1].weight
        self.heads = nn.ModuleDict({"one": nn.Sequential(nn.ReLU(), nn.Linear(6, 3))})

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.heads["one"](x)  # type: ignore[no-any-return]


class Scaled(nn.Module):
    """A model with a parameter that has no dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(6, 3)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * self.inner(x)


class Wasteful(nn.Module):
    """A model with parameters that its outputs do not depend on."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(6, 3), nn.Linear(6, 3)
        self.frozen = nn.Linear(6, 3).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(x)  # type: ignore[no-any-return]


MODELS = {"listed": Listed, "scaled": Scaled, "wasteful": Wasteful}


class Built(Clouds):
    """The clouds with another model."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def build(self, params: Config) -> nn.Module:
        return MODELS[self._name]()


class Unwritable(MemoryRun):
    """A run whose checkpoints cannot be written."""

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied", f"checkpoints/{step}")
        yield Path()


def trained(folder: Path, options: Mapping[str, object], world: World) -> dict[str, object]:
    """What this rank has to tell about a run, or the error it ended with."""
    params = dict(options)
    steps, stop_at = int(params.pop("steps")), params.pop("stop_at", None)  # type: ignore[call-overload]
    kind = Unwritable if params.pop("unwritable", False) else MemoryRun
    task = Drawing() if params.pop("drawing", False) else Clouds()
    if "model" in params:
        task = Built(str(params.pop("model")))
    if params.pop("own_disks", False):
        # The same path on each rank, but not the same place.
        disk = folder / f"disk-{world.rank}"
        disk.mkdir(parents=True, exist_ok=True)
        os.chdir(disk)
        folder = Path("run")
    run = kind(folder, params, steps)
    run.stop_at = stop_at if world.leads else None  # type: ignore[assignment]
    try:
        model = fit(task, run, world)
    except (TunebookError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    whole = [
        p.full_tensor() if hasattr(p, "full_tensor") else p.detach() for p in model.parameters()
    ]
    return {
        "rows": run.rows,
        "sum": sum(p.double().sum().item() for p in whole),
        "averages": [b.tolist() for n, b in model.named_buffers() if "running" in n],
        "files": sorted(p.name for p in run.folder.iterdir()) if world.leads else [],
        "draws": getattr(task, "draws", []),
        "masks": getattr(task, "masks", []),
    }


def main(folder: Path, runs: list[tuple[str, dict[str, object]]]) -> None:
    torch.set_num_threads(1)
    with joined() as world:
        told = [trained(folder / name, options, world) for name, options in runs]
        (folder / f"rank-{world.rank}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
    # Gloo's threads outlive their group, and torch has been seen to abort while Python shuts down
    # beside them. What is tested ends here.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
