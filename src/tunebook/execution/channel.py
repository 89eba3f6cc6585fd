"""Messages between a coordinator and its fork server: lines of JSON over a socket."""

from __future__ import annotations

import json
import socket
from typing import Any


class Channel:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""

    def fileno(self) -> int:
        """For `select`: readable when `receive` will not block."""
        return self._connection.fileno()

    def send(self, message: object) -> bool:
        """Whether the other side is still there to hear it."""
        try:
            self._connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self) -> list[Any] | None:
        """The messages that have come, perhaps none yet; None once the other side is gone."""
        try:
            received = self._connection.recv(65536)
        except OSError:
            received = b""
        if not received:
            return None
        *lines, self._rest = (self._rest + received).split(b"\n")
        return [json.loads(line) for line in lines]

    def receive_one(self) -> Any | None:
        """The one message that is to come now, however long it takes."""
        while (messages := self.receive()) is not None:
            if messages:
                return messages[0]
        return None

    def close(self) -> None:
        self._connection.close()
