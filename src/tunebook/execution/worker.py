"""The worker: the process in which a training function runs, and what it finds there."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from tunebook.core.protocols import Program, TrainFunction
from tunebook.execution import current, memory, outcomes, programs
from tunebook.execution.run import SpoolRun, TrialEnded
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec


def train(function: TrainFunction, run: SpoolRun) -> None:
    """Call a training function and write how it ended. Returns in every case."""
    current.set_run(run)
    try:
        try:
            returned = function(run)
        except SystemExit as left:
            if left.code not in (0, None):
                raise
            returned = None
        outcomes.log_returned(run, returned)
        outcome = outcomes.of_return(run, returned)
    except TrialEnded:
        return
    except BaseException as error:
        # Writing the outcome needs a little memory, too.
        memory.lift_limit()
        outcome = outcomes.of_exception(error)
    finally:
        current.set_run(None)
    run.end(outcome)


def prepare(spec: Spec, slot: Slot) -> None:
    """Environment, threads, memory and random state of a fresh worker."""
    os.environ.update(slot.environment())
    os.environ["TUNEBOOK_ATTEMPT"] = str(spec.folder)
    _set_threads(slot.cpus)
    _seed(spec.attempt.trial.seed)
    if slot.memory is not None:
        memory.limit_data(slot.memory)


def _set_threads(threads: int) -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def _seed(seed: int) -> None:
    """Seed what is loaded: a forked worker would otherwise repeat its parent's random numbers."""
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(seed)
    if torch is not None:
        torch.manual_seed(seed)


def main() -> None:
    """A worker in a Python of its own: the attempt's folder and the program come by descriptor."""
    folder, descriptor = sys.argv[1], int(sys.argv[2])
    with os.fdopen(descriptor, "rb") as file:
        program = programs.from_json(file.read().decode())
    spec = Spec.read(Path(folder))
    run = SpoolRun(spec)
    train(lambda given: _loaded(program, spec)(given), run)


def _loaded(program: Program, spec: Spec) -> TrainFunction:
    function = program.load()
    _seed(spec.attempt.trial.seed)
    return function
