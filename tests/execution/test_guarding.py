"""Slots whose accelerators somebody else uses are left alone, and that is told once."""

from __future__ import annotations

import os

import pytest

from tunebook.execution import guarding
from tunebook.execution.devices import Tenant
from tunebook.execution.guarding import Guard
from tunebook.execution.slots import Slot

TWO = (Slot(0, gpus=("0",)), Slot(1, gpus=("1",)))
OTHER = os.getpid() + 10**6


class Listed:
    """Devices with the tenants that a test has listed."""

    def __init__(self) -> None:
        self.now: tuple[Tenant, ...] | None = ()
        self.asked = 0

    def tenants(self) -> tuple[Tenant, ...] | None:
        self.asked += 1
        return self.now


def tenant(index: str, pid: int = OTHER) -> Tenant:
    return Tenant(pid, "python train.py", "512 MiB", index, f"GPU-{index}")


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "LOOK_SECONDS", 0.0)


def guard(devices: Listed | None) -> tuple[Guard, list[str]]:
    told: list[str] = []
    return Guard(devices, told.append), told


def test_free_slots_come_in_order() -> None:
    watch, told = guard(Listed())
    assert watch.first_free(TWO) == TWO[0]
    assert watch.first_free(TWO[1:]) == TWO[1]
    assert watch.first_free(()) is None
    assert told == []


def test_a_taken_slot_is_passed_over_and_named_at_the_second_look() -> None:
    devices = Listed()
    devices.now = (tenant("0"),)
    watch, told = guard(devices)
    assert watch.first_free(TWO) == TWO[1]
    assert told == []
    for _ in range(3):
        assert watch.first_free(TWO) == TWO[1]
    assert told == [
        f"GPU 0 is not used: process {OTHER} (python train.py) uses 512 MiB of its memory, since "
        "before this run. Trials wait until it has ended; end it, or share with it by --share-gpus."
    ]
    devices.now = ()
    assert watch.first_free(TWO) == TWO[0]
    assert told[1:] == ["GPU 0 is free again, and is used again."]


def test_who_is_gone_at_the_second_look_is_never_named() -> None:
    devices = Listed()
    watch, told = guard(devices)
    watch.used(TWO[0], "trial 3")
    devices.now = (tenant("0"),)
    assert watch.first_free(TWO[:1]) is None
    devices.now = ()
    assert watch.first_free(TWO[:1]) == TWO[0]
    assert told == []


def test_the_trial_after_which_it_is_there() -> None:
    devices = Listed()
    watch, told = guard(devices)
    watch.used(TWO[1], "trial 3")
    devices.now = (tenant("1"),)
    assert [watch.first_free(TWO[1:]) for _ in range(2)] == [None, None]
    assert ", since trial 3 ended there. " in told[0]


def test_all_on_a_slot_of_several_are_named() -> None:
    devices = Listed()
    devices.now = (tenant("0"), tenant("1", OTHER + 1))
    watch, told = guard(devices)
    both = (Slot(0, gpus=("0", "1")),)
    assert [watch.first_free(both) for _ in range(2)] == [None, None]
    assert told[0].startswith(f"GPU 0, 1 is not used: process {OTHER} (")
    assert f"; process {OTHER + 1} (" in told[0]
    devices.now = (tenant("0"), tenant("1", OTHER + 1), tenant("1", OTHER + 2))
    assert watch.first_free(both) is None
    assert f"; process {OTHER + 2} (" in told[1]


def test_this_process_and_those_above_it_do_not_count() -> None:
    devices = Listed()
    devices.now = (tenant("0", os.getpid()), tenant("0", os.getppid()))
    watch, _ = guard(devices)
    assert watch.first_free(TWO) == TWO[0]


def test_it_is_not_asked_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "LOOK_SECONDS", 3600.0)
    devices = Listed()
    devices.now = (tenant("0"), tenant("1"))
    watch, _ = guard(devices)
    assert [watch.first_free(TWO) for _ in range(5)] == [None] * 5
    assert devices.asked == 1


def test_nobody_is_asked_where_there_is_no_accelerator_or_no_wish() -> None:
    devices = Listed()
    devices.now = (tenant("0"),)
    watch, _ = guard(devices)
    assert watch.first_free((Slot(),)) == Slot()
    assert devices.asked == 0
    sharing, _ = guard(None)
    assert sharing.first_free(TWO) == TWO[0]


def test_it_is_told_once_that_nobody_can_tell() -> None:
    devices = Listed()
    devices.now = None
    watch, told = guard(devices)
    assert [watch.first_free(TWO) for _ in range(3)] == [TWO[0]] * 3
    assert told == [
        "nvidia-smi does not say who uses the GPUs: those that other processes use are used, too."
    ]


def test_free_slots_are_not_asked_for_all_the_time_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "LOOK_SECONDS", 3600.0)
    devices = Listed()
    watch, _ = guard(devices)
    assert [watch.first_free(TWO) for _ in range(5)] == [TWO[0]] * 5
    assert devices.asked == 1
    watch.used(TWO[0], "trial 3")
    assert watch.first_free(TWO[1:]) == TWO[1]
    assert devices.asked == 1
    assert watch.first_free(TWO) == TWO[0]
    assert devices.asked == 2


def test_an_amount_that_the_driver_does_not_tell_is_left_out() -> None:
    devices = Listed()
    devices.now = (Tenant(OTHER, "python train.py", "[N/A]", "0", "GPU-0"),)
    watch, told = guard(devices)
    assert [watch.first_free(TWO[:1]) for _ in range(2)] == [None, None]
    assert told[0].startswith(
        f"GPU 0 is not used: process {OTHER} (python train.py) uses it, since"
    )
