"""An MCP server of an agent's: which tools it has by now, and its connection, which is made anew when it is lost."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agent.errors import ConfigError, Rejected
from agent.rules.ids import OperationId
from agent.rules.json_text import dump_lines
from agent.rules.tool_globs import DOT
from agent.tools.context import Committed
from agent.tools.mcp.said import Said, clean
from agent.tools.mcp.settings import ServerSettings, check_is_installed

if TYPE_CHECKING:
    from agent.tools.mcp.connection import Connection
    from agent.tools.mcp.offered import Offered
    from agent.tools.mcp.tool import McpTool

log = logging.getLogger(__name__)

#: At the start of the bot a server may take so long; one that is found by its address is tried again meanwhile.
START_WITHIN = timedelta(seconds=30)
#: Later a run waits for it.
CONNECT_WITHIN = timedelta(seconds=10)
LIST_WITHIN = timedelta(seconds=5)
CLOSE_WITHIN = timedelta(seconds=10)
#: After a failed attempt the next is made no sooner than this, each time twice as long.
BACK_OFF, BACK_OFF_LIMIT = timedelta(seconds=1), timedelta(minutes=1)
#: What was asked so lately is not asked again.
FRESH = timedelta(milliseconds=500)
#: Under it a server finds the operation id of a call.
OPERATION_ID = "pilothouse/operationId"


class NoAnswer(Exception):
    """A call was sent, and nobody knows what became of it."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} did not say what became of it ({why}).")


class McpServer:
    """See ``ToolServer``. ``start`` it before anything else, and ``stop`` it in the end."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._said = Said(settings)
        self._tools: dict[str, McpTool] = {}
        self._is_known = False
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._listed_at = float("-inf")
        #: How many calls it has not answered yet.
        self._calls = 0
        #: What the log was told, and is told once.
        self._told: set[str] = set()

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def is_known(self) -> bool:
        return self._is_known

    @property
    def tools(self) -> Mapping[str, McpTool]:
        return self._tools

    async def start(self) -> None:
        """Connect, and learn which tools it has. Raises ``ConfigError`` where it can't be had, or has a tool that
        can't be taken."""
        check_is_installed()
        until = time.monotonic() + START_WITHIN.total_seconds()
        while True:
            try:
                left = timedelta(seconds=max(1.0, until - time.monotonic()))
                offered = await self._list_of(await self._connect(left))
                break
            except Exception as error:
                why = f"{self._unreachable(error)}{self._last_words()}"
                await self._drop(self._connection)
            wait = max(self._not_before - time.monotonic(), BACK_OFF.total_seconds())
            if self.settings.url is None or time.monotonic() + wait >= until:
                raise ConfigError(why)
            await asyncio.sleep(wait)
        from agent.tools.mcp.offered import all_taken

        try:
            self._tools = all_taken(offered, self.settings, self.send, self.show)
        except ConfigError:
            await self.stop()
            raise
        self._is_known = True

    async def stop(self) -> None:
        """End it, if it was started here. What runs in it is cut: whoever calls has waited for its calls before."""
        await self._drop(self._connection)

    async def look_again(self) -> None:
        """See ``ToolServer``."""
        if time.monotonic() - self._listed_at < FRESH.total_seconds():
            return
        try:
            offered = await self._listed()
        except Exception as error:
            # A call of its tools finds the same, and says so.
            self._tell_once(f"{self._unreachable(error)}{self._last_words()}")
            return
        self._told.clear()
        self._refresh(offered)

    async def _listed(self) -> list[Offered]:
        """What it has, by a connection that was made anew where the last one is lost."""
        connection = await self._connected()
        try:
            return await self._list_of(connection)
        except Exception as error:
            # A server that has not answered in time may be busy with what it was given: then it is left to that.
            if self._calls and isinstance(error, TimeoutError):
                raise
            log.warning("%s%s", self._unreachable(error), self._last_words())
            await self._drop(connection)
        return await self._list_of(await self._connected())

    async def _list_of(self, connection: Connection) -> list[Offered]:
        async with asyncio.timeout(LIST_WITHIN.total_seconds()):
            offered = await connection.tools()
        self._listed_at = time.monotonic()
        return offered

    async def send(
        self, tool: McpTool, arguments: Mapping[str, JsonValue], operation_id: OperationId
    ) -> Committed:
        """Have it carried out. Raises ``Rejected`` where nothing was sent, or the server says that it did nothing; by
        anything else that it raises nobody knows."""
        from agent.tools.mcp.answers import failure_of, output_of
        from agent.tools.mcp.connection import NotCarriedOut, is_lost

        try:
            connection = await self._connected()
        except Exception as error:
            raise Rejected(f"{self._unreachable(error)} Nothing was sent.") from error
        now = self._tools.get(tool.name)
        if now is None or (now.schema_digest, now.effect) != (tool.schema_digest, tool.effect):
            raise Rejected(
                f"{tool.name} has changed in this moment; nothing was sent. Call it anew."
            )
        name = tool.name.removeprefix(f"{self.name}{DOT}")
        self._calls += 1
        try:
            answer = await connection.call(name, arguments, {OPERATION_ID: operation_id})
        except NotCarriedOut as error:
            refused = clean(f"{self._what} refused it: {error}", self.settings)
            raise Rejected(refused) from error
        except Exception as error:
            if is_lost(error):
                await self._drop(connection)
            raise NoAnswer(self._what, self._in_words(error)) from error
        finally:
            self._calls -= 1
        if answer.get("isError"):
            return Committed(failure_of(answer), is_error=True)
        return Committed(output_of(answer))

    async def show(
        self, name: str, arguments: Mapping[str, JsonValue], operation_id: OperationId
    ) -> str:
        """What the tool of this name says, given of ``arguments`` those that it takes. Raises whatever kept it from
        that."""
        tool = self._tools.get(name)
        if tool is None:
            raise LookupError(f"{self._what} has no tool {name} any more")
        if tool.effect != "read":
            # Nobody has said yes to that.
            raise RuntimeError(f"{self._what} says by now that {name} changes something itself")
        taken = tool.parameters.get("properties", {})
        given = {one: value for one, value in arguments.items() if one in taken}
        said = await self.send(tool, tool.check(given).root, operation_id)
        text = said.output if isinstance(said.output, str) else dump_lines(said.output)
        if said.is_error:
            raise RuntimeError(text)
        return text

    async def _connected(self) -> Connection:
        return self._connection or await self._connect(CONNECT_WITHIN)

    async def _connect(self, within: timedelta) -> Connection:
        """The connection that there is, or a new one, which nobody has before it is known what the server is by now.
        Raises what went wrong, at once where it is not time to try again."""
        async with self._connecting:
            if self._connection is not None:
                return self._connection
            wait = self._not_before - time.monotonic()
            if wait > 0:
                raise ConnectionError(f"it is tried again in {wait:.0f} s.")
            # The library is large: where no agent has a server it is never imported.
            connections = await asyncio.to_thread(_imported)
            made = connections(self.settings, self._said)
            try:
                async with asyncio.timeout(within.total_seconds()):
                    await made.open(within)
                if self._is_known:
                    self._refresh(await self._list_of(made))
            except BaseException as error:
                await self._close(made)
                if isinstance(error, Exception):
                    self._failures += 1
                    pause = min(BACK_OFF * 2 ** min(self._failures - 1, 10), BACK_OFF_LIMIT)
                    self._not_before = time.monotonic() + pause.total_seconds()
                raise
            self._failures, self._connection = 0, made
            log.info("MCP server %s is connected", self.name)
            return made

    async def _drop(self, connection: Connection | None) -> None:
        """Give up a connection, unless somebody has already."""
        if connection is None or self._connection is not connection:
            return
        self._connection = None
        await self._close(connection)

    async def _close(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN.total_seconds()):
                await connection.close()
        except Exception as error:
            # Whatever it is that broke, it is gone; the next one is made anew.
            log.info("the connection to %s ended badly: %s", self.name, self._in_words(error))

    def _refresh(self, offered: Iterable[Offered]) -> None:
        """What they are by now. Rules and approvers were checked for those that there were at the start: no other is
        taken until the next."""
        from agent.tools.mcp.offered import as_tool, is_wanted

        there = {f"{self.name}{DOT}{one.name}": one for one in offered}
        for name in self._tools.keys() - there.keys():
            log.warning("MCP server %s has no tool %s any more", self.name, name)
            del self._tools[name]
        for name, one in there.items():
            known = self._tools.get(name)
            if known is None:
                if is_wanted(one, self.settings):
                    self._tell_once(f"{name} is new; it is there when the bots are started again")
                continue
            try:
                self._tools[name] = as_tool(one, self.settings, self.send, known, self.show)
            except ConfigError as error:
                self._tell_once(str(error))
                del self._tools[name]

    @property
    def _what(self) -> str:
        return f"The MCP server {self.name}"

    def _unreachable(self, error: BaseException) -> str:
        return f"{self._what} can't be reached: {self._in_words(error)}."

    def _in_words(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, TimeoutError):
            return "it does not answer in time"
        said = str(error) or type(error).__name__
        return clean(said, self.settings).removesuffix(".")

    def _last_words(self) -> str:
        """For whoever runs it: what it wrote last to its standard error."""
        return f" It said last: {self._said.last}" if self._said.last else ""

    def _tell_once(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            log.warning("%s", what)


def _imported() -> type[Connection]:
    from agent.tools.mcp.connection import Connection

    return Connection
