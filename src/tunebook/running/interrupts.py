"""Ctrl-C once finishes cleanly, twice stops at once; SIGTERM counts as one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from tunebook.core.events import Decision


class Interrupts:
    """Counts the signals that ask to leave, while it is entered in the main thread.

    The third is Python's own Ctrl-C: it ends a coordinator that cannot act on the first two, such
    as one that waits for a locked book. Trials that it leaves behind are adopted later.
    """

    def __init__(self, told: Callable[[int], None] = lambda _: None) -> None:
        self.count = 0
        self._told = told
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @property
    def decision(self) -> Decision:
        if self.count == 0:
            return Decision.GO_ON
        return Decision.DRAIN if self.count == 1 else Decision.ABORT

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 2:
            raise KeyboardInterrupt
        # Python refuses to write to a stream that it is writing to: then nothing is said.
        with suppress(RuntimeError):
            self._told(self.count)
