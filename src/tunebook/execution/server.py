"""The coordinator's side of the fork server: start it, send it attempts, hear of their ends."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable

from tunebook.core.errors import ProgramError
from tunebook.core.protocols import Program
from tunebook.execution import programs
from tunebook.execution.channel import Channel
from tunebook.execution.slots import THREAD_VARIABLES

_START = (
    "import sys; sys.path[:] = {path!r}; from tunebook.execution.forkserver import main; main()"
)
_PATIENCE_SECONDS = 0.2
# What the server's process finds while it imports the program.
_ENVIRONMENT = {
    # A process with more than one thread cannot be forked.
    **dict.fromkeys(THREAD_VARIABLES, "1"),
    # Lets `torch.cuda.is_available()` answer without starting CUDA, which could not be forked.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}
# Servers that outlive their coordinator's interest in them, kept until they end.
_lingering: list[subprocess.Popen[bytes]] = []


class Abandoned(Exception):
    """The user left while the program was being imported."""


class ForkServer:
    """A running fork server."""

    def __init__(
        self, program: Program, *, warm: bool, goes_on: Callable[[], bool] = lambda: True
    ) -> None:
        """Start one, and wait until the program is imported for as long as `goes_on` says so."""
        # What the program prints while it is imported; read only if that ends the process.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._running: set[str] = set()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    _START.format(path=programs.import_path()),
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env={**os.environ, **_ENVIRONMENT},
                # Ctrl-C in a terminal is the coordinator's to handle.
                start_new_session=True,
            )
        self._channel = Channel(ours)
        try:
            self._channel.send({"program": programs.to_json(program), "warm": warm})
            self.obstacle = self._obstacle(program, goes_on)
        except BaseException:
            self._process.kill()
            self.close()
            raise

    @property
    def running(self) -> frozenset[str]:
        """The folders of attempts that it was asked to start and has not told the end of."""
        return frozenset(self._running)

    def start(self, folder: str) -> bool:
        """Ask for a keeper; False if the server is gone."""
        self._running.add(folder)
        return self._channel.send(folder)

    def wait(self, seconds: float) -> list[str] | None:
        """The folders of attempts whose keepers have ended by now; None if the server is gone."""
        ready, _, _ = select.select([self._channel], [], [], seconds)
        ended = self._channel.receive() if ready else []
        self._running.difference_update(ended or ())
        return ended

    def close(self) -> None:
        """Let the server go. Keepers that still live go on, and it lives as long as they do."""
        self._channel.close()
        self._output.close()
        if self._running and self._process.poll() is None:
            _lingering.append(self._process)
        else:
            self._end()
        _lingering[:] = [process for process in _lingering if process.poll() is None]

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _obstacle(self, program: Program, goes_on: Callable[[], bool]) -> str | None:
        """What stands against forking the server, which is its first answer."""
        while True:
            ready, _, _ = select.select([self._channel], [], [], _PATIENCE_SECONDS)
            answers = self._channel.receive() if ready else []
            # Ctrl-C may also end a server that has not yet left the terminal's group.
            if not answers and not goes_on():
                raise Abandoned
            if answers is None:
                raise ProgramError(
                    f"importing {program.reference} ended the process: {self._last_words()}"
                )
            for answer in answers:
                if "error" in answer:
                    raise ProgramError(answer["error"])
                obstacle: str | None = answer["obstacle"]
                return obstacle

    def _end(self) -> None:
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        code = self._process.wait()
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return f"exit code {code}" + (f", after it said {lines[-1]!r:.200}" if lines else "")
