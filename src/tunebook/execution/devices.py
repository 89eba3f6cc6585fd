"""The machine's accelerators and the processes that use them, as `nvidia-smi` tells."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import psutil

from tunebook.core.masking import mask_arguments

# Without a daemon that keeps the driver loaded, an answer takes seconds. Nothing else happens in
# the meantime, so that a tool which does not answer by then is not asked again.
_PATIENCE_SECONDS = 5.0
# One that waits for the driver itself cannot even be killed.
_DYING_SECONDS = 1.0
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

    def tenants(self) -> tuple[Tenant, ...] | None:
        """The processes that use them now, as far as is known; None if nobody can tell."""


class NvidiaSmi:
    """Asks the tool of NVIDIA's driver. Where it is absent or broken, nothing is known."""

    def __init__(self) -> None:
        self._indices: dict[str, str] = {}
        self._hanging: subprocess.Popen[bytes] | None = None

    def tenants(self) -> tuple[Tenant, ...] | None:
        rows = self._ask("compute-apps", "gpu_uuid,pid,used_memory,process_name", 4)
        if rows is None:
            return None
        # A first answer may fail; numbers never change once they are known.
        if not self._indices and not self.indices():
            return None
        # A process may have several contexts on one device.
        found = {
            (uuid, pid): Tenant(
                int(pid), _command(int(pid), name), memory, self._indices.get(uuid, ""), uuid
            )
            for uuid, pid, memory, name in rows
            if pid.isdecimal() and len(pid) < 11 and not name.endswith(_BROKERS)
        }
        return tuple(found.values())

    def indices(self) -> tuple[str, ...] | None:
        """The numbers of all accelerators, by their place on the bus; None if nobody can tell."""
        rows = self._ask("gpu", "index,uuid", 2)
        if rows is None:
            return None
        self._indices = {uuid: index for index, uuid in rows if index.isdecimal()}
        return tuple(self._indices.values())

    def _ask(self, what: str, fields: str, count: int) -> list[list[str]] | None:
        """Rows of so many cells; what does not look like one is left out. None is no answer."""
        answer = self._answer(["nvidia-smi", f"--query-{what}={fields}", "--format=csv,noheader"])
        if answer is None:
            return None
        # The last cell is the name of a program, in which there may be commas.
        lines = answer.decode(errors="replace").splitlines()
        rows = ([cell.strip() for cell in line.split(",", count - 1)] for line in lines)
        return [cells for cells in rows if len(cells) == count]

    def _answer(self, command: list[str]) -> bytes | None:
        """What the tool prints; None if it fails, or does not end."""
        if self._hanging is not None:
            # A driver that hangs once hangs again: every trial would wait for it. The process may
            # have ended since, and is no longer listed then.
            self._hanging.poll()
            return None
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        try:
            output, _ = process.communicate(timeout=_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._hanging = process
            return None
        finally:
            if process.returncode is None:
                _end(process)
        return output if process.returncode == 0 else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and wait a moment for that: `subprocess.run` would wait without limit."""
    process.kill()
    if process.stdout is not None:
        process.stdout.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_DYING_SECONDS)


def _command(pid: int, name: str) -> str:
    """How a process was started; its name alone where it is another user's, or a container's."""
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        words = []
    command = " ".join(mask_arguments(words)) or name
    return command if len(command) <= _LONGEST_COMMAND else command[: _LONGEST_COMMAND - 3] + "..."
