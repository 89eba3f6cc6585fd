"""The worker: the process in which a training function runs, and what it finds there."""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
import threading
from pathlib import Path

from tunebook.core.protocols import Program, TrainFunction
from tunebook.execution import current, family, joined, memory, outcomes, programs
from tunebook.execution.run import SpoolRun, TrialEnded
from tunebook.execution.slots import Slot
from tunebook.execution.spec import ON_TERMINATION, Spec

_STANDARD_ERROR = 2


def train(function: TrainFunction, run: SpoolRun) -> None:
    """Call a training function and write how it ended. Returns in every case."""
    _seed(run.seed)
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


def prepare(spec: Spec) -> None:
    """Environment, threads and memory of a fresh worker."""
    os.environ.update(spec.slot.environment())
    os.environ[joined.ATTEMPT] = str(spec.folder)
    # That of another trial, in which this study may be running.
    os.environ.pop(joined.METRICS, None)
    _set_threads(spec.slot)
    # CUDA maps far more memory than it uses, writable: there the keeper's look at what is used
    # must do.
    if spec.slot.memory is not None and not spec.slot.gpus:
        memory.limit_data(spec.slot.memory)


def work(function: TrainFunction, spec: Spec) -> None:
    """What a worker process is for: train, and leave when the system asks for it."""
    # A segmentation fault leaves a traceback in the log.
    faulthandler.enable(_STANDARD_ERROR)
    _obey_termination(spec)
    train(function, SpoolRun(spec))


def main() -> None:
    """A worker in a Python of its own: the attempt's folder and the program come by descriptor."""
    # The arguments are ours: a program that looks at them finds none.
    descriptor, folder = int(sys.argv.pop()), Path(sys.argv.pop())
    with os.fdopen(descriptor, "rb") as file:
        program = programs.from_json(file.read().decode())
    family.do_and_leave(lambda: work(_load(program), Spec.read(folder)))


def _load(program: Program) -> TrainFunction:
    """The program's function, or one that raises what loading it raised."""
    try:
        return program.load()
    except BaseException as error:
        failure = error

    def fail(_: object) -> None:
        raise failure

    return fail


def _obey_termination(spec: Spec) -> None:
    """Let SIGTERM, which batch systems send to every process, ask the program to save and leave.

    Forked children, such as a data loader's, die of it as usual: their parent may wait for that.
    The signal is held back while a process forks, so that none is lost between the two.
    """
    held = threading.local()

    def ask(*_: object) -> None:
        ON_TERMINATION.write_if_first(spec.folder)

    def hold() -> None:
        held.before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, held.before)

    def release_child() -> None:
        if signal.getsignal(signal.SIGTERM) is ask:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        release()

    signal.signal(signal.SIGTERM, ask)
    os.register_at_fork(before=hold, after_in_parent=release, after_in_child=release_child)


def _set_threads(slot: Slot) -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(slot.cpus)


def _seed(seed: int) -> None:
    """Seed what is loaded: a forked worker would otherwise repeat its parent's random numbers."""
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(seed)
    if torch is not None:
        torch.manual_seed(seed)
