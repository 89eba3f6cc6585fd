"""The coordinator's side of the fork server: start it, send it attempts, hear of their ends."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tunebook.core.errors import ProgramError
from tunebook.core.protocols import Program
from tunebook.execution import forkserver, programs
from tunebook.execution.slots import THREAD_VARIABLES, Slot

_START = (
    "import sys; sys.path[:] = {path!r}; from tunebook.execution.forkserver import main; main()"
)


_LOOK_SECONDS = 0.2


class Abandoned(Exception):
    """The user left while the program was being imported."""


class ForkServer:
    """A running fork server."""

    def __init__(
        self, program: Program, *, warm: bool, goes_on: Callable[[], bool] = lambda: True
    ) -> None:
        # What the program prints while it is imported; read only if that ends the process.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        self._channel = ours
        self._buffer = b""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            # One thread while the program is imported: a process with more cannot be forked.
            env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
            # Ctrl-C in a terminal is the coordinator's to handle.
            start_new_session=True,
        )
        theirs.close()
        self._send(
            json.dumps({"program": programs.to_json(program), "warm": warm}).encode() + b"\n"
        )
        answer = self._first_answer(program, goes_on)
        self.obstacle: str | None = answer["obstacle"]

    def start(self, folder: str, slot: Slot) -> bool:
        """Ask for a keeper; False if the server is gone."""
        return self._send(forkserver.request_line(folder, slot))

    def wait(self, seconds: float) -> tuple[bool, list[str]]:
        """Whether the server lives, and the folders of attempts that have ended since."""
        ready, _, _ = select.select([self._channel], [], [], seconds)
        if not ready:
            return True, []
        try:
            received = self._channel.recv(65536)
        except OSError:
            received = b""
        *lines, self._buffer = (self._buffer + received).split(b"\n")
        return bool(received), [json.loads(line)["ended"] for line in lines]

    def close(self) -> None:
        """End the server. Keepers that still live go on without it."""
        self._channel.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._output.close()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _first_answer(self, program: Program, goes_on: Callable[[], bool]) -> dict[str, Any]:
        """What importing the program came to; that may take long, and the user may leave."""
        while b"\n" not in self._buffer:
            if not goes_on():
                self._process.kill()
                self.close()
                raise Abandoned
            if not select.select([self._channel], [], [], _LOOK_SECONDS)[0]:
                continue
            received = self._channel.recv(65536)
            if not received:
                text = self._said()
                self.close()
                raise ProgramError(f"importing {program.reference} ended the process: {text}")
            self._buffer += received
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            self.close()
            raise ProgramError(f"cannot load {program.reference}: {answer['error']}")
        return answer

    def _said(self) -> str:
        self._process.wait()
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"

    def _send(self, line: bytes) -> bool:
        try:
            self._channel.sendall(line)
        except OSError:
            return False
        return True
