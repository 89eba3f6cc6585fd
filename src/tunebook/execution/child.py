"""A process in a session of its own, whose output is taken as it comes."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tunebook.core.errors import ProgramError

_READ_BYTES = 1 << 16
# Once the process has ended, what it left behind may hold its output open.
_LEFT_SECONDS = 0.2
_MOST_LEFT_BYTES = 64 << 20


class Child:
    """A started program; everything in its session is told to leave, and ended, together."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> None:
        _let_interrupts_through()
        try:
            self._process = subprocess.Popen(
                arguments,
                cwd=folder,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ProgramError(f"cannot start {arguments[0]!r} in {folder}: {reason}") from error
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    @property
    def status(self) -> int | None:
        """Its exit status once it has ended; negative: the signal that killed it."""
        return self._process.poll()

    def output(self, seconds: float) -> Iterator[tuple[int, bytes]]:
        """What it prints within some seconds at most: (1 or 2 for the stream, bytes)."""
        if not self._selector.get_map():
            # It has closed its output, which most programs do only by ending.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        for key, _ in self._selector.select(seconds):
            with suppress(BlockingIOError):
                content = os.read(key.fd, _READ_BYTES)
                if not content:
                    self._selector.unregister(key.fileobj)
                else:
                    yield (1 if key.fileobj is self._process.stdout else 2), content

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """What was printed before it ended and is not read yet."""
        size, deadline = 0, time.monotonic() + _LEFT_SECONDS
        while self._selector.get_map() and size < _MOST_LEFT_BYTES:
            left = max(deadline - time.monotonic(), 0.0)
            news = list(self.output(left))
            yield from news
            size += sum(len(content) for _, content in news)
            if not news and left == 0.0:
                return

    def ask(self) -> None:
        """Ask it to leave."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, and whatever it has left in its session."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _let_interrupts_through() -> None:
    """A signal that this process ignores would be ignored by every program that it starts."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)
