"""Ctrl-C once finishes cleanly, twice stops at once; SIGTERM counts as one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from tunebook.core.events import Decision


class Interrupts:
    """Counts the signals that ask to leave, while it is entered in the main thread."""

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
        self._told(self.count)
