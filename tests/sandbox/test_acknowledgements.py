"""What went over a socket, until the app says that it has it."""

from __future__ import annotations

import asyncio

from aiohttp import web

from bot.sandbox.delivery.acknowledgements import Acknowledgements
from bot.sandbox.delivery.connection import Connection
from bot.sandbox.record import Record


async def test_an_app_may_be_far_behind_and_is_heard_all_the_same() -> None:
    waiting = Acknowledgements(Record(lambda: 0.0), anywhere=False)
    connection = Connection("conn-1", web.WebSocketResponse(), asyncio.Transport())
    sent = {
        str(number): waiting.expect(str(number), connection, is_event=False)
        for number in range(5_000)
    }
    for number in sent:
        waiting.take(connection, {"envelope_id": number})
    assert all(reply.done() and reply.result().acknowledged for reply in sent.values())
