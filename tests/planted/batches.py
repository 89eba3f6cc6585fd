"""Programs whose time and memory depend on the batch in a planted way, each with a healthy twin."""

from __future__ import annotations

import time

from tunebook.core.protocols import Run


def number(run: Run, name: str) -> float:
    value = run[name]
    assert isinstance(value, int | float)
    return float(value)


def steps_of(run: Run) -> range:
    assert run.budget is not None
    return range(1, int(run.budget.amount) + 1)


def slow_loader(run: Run) -> None:
    """One thread makes the examples one by one: throughput stops rising because of it."""
    for step in steps_of(run):
        with run.timing("data"):
            time.sleep(2e-4 * number(run, "batch_size"))
        time.sleep(4e-3)
        run.log({"valid/error": 1 / step}, step=step)


def quick_loader(run: Run) -> None:
    """The healthy twin: its data are there, and the same time goes into computing."""
    for step in steps_of(run):
        with run.timing("data"):
            pass
        time.sleep(4e-3 + 2e-4 * number(run, "batch_size"))
        run.log({"valid/error": 1 / step}, step=step)


def prefetching_loader(run: Run) -> None:
    """Batches come beside the computation, 1,600 examples a second: until 32, nobody waits."""
    for step in steps_of(run):
        with run.timing("data"):
            time.sleep(max(number(run, "batch_size") / 1600 - 0.02, 0.0))
        time.sleep(0.02)
        run.log({"valid/error": 1 / step}, step=step)


def full_device(run: Run) -> None:
    """The healthy twin: the same times, and all of it is computing."""
    for step in steps_of(run):
        with run.timing("data"):
            pass
        time.sleep(max(number(run, "batch_size") / 1600, 0.02))
        run.log({"valid/error": 1 / step}, step=step)


def breaks(run: Run) -> None:
    """Whatever the batch size."""
    raise ValueError(f"no weights for a batch of {number(run, 'batch_size'):g}")


def leaks(run: Run) -> None:
    """Every step keeps half a megabyte."""
    kept = []
    for step in steps_of(run):
        kept.append(bytearray(b"x" * (1 << 19)))
        time.sleep(0.02)
        run.log({"valid/error": 1 / step}, step=step)


def keeps_nothing(run: Run) -> None:
    """The healthy twin: every step uses as much, and gives it back."""
    for step in steps_of(run):
        used = bytearray(b"x" * (1 << 19))
        time.sleep(0.02)
        run.log({"valid/error": 1 / step}, step=step)
        del used


def hungry(run: Run) -> None:
    """A batch needs two megabytes for each example, while it is copied."""
    for step in steps_of(run):
        held = bytearray(b"x" * (int(number(run, "batch_size")) << 20))
        time.sleep(2e-3)
        run.log({"valid/error": 1 / step}, step=step)
        del held
