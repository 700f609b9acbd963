"""Socket Mode: up to ten connections, each envelope to one of them in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal

from aiohttp import web

from bot.sandbox.delivery.acknowledgements import Acknowledgements
from bot.sandbox.delivery.connection import CLOSING_SECONDS, Connection
from bot.sandbox.delivery.judge import Judge
from bot.sandbox.delivery.transport import Kind, Reply, Retry, Timing
from bot.sandbox.guesses import Guesses
from bot.sandbox.ids import Ids
from bot.sandbox.newest import Newest
from bot.sandbox.record import Record
from bot.sandbox.wire import Json
from bot.sandbox.workspace import APP

CONNECTIONS = 10
TICKETS = 100
#: Whose answers may say something. Of commands and submissions Slack says so; that it takes nothing
#: from the others is how its own examples look.
ANSWERED = ("view_submission", "block_suggestion")

#: The envelope's id, the connection that it went to, and what the app will answer.
_Sent = tuple[str, Connection, asyncio.Future[Reply]]
Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]


class SocketHub:
    """The server's side of Socket Mode."""

    no_answer = "timeout"

    def __init__(
        self, record: Record, judge: Judge, timing: Timing, ids: Ids, guesses: Guesses
    ) -> None:
        self._record = record
        self._judge = judge
        self._timing = timing
        self._ids = ids
        self._tickets: Newest[str, None] = Newest(TICKETS)
        #: Those that get what there is, in turn.
        self._connections: list[Connection] = []
        #: And those that are asked to leave.
        self._all: set[Connection] = set()
        self._turn = 0
        self._arrived = asyncio.Event()
        self._acknowledgements = Acknowledgements(
            record, anywhere=guesses.acknowledge_on_any_socket
        )
        self._thawing: asyncio.TimerHandle | None = None

    def ticket(self) -> str:
        """A secret that opens one connection."""
        ticket = self._ids.secret()
        self._tickets[ticket] = None
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket endpoint."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403, text="unknown or used ticket")
        del self._tickets[ticket]
        ws = web.WebSocketResponse(autoping=False, timeout=CLOSING_SECONDS)
        await ws.prepare(request)
        if request.transport is None:
            return ws
        connection = Connection(self._ids.new("conn-"), ws, request.transport)
        is_short = request.query.get("debug_reconnects") == "true"
        life = self._timing.debug_connection_life if is_short else self._timing.connection_life
        try:
            if len(self._connections) < CONNECTIONS:
                await self._hear(connection, life)
            else:
                await self._turn_away(connection)
        finally:
            connection.end()
        return ws

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        envelope: Json = {
            "type": "events_api",
            "payload": payload,
            "accepts_response_payload": False,
            "retry_attempt": retry.number if retry else 0,
            "retry_reason": retry.reason if retry else "",
        }
        sent = await self._send(envelope, within=self._timing.connection_wait)
        if sent is None:
            return Reply(False, why=self.no_answer, blames_app=False)
        envelope_id, connection, answer = sent
        self._judge.sent(envelope_id, payload, lambda: _is_open(connection))
        in_time = min(self._timing.ack, self._timing.socket_redelivery)
        await asyncio.wait([answer], timeout=in_time)
        if not answer.done():
            self._judge.late(envelope_id, in_time)
            await asyncio.wait([answer], timeout=self._timing.socket_redelivery - in_time)
        reply = answer.result() if answer.done() else Reply(False, why=self.no_answer)
        self._judge.answered(envelope_id, reply)
        return reply

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        answered = kind == "slash_commands" or payload.get("type") in ANSWERED
        envelope = {"type": kind, "payload": payload, "accepts_response_payload": answered}
        deadline = asyncio.get_running_loop().time() + self._timing.ack
        sent = await self._send(envelope, within=self._timing.ack)
        if sent is None:
            return Reply(False, why="no app is connected")
        _, connection, answer = sent
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                return await answer
        return Reply(False, why=self.no_answer, blames_app=not connection.has_failed)

    async def disconnect(self, reason: Reason) -> int:
        """Ask every connection to come anew; returns how many there were.

        Where that is no mere `warning`, none gets anything any more, and those that the app leaves
        open are closed after a while.
        """
        connections = list(self._connections)
        if reason == "warning":
            for connection in connections:
                await connection.ask_to_leave(_disconnect(reason), patience=0)
        else:
            await asyncio.gather(*(self._end(one, reason) for one in connections))
        return len(connections)

    def drop(self) -> int:
        """Cut every connection, without a closing frame; returns how many there were."""
        connections = list(self._all)
        for connection in connections:
            connection.cut()
        return len(connections)

    def freeze(self, seconds: float) -> int:
        """Leave every connection half open for that long; returns how many there were.

        What is sent to one meanwhile is lost. New connections are sound.
        """
        connections = list(self._all)
        for connection in connections:
            connection.freeze()
        if self._thawing is not None:
            self._thawing.cancel()
        self._thawing = asyncio.get_running_loop().call_later(seconds, self.thaw)
        return len(connections)

    def thaw(self) -> None:
        for connection in self._all:
            connection.thaw()

    async def close(self) -> None:
        if self._thawing is not None:
            self._thawing.cancel()
        ending = [one.close(code=1001, reason=b"the sandbox stops") for one in self._all]
        await asyncio.gather(*ending)

    async def _hear(self, connection: Connection, life: float) -> None:
        async with self._joined(connection, life):
            async for message in connection.heard():
                if "envelope_id" in message:
                    self._acknowledgements.take(connection, message)

    async def _turn_away(self, connection: Connection) -> None:
        leaving = asyncio.create_task(self._end(connection, "too_many_websockets"))
        try:
            async for _ in connection.heard():
                pass
        finally:
            leaving.cancel()

    @asynccontextmanager
    async def _joined(self, connection: Connection, life: float) -> AsyncIterator[None]:
        """One of the app's connections: greeted, pinged, and ended after its time."""
        self._connections.append(connection)
        self._all.add(connection)
        tasks: list[asyncio.Task[None]] = []
        try:
            await connection.send(self._hello(connection, life))
            self._record.note("connected", connection=connection.id)
            self._arrived.set()
            tasks += [
                asyncio.create_task(connection.ping(self._timing.ping)),
                asyncio.create_task(self._end_after(connection, life)),
            ]
            yield
        finally:
            for task in tasks:
                task.cancel()
            self._gone(connection)

    def _hello(self, connection: Connection, life: float) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._connections),
            "connection_info": {"app_id": APP},
            "debug_info": {
                "host": connection.id,
                "build_number": 1,
                "approximate_connection_time": round(life),
            },
        }

    async def _end_after(self, connection: Connection, life: float) -> None:
        await asyncio.sleep(max(0.0, life - self._timing.warning))
        await connection.ask_to_leave(_disconnect("warning"), patience=self._timing.warning)
        await self._end(connection, "refresh_requested")

    async def _end(self, connection: Connection, reason: Reason) -> None:
        """The app reads a frame only while the socket is open: to close is left to it, for a while."""
        self._retire(connection)
        await connection.ask_to_leave(_disconnect(reason), patience=self._timing.farewell)
        await connection.close()

    def _retire(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
        if not self._connections:
            self._arrived.clear()

    def _gone(self, connection: Connection) -> None:
        self._retire(connection)
        self._all.discard(connection)
        self._record.note("disconnected", connection=connection.id)
        lost = Reply(False, why=self.no_answer, blames_app=_is_open(connection))
        self._acknowledgements.lose(connection, lost)

    async def _send(self, envelope: Json, *, within: float) -> _Sent | None:
        """To the next connection; its id, where it went, and what will be answered.

        None where nobody has connected within that many seconds.
        """
        connection = await self._next_connection(asyncio.get_running_loop().time() + within)
        if connection is None:
            return None
        envelope_id = self._ids.secret()
        is_event = envelope["type"] == "events_api"
        answer = self._acknowledgements.expect(envelope_id, connection, is_event=is_event)
        envelope = {"envelope_id": envelope_id, **envelope}
        self._note(envelope, connection)
        # An app that reads nothing holds nobody up.
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timing.ack):
                await connection.send(envelope)
        return envelope_id, connection, answer

    async def _next_connection(self, deadline: float) -> Connection | None:
        while not self._connections:
            try:
                async with asyncio.timeout_at(deadline):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        self._turn = (self._turn + 1) % len(self._connections)
        return self._connections[self._turn]

    def _note(self, envelope: Json, connection: Connection) -> None:
        payload = envelope["payload"]
        self._record.note(
            "delivery",
            envelope_id=envelope["envelope_id"],
            connection=connection.id,
            type=envelope["type"],
            retry_attempt=envelope.get("retry_attempt", 0),
            event_id=payload.get("event_id"),
            payload=payload,
        )


def _disconnect(reason: Reason) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}


def _is_open(connection: Connection) -> bool:
    """As far as it is the app's to answer; a socket that broke is the app's own affair, too."""
    return not (connection.has_failed or connection.was_closed_by_app)
