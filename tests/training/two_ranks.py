"""One rank of a distributed run; started by torchrun from the tests of distribution."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from problems_in_torch import Clouds
from runs import MemoryRun
from tunebook.training.distribution import joined
from tunebook.training.loop import fit


def main(folder: Path, options: dict[str, object]) -> None:
    torch.set_num_threads(1)
    stop_at = options.pop("stop_at", None)
    steps = int(options.pop("steps"))  # type: ignore[call-overload]
    with joined() as world:
        run = MemoryRun(folder, options, steps)
        run.stop_at = stop_at if world.leads else None  # type: ignore[assignment]
        model = fit(Clouds(), run, world)
        whole = [
            p.full_tensor() if hasattr(p, "full_tensor") else p.detach() for p in model.parameters()
        ]
        averages = [b.tolist() for n, b in model.named_buffers() if "running" in n]
        told = {
            "rows": run.rows,
            "sum": sum(p.double().sum().item() for p in whole),
            "averages": averages,
            "files": sorted(p.name for p in run.folder.iterdir()) if world.leads else [],
        }
        (folder / f"rank-{world.rank}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
