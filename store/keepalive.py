"""A network that is gone says nothing: each side asks the other's kernel whether it is still there.

Without this a connection that nobody has ended is waited on for minutes, and the server keeps its locks
for hours. A process that merely takes its time is none the worse: its kernel answers for it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import asyncpg

#: Seconds of silence before the first question, between two, and how many remain unanswered; what was
#: sent is received within as long as they take together.
_IDLE, _BETWEEN, _QUESTIONS = 3, 2, 3
_RECEIVED_WITHIN_MS = (_IDLE + _BETWEEN * _QUESTIONS) * 1000
_CLOSES_WITHIN = 2.0

#: For the server's side. It takes them for what they are on a socket that is no network.
SERVER_SETTINGS = {
    "tcp_keepalives_idle": str(_IDLE),
    "tcp_keepalives_interval": str(_BETWEEN),
    "tcp_keepalives_count": str(_QUESTIONS),
    "tcp_user_timeout": str(_RECEIVED_WITHIN_MS),
}
# By name: not every system has each; TCP_KEEPALIVE is what macOS calls TCP_KEEPIDLE.
_OPTIONS = {
    "TCP_KEEPIDLE": _IDLE,
    "TCP_KEEPALIVE": _IDLE,
    "TCP_KEEPINTVL": _BETWEEN,
    "TCP_KEEPCNT": _QUESTIONS,
    "TCP_USER_TIMEOUT": _RECEIVED_WITHIN_MS,
}


class KeptAlive(asyncpg.Connection):
    """A connection that ends soon after the network does."""

    def __init__(self, protocol: Any, transport: asyncio.BaseTransport, *others: Any) -> None:
        super().__init__(protocol, transport, *others)
        connected: socket.socket = transport.get_extra_info("socket")
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            _keep_alive(connected)

    async def close(self, *, timeout: float | None = None) -> None:
        """In good order, if the server answers in a moment; if it does not, all the same."""
        with suppress(TimeoutError):
            await super().close(timeout=timeout or _CLOSES_WITHIN)


def _keep_alive(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS.items():
        option = getattr(socket, name, None)
        if option is not None:
            connected.setsockopt(socket.IPPROTO_TCP, option, value)
