"""A network between a store and its server, which a test can take away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy import URL, make_url

#: What a server says to a connection that it ends.
_FAREWELL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
_ENDS = b"E" + (len(_FAREWELL) + 4).to_bytes(4, "big") + _FAREWELL


class Network:
    """Passes on what is sent, while ``is_there``. Without it nobody is told anything, as when a cable
    is pulled: what is sent is received by nobody."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._is_there = asyncio.Event()
        self._is_there.set()
        self._last_answered: bytes | None = None
        self._last_of_all: bytes | None = None
        self._behind = b""
        self._is_answered_last = False
        #: Has the connection that was to be ended been so?
        self.has_ended = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()

    def take_away(self) -> None:
        self._is_there.clear()

    def lose_answer_to(self, question: bytes) -> None:
        """The first connection that sends this hears nothing any more; the server does."""
        self._last_answered = question

    def end_at_answer_to(self, question: bytes, behind: bytes = b"") -> None:
        """The first connection that sends this, once it has sent what is to be ``behind`` it, is ended by the answer,
        which nobody hears."""
        self._last_of_all, self._behind, self.has_ended = question, behind, False
        self._is_answered_last = False

    def end_behind_answer_to(self, question: bytes) -> None:
        """The first connection that sends this hears the answer, in the same breath that the server ends it, and no
        more."""
        self.end_at_answer_to(question)
        self._is_answered_last = True

    def bring_back(self) -> None:
        """For what is connected from now on; what was, is ended."""
        self.cut_off()
        self._is_there.set()

    def cut_off(self) -> None:
        """End what is connected, on both sides."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        await self._is_there.wait()
        server_reader, server_writer = await self._connect_server()
        self._writers.add(server_writer)
        is_answered = asyncio.Event()
        is_answered.set()
        ends = asyncio.Event()
        for task in (
            asyncio.create_task(self._ask(reader, server_writer, is_answered, ends)),
            asyncio.create_task(self._answer(server_reader, writer, is_answered, ends)),
        ):
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def close(self) -> None:
        self.bring_back()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _connect_server(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = self._server.port or 5432
        folder = self._server.query.get("host")
        if folder is not None:
            return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{port}")
        return await asyncio.open_connection(self._server.host, port)

    async def _ask(
        self,
        client: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        is_answered: asyncio.Event,
        ends: asyncio.Event,
    ) -> None:
        has_said = b""
        with suppress(OSError):
            while data := await client.read(65536):
                await self._is_there.wait()
                if self._behind in data:
                    has_said = self._behind
                if self._last_answered is not None and self._last_answered in data:
                    self._last_answered = None
                    is_answered.clear()
                is_last = self._last_of_all is not None and self._last_of_all in data
                if is_last and has_said == self._behind:
                    self._last_of_all = None
                    ends.set()
                server.write(data)
        server.transport.abort()

    async def _answer(
        self,
        server: asyncio.StreamReader,
        client: asyncio.StreamWriter,
        is_answered: asyncio.Event,
        ends: asyncio.Event,
    ) -> None:
        with suppress(OSError):
            while data := await server.read(65536):
                await self._is_there.wait()
                await is_answered.wait()
                if ends.is_set():
                    self.has_ended = True
                    if self._is_answered_last:
                        # The end itself comes a little later, when its process is gone.
                        client.write(data + _ENDS)
                        return
                    break
                client.write(data)
        client.transport.abort()


@asynccontextmanager
async def network(url: str) -> AsyncIterator[tuple[Network, str]]:
    """One to the server of ``url``, and the URL that leads through it."""
    parsed = make_url(url)
    between = Network(parsed)
    listener = await asyncio.start_server(between.connect, "127.0.0.1", 0)
    host, port = listener.sockets[0].getsockname()
    through = parsed.difference_update_query(["host"]).set(host=host, port=port)
    try:
        yield between, through.render_as_string(hide_password=False)
    finally:
        listener.close()
        await between.close()
