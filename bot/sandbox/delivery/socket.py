"""Socket Mode: up to ten connections, each envelope to one of them in turn."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import WSMsgType, web

from bot.sandbox.delivery.transport import Kind, Reply, Retry, Timing
from bot.sandbox.record import Record
from bot.sandbox.wire import Json, new_id
from bot.sandbox.workspace import APP

CONNECTIONS = 10
TICKETS = 100
REMEMBERED = 1000
HEARTBEAT_SECONDS = 10.0

Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]


@dataclass(eq=False)
class _Connection:
    id: str
    ws: web.WebSocketResponse
    #: Envelopes sent here; their waits end when the connection does.
    envelopes: set[str] = field(default_factory=set)


class SocketHub:
    """The server's side of Socket Mode."""

    def __init__(self, record: Record, timing: Timing) -> None:
        self._record = record
        self._timing = timing
        self._tickets: dict[str, None] = {}
        self._connections: list[_Connection] = []
        self._turn = 0
        self._arrived = asyncio.Event()
        self._waits: dict[str, asyncio.Future[Reply]] = {}
        self._missed: dict[str, None] = {}

    def ticket(self) -> str:
        """A secret that opens one connection."""
        ticket = secrets.token_urlsafe(16)
        self._tickets[ticket] = None
        while len(self._tickets) > TICKETS:
            del self._tickets[next(iter(self._tickets))]
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket endpoint."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403, text="unknown or used ticket")
        del self._tickets[ticket]
        ws = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await ws.prepare(request)
        if len(self._connections) >= CONNECTIONS:
            await _send(ws, _disconnect("too_many_websockets"))
            await ws.close()
            return ws
        connection = _Connection(new_id("conn-"), ws)
        await self._greet(connection)
        try:
            await self._listen(connection)
        finally:
            self._gone(connection)
        return ws

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        envelope: Json = {"type": "events_api", "payload": payload, "retry_attempt": 0}
        envelope |= {"accepts_response_payload": False, "retry_reason": ""}
        if retry is not None:
            envelope |= {"retry_attempt": retry.number, "retry_reason": retry.reason}
        wait = self._timing.connection_wait
        reply = await self._deliver(
            envelope, wait, self._timing.socket_redelivery, end_with_connection=True
        )
        return reply if reply.acknowledged else Reply(False, why="timeout")

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        envelope = {"type": kind, "payload": payload, "accepts_response_payload": True}
        return await self._deliver(
            envelope, self._timing.ack, self._timing.ack, end_with_connection=False
        )

    async def disconnect(self, reason: Reason) -> int:
        """Ask every connection to come anew, and close it; returns how many there were."""
        connections = list(self._connections)
        for connection in connections:
            await _send(connection.ws, _disconnect(reason))
            if reason != "warning":
                await connection.ws.close()
        return len(connections)

    async def close(self) -> None:
        for connection in list(self._connections):
            await connection.ws.close(code=1001, message=b"the sandbox stops")

    async def _greet(self, connection: _Connection) -> None:
        self._connections.append(connection)
        hello = {
            "type": "hello",
            "num_connections": len(self._connections),
            "connection_info": {"app_id": APP},
            "debug_info": {"host": connection.id, "approximate_connection_time": 18060},
        }
        await _send(connection.ws, hello)
        self._record.note("connected", connection=connection.id)
        self._arrived.set()

    async def _listen(self, connection: _Connection) -> None:
        async for frame in connection.ws:
            if frame.type is not WSMsgType.TEXT:
                continue
            try:
                message = json.loads(frame.data)
            except ValueError:
                continue
            if isinstance(message, dict) and "envelope_id" in message:
                self._acknowledged(connection, message)

    def _gone(self, connection: _Connection) -> None:
        self._connections.remove(connection)
        if not self._connections:
            self._arrived.clear()
        self._record.note("disconnected", connection=connection.id)
        for envelope_id in connection.envelopes:
            wait = self._waits.get(envelope_id)
            if wait is not None and not wait.done():
                wait.set_result(Reply(False, why="connection lost"))

    def _acknowledged(self, connection: _Connection, message: Json) -> None:
        # An app that was told to reconnect answers on its new socket. Whether Slack takes
        # that is not known; here any socket of the app will do.
        envelope_id = message["envelope_id"]
        body = message.get("payload") or {}
        self._record.note(
            "acknowledgement", envelope_id=envelope_id, connection=connection.id, body=body
        )
        wait = self._waits.get(envelope_id)
        if wait is not None and not wait.done():
            wait.set_result(Reply(True, body))
        elif envelope_id in self._missed:
            del self._missed[envelope_id]
            self._record.violation("late_acknowledgement", f"envelope {envelope_id}")

    async def _deliver(
        self, envelope: Json, wait: float, patience: float, *, end_with_connection: bool
    ) -> Reply:
        """Find a connection within `wait`, send, and give it `patience` to acknowledge."""
        deadline = asyncio.get_running_loop().time() + wait
        connection = await self._next_connection(deadline)
        if connection is None:
            return Reply(False, why="no app is connected")
        envelope = {"envelope_id": secrets.token_hex(16), **envelope}
        envelope_id = envelope["envelope_id"]
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waits[envelope_id] = reply
        if end_with_connection:
            connection.envelopes.add(envelope_id)
        self._note(envelope, connection)
        try:
            async with asyncio.timeout(patience):
                await _send(connection.ws, envelope)
                return await reply
        except TimeoutError:
            self._missed[envelope_id] = None
            while len(self._missed) > REMEMBERED:
                del self._missed[next(iter(self._missed))]
            return Reply(False, why=f"no acknowledgement within {patience:g} s")
        finally:
            connection.envelopes.discard(envelope_id)
            del self._waits[envelope_id]

    async def _next_connection(self, deadline: float) -> _Connection | None:
        while not self._connections:
            try:
                async with asyncio.timeout_at(deadline):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        self._turn = (self._turn + 1) % len(self._connections)
        return self._connections[self._turn]

    def _note(self, envelope: Json, connection: _Connection) -> None:
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


async def _send(ws: web.WebSocketResponse, message: Json) -> None:
    """Send; to a socket that just closed nothing is sent, and its end is noticed elsewhere."""
    try:
        await ws.send_json(message)
    except ConnectionError:
        return
