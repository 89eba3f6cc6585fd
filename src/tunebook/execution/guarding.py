"""Slots whose accelerators are really free: a process that sits on one keeps trials away from it.

It would take memory from a trial that may then be called infeasible, and time from its steps.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence

import psutil

from tunebook.execution.devices import Devices, Tenant
from tunebook.execution.slots import Slot

# The driver frees a device a moment after its process has ended: one look is no proof.
LOOK_SECONDS = 2.0


class Guard:
    """Says which slots may be used, and names who is in the way of the others."""

    def __init__(self, devices: Devices | None, notice: Callable[[str], None]) -> None:
        """`devices` may be None: then accelerators are shared with whoever uses them."""
        self._devices = devices
        self._notice = notice
        # By the accelerators of a slot: the trial that was there last, and when it was found taken.
        self._last: dict[tuple[str, ...], str] = {}
        self._taken: dict[tuple[str, ...], float] = {}
        self._named: dict[tuple[str, ...], frozenset[int]] = {}
        # The last answer; of a slot that was used since, it says nothing.
        self._used_since: set[tuple[str, ...]] = set()
        self._asked: float | None = None
        self._tenants: list[Tenant] = []
        self._told_off = False

    def used(self, slot: Slot, trial: str) -> None:
        """A trial begins in a slot."""
        self._last[slot.gpus] = trial
        self._used_since.add(slot.gpus)

    def first_free(self, slots: Sequence[Slot]) -> Slot | None:
        """The first slot that may be used now."""
        if self._devices is None:
            return slots[0] if slots else None
        for slot in slots:
            if not slot.gpus:
                return slot
            if self._is_due(slot) and not self._look(slot, self._now(self._devices, slot)):
                return slot
        return None

    def _now(self, devices: Devices, slot: Slot) -> Sequence[Tenant]:
        """Who is there, by an answer that is at most so old: everything waits for a new one."""
        age = math.inf if self._asked is None else time.monotonic() - self._asked
        if age >= LOOK_SECONDS or slot.gpus in self._used_since:
            self._used_since.clear()
            found = devices.tenants()
            if found is None and not self._told_off:
                self._told_off = True
                self._notice(
                    "nvidia-smi does not say who uses the GPUs: those that other processes use are "
                    "used, too."
                )
            self._tenants = _others(found or ())
            self._asked = time.monotonic()
        return self._tenants

    def _is_due(self, slot: Slot) -> bool:
        return time.monotonic() - self._taken.get(slot.gpus, -LOOK_SECONDS) >= LOOK_SECONDS

    def _look(self, slot: Slot, tenants: Sequence[Tenant]) -> bool:
        """Whether somebody is there; told at the second look, and again when that has changed."""
        gpus = slot.gpus
        here = [tenant for tenant in tenants if any(map(tenant.sits_on, gpus))]
        named = self._named.get(gpus, frozenset())
        if not here:
            self._taken.pop(gpus, None)
            if self._named.pop(gpus, None):
                self._notice(f"{_name(gpus)} is free again, and is used again.")
            return False
        pids = frozenset(tenant.pid for tenant in here)
        if gpus in self._taken and not pids <= named:
            self._named[gpus] = named | pids
            self._notice(self._who(gpus, here))
        self._taken[gpus] = time.monotonic()
        return True

    def _who(self, gpus: tuple[str, ...], here: Sequence[Tenant]) -> str:
        each = (
            f"process {tenant.pid} ({tenant.command}) uses {_amount(tenant.memory)}"
            for tenant in here
        )
        trial = self._last.get(gpus)
        since = f"since {trial} ended there" if trial else "since before this run"
        return (
            f"{_name(gpus)} is not used: {'; '.join(each)}, {since}. "
            "Trials wait until it has ended; end it, or share with it by --share-gpus."
        )


def _others(tenants: Sequence[Tenant]) -> list[Tenant]:
    """Those that are neither this process nor above it: a notebook cannot wait for itself."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    return [tenant for tenant in tenants if tenant.pid not in own]


def _amount(memory: str) -> str:
    """How much of a device is used; within containers the driver does not say."""
    return f"{memory} of its memory" if memory[:1].isdigit() else "it"


def _name(gpus: tuple[str, ...]) -> str:
    return f"GPU {', '.join(gpus)}"
