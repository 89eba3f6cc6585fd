"""What the reference loop costs over one written by hand, and beside Lightning's Trainer.

The same 512-wide network at batch 128 on one thread, in milliseconds a step: the difference between
a longer and a shorter run, so that what is done once (data, model, a last evaluation) does not
count on any side. The bare loop does only what training needs.
Ours also follows a schedule, logs loss, learning rate and gradient norm of every step into a real
spool, and asks after each step whether to stop; evaluations and checkpoints are left out on all
sides. Both run as one gets them: the bare loop with torch's default optimiser, ours with the fused
one, which it takes where there is one. A further column is the overhead over a bare loop whose
author asked for the fused kernel: what is left there is the gradient norm above all, a pass over
all gradients that the bare loop does not make. Each repeat measures us and the bare loops in turn;
Lightning is measured by the Python of `.venv-bench`, beside a bare loop of its own. A second table
shows what each option of speed brings.

    make bench-setup
    .venv/bin/python benchmarks/loop.py

The last line is JSON with the raw value of every repeat.
"""

from __future__ import annotations

import functools
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from measuring import claim, peer, print_claims, require_peers

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from bare_loop import EXAMPLES, LEARNING_RATE, LOG_EVERY, MOMENTUM, bare, each_of, examples, network

from tunebook.core.objective import Metric
from tunebook.core.space import Config, Setting
from tunebook.core.study import Budget, Divergence
from tunebook.core.trials import Attempt, FromSequence, Outcome, OutcomeKind, Trial
from tunebook.execution import here
from tunebook.execution.spec import Spec, Terms
from tunebook.training.data import Batch, TensorExamples
from tunebook.training.loop import train
from tunebook.training.task import Data, Facts, Pair, classification_measures

STEPS, REPEATS = 500, 9


class Wide:
    """The bare loop's problem as a task."""

    facts = Facts(Metric("valid/error"), chance=0.9, reached=0.9, steps=STEPS)

    def data(self, params: Config) -> Data:
        inputs, targets = examples()
        return Data(TensorExamples(inputs, targets), TensorExamples(inputs[:128], targets[:128]))

    def build(self, params: Config) -> nn.Module:
        return network()

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return nn.functional.cross_entropy(outputs, batch.targets, reduction="none")

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)


def each(train: Callable[[int], float]) -> float:
    return each_of(train, STEPS)


def ours(steps: int, **options: object) -> float:
    """Seconds for some steps of our loop, in a real run."""
    params: dict[str, object] = {
        "optimizer": "momentum",
        "learning_rate": LEARNING_RATE,
        "momentum": MOMENTUM,
        "log_every": LOG_EVERY,
        "keep_best": 0,
        "eval_every": 10 * steps,
        "checkpoint_every": 10 * steps,
        **options,
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "1" / "1"
        place.mkdir(parents=True)
        trial = Trial("loop", 1, Setting(), params, 0, FromSequence(0))
        terms = Terms(Metric("valid/error"), Divergence(), Budget(steps))
        begun = here.begin(Spec(Attempt(trial, 1, "token", str(place)), terms))
        assert begun is not None
        began = time.perf_counter()
        train(Wide(), begun.run)
        spent = time.perf_counter() - began
        begun.run.end(Outcome(OutcomeKind.COMPLETE, "finished"))
        begun.release()
    return spent


def print_options() -> None:
    """What each option of speed brings on this machine: milliseconds a step, best of three."""
    options: list[dict[str, object]] = [
        {},
        {"fused": False},
        {"foreach": True},
        {"precision": "bfloat16"},
        {"prefetch": 2},
    ]
    if shutil.which("g++"):
        options.append({"compile": True})
    print("\noption                 ms a step (best of 3)")
    for option in options:
        name = ", ".join(f"{key}={value}" for key, value in option.items()) or "none"
        # The first run compiles, where there is something to compile.
        ours(20, **option)
        best = min(each(functools.partial(ours, **option)) for _ in range(3))
        print(f"{name:<22}{1e3 * best:8.3f}")


def lightnings(steps: int, repeats: int) -> list[tuple[float, float]]:
    return [tuple(pair) for pair in json.loads(peer("lightning_loop.py", steps, repeats))]


def main() -> int:
    require_peers()
    torch.set_num_threads(1)
    bare(20)
    ours(20)
    overheads, over_fused, advantages = [], [], []
    print(f"{EXAMPLES} examples, {STEPS} steps a repeat, milliseconds a step")
    print(
        f"{'bare':>8}{'fused':>8}{'ours':>8}{'over':>8}{'over':>8}{'bare':>10}{'Lightning':>11}{'over':>8}"
    )
    for _ in range(REPEATS):
        yardstick, own = each(bare), each(ours)
        fused = each(functools.partial(bare, fused=True))
        their_yardstick, theirs = lightnings(STEPS, 1)[0]
        overheads.append(own / yardstick - 1)
        over_fused.append(own / fused - 1)
        advantages.append((theirs / their_yardstick) / (own / yardstick))
        times = [1e3 * seconds for seconds in (yardstick, fused, own, their_yardstick, theirs)]
        print(
            f"{times[0]:8.3f}{times[1]:8.3f}{times[2]:8.3f}{overheads[-1]:8.1%}{over_fused[-1]:8.1%}"
            f"{times[3]:10.3f}{times[4]:11.3f}{theirs / their_yardstick - 1:8.1%}"
        )
    print(
        f"median overhead {statistics.median(overheads):.2%}; "
        f"over a bare loop with the fused optimiser {statistics.median(over_fused):.2%}"
    )
    print_options()
    print_claims(
        [
            claim("overhead of our loop over a bare one, as a share", "<=", 0.03, overheads),
            claim(
                "overhead over a bare loop that also uses the fused optimiser, as a share",
                "<=",
                0.03,
                over_fused,
            ),
            claim("Lightning's time a step / ours, each over its bare loop", ">=", 1.0, advantages),
        ]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
