"""Places for attempts: how the machine's processors and accelerators are divided among them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tunebook.core.errors import StudyError
from tunebook.core.representation import counted
from tunebook.core.study import Resources
from tunebook.execution import cgroups

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one attempt: threads, accelerators and memory (bytes) of its own."""

    number: int = 0
    cpus: int = 1
    gpus: tuple[str, ...] = ()
    memory: int | None = None

    def environment(self) -> dict[str, str]:
        """What a program finds in its environment. Only its own accelerators are visible to it."""
        threads = dict.fromkeys(THREAD_VARIABLES, str(self.cpus))
        # Left to itself CUDA numbers devices by speed, nvidia-smi by their place on the bus.
        order = os.environ.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        devices = {"CUDA_VISIBLE_DEVICES": ",".join(self.gpus), "CUDA_DEVICE_ORDER": order}
        return {**devices, **threads}


def divide(
    resources: Resources,
    cpus: int,
    gpus: Sequence[str],
    workers: int | None = None,
) -> tuple[Slot, ...]:
    """As many slots as the machine has room for, or as many as wished.

    >>> [slot.gpus for slot in divide(Resources(cpus=2, gpus=1), 8, ["0", "1", "2"])]
    [('0',), ('1',), ('2',)]
    """
    if resources.gpus > len(gpus):
        raise StudyError(
            f"a trial needs {counted(resources.gpus, 'gpu')}, but this machine shows {len(gpus)}; "
            "lower resources.gpus in the study, or run where there are more"
        )
    room = max(cpus // resources.cpus, 1)
    if resources.gpus:
        room = min(room, len(gpus) // resources.gpus)
    if workers is not None:
        if workers < 1:
            raise StudyError(f"the number of workers must be at least 1, got {workers}")
        # More workers than processors may be wished; accelerators cannot be shared.
        room = workers if not resources.gpus else min(workers, len(gpus) // resources.gpus)
    each = resources.gpus
    return tuple(
        Slot(
            number,
            resources.cpus,
            tuple(gpus[number * each : (number + 1) * each]),
            resources.memory,
        )
        for number in range(room)
    )


def cpus_here() -> int:
    """The processors this process may use, as far as the quota of its group goes."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    return max(min(len(os.sched_getaffinity(0)), _quota()), 1)


def gpus_here(listed: Callable[[], Sequence[str] | None]) -> tuple[str, ...]:
    """The accelerators this process may use: those it was given, or all of the machine's.

    `listed` gives the numbers of all, by their place on the bus, or None if nobody can tell.
    """
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        devices = (device.strip() for device in given.split(","))
        # As CUDA reads it: the list ends at the first entry that names no device.
        found = tuple(takewhile(lambda device: device and not device.startswith("-"), devices))
        twice = [device for device in dict.fromkeys(found) if found.count(device) > 1]
        if twice:
            raise StudyError(
                f"CUDA_VISIBLE_DEVICES={given} names {twice[0]} twice, and CUDA then shows no "
                "device; name each once"
            )
        return found
    numbers = listed()
    if numbers is not None:
        return tuple(numbers)
    # Numbers of nodes are the host's: CUDA counts what a container was given from 0 on.
    return tuple(str(number) for number, _ in enumerate(Path("/dev").glob("nvidia[0-9]*")))


def _quota() -> int:
    """The processors' time that this process's group may use, in processors."""
    limit = cgroups.read("cpu", v1="cpu.cfs_quota_us", v2="cpu.max").split()
    limit += cgroups.read("cpu", v1="cpu.cfs_period_us").split()
    # "max" or -1 means no limit.
    if len(limit) != 2 or not all(part.isdigit() for part in limit):
        return os.cpu_count() or 1
    return math.ceil(int(limit[0]) / int(limit[1]))
