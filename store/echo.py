"""A connection on which a word of others is heard: it is tried before it is believed.

A pooler that hands a server's connections from one to another takes ``LISTEN`` and says that all is well;
what is told then reaches nobody, and a lock is left with whoever comes next.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import uuid4

import asyncpg
from sqlalchemy import Connection, text

from agent.errors import StoreUnavailable
from store.reader import Reader
from store.reasons import reason
from store.server import Server

_CHANNEL = "pilothouse_echo"
#: Seconds for one's own word to come back. Past a pooler it mostly doesn't.
_COMES_WITHIN, _COMES_PAST_A_POOLER_WITHIN = 5.0, 1.0
_LOST = "The connection that was to hear of others is lost"
_TELL = text(f"SELECT pg_notify('{_CHANNEL}', :word)")


class Deaf(StoreUnavailable):
    """On this way nothing is heard of others."""


async def connect_hearing(server: Server, reader: Reader) -> asyncpg.Connection:
    """A connection that hears what is told on the connections of ``reader``.

    Raises ``Deaf``, ``ConfigError``, ``StoreUnavailable``."""
    connection = await server.connect()
    try:
        if not await _hears(connection, reader, is_pooled=server.is_pooled):
            raise Deaf(
                "A word of our own did not come back. There is a pooler in between that hands"
                " connections on, it seems, or this is not the database that is written."
                " PILOTHOUSE_LISTEN_URL is to name the way past the pooler. Until then the database is"
                " asked all the time, and a death is known only when its heartbeats stay away."
            )
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _hears(connection: asyncpg.Connection, reader: Reader, *, is_pooled: bool) -> bool:
    word, is_back, is_over = uuid4().hex, False, asyncio.Event()

    def hear(_: object, __: int, ___: str, heard: object) -> None:
        nonlocal is_back
        if heard == word:
            is_back = True
            is_over.set()

    def end(_: object) -> None:
        is_over.set()

    def tell(connection: Connection) -> None:
        connection.execute(_TELL, {"word": word})
        connection.commit()

    connection.add_termination_listener(end)
    try:
        await connection.add_listener(_CHANNEL, hear)
        # On another connection: on this one it would come back also where no other's would.
        await reader.run(tell)
        with suppress(TimeoutError):
            async with asyncio.timeout(_COMES_PAST_A_POOLER_WITHIN if is_pooled else _COMES_WITHIN):
                await is_over.wait()
        await connection.remove_listener(_CHANNEL, hear)
    except asyncpg.PostgresError as error:
        if not is_pooled:
            raise StoreUnavailable(f"{_LOST}: {reason(error)}.") from error
    except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise StoreUnavailable(f"{_LOST}: {reason(error)}.") from error
    finally:
        connection.remove_termination_listener(end)
    if connection.is_closed():
        raise StoreUnavailable(f"{_LOST}.")
    return is_back
