"""Messages between a kernel and its helper: JSON over a socket that nobody else can reach."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

LENGTH = struct.Struct("!I")


class Channel:
    """One end of a socket pair, which has no name in the file system and dies with the processes that hold it."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @classmethod
    def from_descriptor(cls, descriptor: int) -> Channel:
        """The end that was inherited."""
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """To wait for a message."""
        return self.socket.fileno()

    def send(self, message: Mapping[str, Any]) -> None:
        """All of it, or BrokenPipeError where nobody listens any more."""
        data = json.dumps(message).encode()
        self.socket.sendall(LENGTH.pack(len(data)) + data)

    def receive(self) -> dict[str, Any] | None:
        """The next message, or None where the other end has gone; TimeoutError where the socket has a limit."""
        head = self._exactly(LENGTH.size)
        data = self._exactly(LENGTH.unpack(head)[0]) if head else b""
        message = json.loads(data) if data else None
        return message if isinstance(message, dict) else None

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                more = self.socket.recv(size - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                return b""
            data += more
        return data

    def close(self) -> None:
        """This end; the other one sees it once nobody holds this end any more."""
        self.socket.close()
