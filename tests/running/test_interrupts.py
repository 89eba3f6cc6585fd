"""Signals become decisions: the first drains, the second aborts, the third ends a stuck loop."""

from __future__ import annotations

import signal
import threading

import pytest

from tunebook.core.events import Decision
from tunebook.running.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_drains_twice_aborts(number: signal.Signals) -> None:
    told: list[int] = []
    decisions = []
    with Interrupts(told.append) as interrupts:
        for _ in range(3):
            decisions.append(interrupts.decision)
            if len(decisions) < 3:
                signal.raise_signal(number)
    assert decisions == [Decision.GO_ON, Decision.DRAIN, Decision.ABORT]
    assert told == [1, 2]


def test_the_third_is_pythons_own() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert interrupts.count == 3


def test_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) not in before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_signal_that_cannot_be_told_still_counts() -> None:
    def busy(_: int) -> None:
        raise RuntimeError("reentrant call inside <_io.BufferedWriter>")

    with Interrupts(busy) as interrupts:
        signal.raise_signal(signal.SIGINT)
    assert interrupts.decision is Decision.DRAIN


def test_in_another_thread_signals_stay_as_they_are() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def enter() -> None:
        with Interrupts() as interrupts:
            seen.append(signal.getsignal(signal.SIGINT))
            seen.append(interrupts.decision)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before, Decision.GO_ON]
