"""Which processes use the machine's accelerators, as `nvidia-smi` tells."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import psutil

from tunebook.core.masking import mask_arguments

# Without a daemon that keeps the driver loaded, an answer takes seconds.
_PATIENCE_SECONDS = 20.0
_LONGEST_COMMAND = 100
# Stands between programs and a device that they share on purpose, and never leaves it.
_BROKERS = ("nvidia-cuda-mps-server",)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A process on an accelerator, which has a number and a name that lasts (`GPU-...`)."""

    pid: int
    command: str
    memory: str
    index: str
    uuid: str

    def sits_on(self, gpu: str) -> bool:
        """Whether an entry of CUDA_VISIBLE_DEVICES names its accelerator: a beginning will do."""
        return gpu == self.index if gpu.isdecimal() else bool(gpu) and self.uuid.startswith(gpu)


class Devices(Protocol):
    """The accelerators of this machine."""

    def tenants(self) -> tuple[Tenant, ...]:
        """The processes that use them now, as far as is known."""


class NvidiaSmi:
    """Asks the tool of NVIDIA's driver. Where it is absent or broken, nothing is known."""

    def __init__(self) -> None:
        self._indices: dict[str, str] | None = None
        self._hangs = False

    def tenants(self) -> tuple[Tenant, ...]:
        if self._indices is None:
            self._indices = {uuid: index for index, uuid in self._ask("gpu", "index,uuid", 2)}
        rows = self._ask("compute-apps", "gpu_uuid,pid,used_memory,process_name", 4)
        # A process may have several contexts on one device.
        found = {
            (uuid, pid): Tenant(
                int(pid), _command(int(pid), name), memory, self._indices.get(uuid, ""), uuid
            )
            for uuid, pid, memory, name in rows
            if pid.isdecimal() and len(pid) < 11 and not name.endswith(_BROKERS)
        }
        return tuple(found.values())

    def _ask(self, what: str, fields: str, count: int) -> Iterator[list[str]]:
        """Rows of so many cells; what does not look like one is left out."""
        if self._hangs:
            return
        command = ["nvidia-smi", f"--query-{what}={fields}", "--format=csv,noheader"]
        try:
            answer = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            # A driver that hangs once hangs again: every trial would wait for it.
            self._hangs = True
            return
        except OSError:
            return
        if answer.returncode == 0:
            for line in answer.stdout.decode(errors="replace").splitlines():
                # The last cell is the name of a program, in which there may be commas.
                cells = [cell.strip() for cell in line.split(",", count - 1)]
                if len(cells) == count:
                    yield cells


def _command(pid: int, name: str) -> str:
    """How a process was started; its name alone where it is another user's, or a container's."""
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        words = []
    command = " ".join(mask_arguments(words)) or name
    return command if len(command) <= _LONGEST_COMMAND else command[: _LONGEST_COMMAND - 3] + "..."
