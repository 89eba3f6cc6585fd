"""Starting attempts: through a fork server, and a new one where one has died."""

from __future__ import annotations

import time
from collections.abc import Callable

from tunebook.core.protocols import Program
from tunebook.execution.server import ForkServer


class Starter:
    """Starts attempts through a fork server; where one has died, through a new one."""

    def __init__(
        self, program: Program, notice: Callable[[str], None], goes_on: Callable[[], bool]
    ) -> None:
        self._program = program
        self._notice = notice
        self._goes_on = goes_on
        self._warm = True
        self._server: ForkServer | None = None

    def start(self, folder: str) -> None:
        asked = [folder]
        while asked:
            if self._server is None:
                self._server = self._new_server()
            if self._server.start(asked[-1]):
                asked.pop()
            else:
                # A dead server may have died before it began what else it was asked to start. To
                # ask for an attempt that has begun does nothing.
                asked = [*self._server.running]
                self.close()

    def wait(self, seconds: float) -> list[str] | None:
        """The folders of attempts that have ended by now; None if no server lives to begin any."""
        if self._server is None:
            time.sleep(seconds)
            return None
        ended = self._server.wait(seconds)
        if ended is None:
            self.close()
        return ended

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _new_server(self) -> ForkServer:
        server = ForkServer(self._program, warm=self._warm, goes_on=self._goes_on)
        if server.obstacle is None:
            return server
        server.close()
        self._warm = False
        self._notice(
            f"Each trial starts a Python of its own, which takes longer: {self._program.reference} "
            f"cannot be forked, since {server.obstacle}."
        )
        return ForkServer(self._program, warm=False, goes_on=self._goes_on)
