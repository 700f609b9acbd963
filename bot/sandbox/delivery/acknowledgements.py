"""Envelopes that went to a socket, until the app says that it has them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from bot.sandbox.delivery.connection import Connection
from bot.sandbox.delivery.transport import Reply
from bot.sandbox.newest import Newest
from bot.sandbox.record import Record
from bot.sandbox.wire import Json

#: More than an app can be behind by: whoever waits for one that is forgotten would wait in vain.
REMEMBERED = 20_000


@dataclass(frozen=True)
class _Sent:
    connection: Connection
    reply: asyncio.Future[Reply]
    #: An event is sent again at once when its connection ends; a person waits for the answer, which
    #: may come on another socket.
    is_event: bool


class Acknowledgements:
    """`anywhere`: on whatever socket one comes."""

    def __init__(self, record: Record, *, anywhere: bool) -> None:
        self._record = record
        self._anywhere = anywhere
        #: Not acknowledged yet, oldest first, those given up included.
        self._sent: Newest[str, _Sent] = Newest(REMEMBERED)

    def expect(
        self, envelope_id: str, connection: Connection, *, is_event: bool
    ) -> asyncio.Future[Reply]:
        """What the app will answer to it."""
        sent = _Sent(connection, asyncio.get_running_loop().create_future(), is_event)
        self._sent[envelope_id] = sent
        return sent.reply

    def take(self, connection: Connection, message: Json) -> None:
        """The app has acknowledged something on this connection."""
        envelope_id, body = str(message["envelope_id"]), message.get("payload")
        entry = self._record.note(
            "acknowledgement", envelope_id=envelope_id, connection=connection.id, body=body or {}
        )
        sent = self._sent.get(envelope_id)
        if sent is None:
            return
        if sent.connection is not connection and not self._anywhere:
            entry["ignored"] = True
            return
        del self._sent[envelope_id]
        if not sent.reply.done():
            sent.reply.set_result(_reply(body))

    def lose(self, connection: Connection, lost: Reply) -> None:
        """The connection has ended: for its events nobody waits any longer."""
        for sent in self._sent.values():
            if sent.connection is connection and sent.is_event and not sent.reply.done():
                sent.reply.set_result(lost)


def _reply(body: Any) -> Reply:
    if body is None or isinstance(body, dict):
        return Reply(True, body or {})
    return Reply(True, text=str(body))
