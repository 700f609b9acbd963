"""The MCP servers of an agent, as they are written, and how they are started and checked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator

from agent.errors import ConfigError
from agent.models.tool_names import on_the_wire
from agent.rules.rule_durations import Duration
from agent.rules.wrong_key import wrong_key
from agent.tools.mcp.names import alike, why_no_server
from agent.tools.mcp.server import McpServer
from agent.tools.mcp.settings import DEFAULT_TIMEOUT, ServerSettings
from agent.tools.registry import Toolbox
from bot.marked_yaml import MarkedYaml, Way
from bot.settings import environment
from bot.slack.cards.masking import mask

#: What every provider takes for the name of a tool.
WIRE_NAME_LIMIT = 64
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _variable(name: str) -> str:
    """What is none may be the secret itself: it is not repeated."""
    if not _VARIABLE.fullmatch(name):
        raise ValueError("name an environment variable here, and put the value into that")
    return name


def _server_name(name: str) -> str:
    if why := why_no_server(name):
        raise ValueError(why)
    return name


_Variable = Annotated[str, AfterValidator(_variable)]
ServerName = Annotated[str, AfterValidator(_server_name)]


class ServerEntry(BaseModel):
    """One server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: A program and its arguments, or where the server is.
    command: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    url: str | None = None
    #: Which of our environment variables the program gets.
    env: tuple[_Variable, ...] = ()
    #: The variable with what goes behind ``Authorization: Bearer``, and those with the values of other headers.
    token: _Variable | None = None
    headers: Mapping[str, _Variable] = Field(default_factory=dict)
    trusted: StrictBool = False
    #: Globs: those of its tools that the agent has, and those that change nothing.
    tools: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)
    read: tuple[str, ...] = ()
    #: Of those that change something: by whose words people see what would change. Another tool of the server, one of
    #: those under ``read``, is given of its arguments those that it takes.
    previews: Mapping[str, str] = Field(default_factory=dict)
    timeout: Duration = DEFAULT_TIMEOUT

    @model_validator(mode="after")
    def _is_one_thing(self) -> ServerEntry:
        if (self.command is None) == (self.url is None):
            raise ValueError(
                "say how to start it (command: [mcp-server-git]), or where it is (url)"
            )
        if self.command is not None:
            for key, there in (("token", self.token), ("headers", self.headers)):
                if there:
                    raise wrong_key(key, "goes with a url; a program gets its variables by env")
        if self.url is not None and self.env:
            raise wrong_key("env", "goes with a command; a url gets token or headers")
        if self.timeout <= timedelta():
            raise wrong_key("timeout", "has to be longer than no time at all")
        for name in self.headers:
            if not _HEADER.fullmatch(name):
                raise wrong_key("headers", "the name of a header has letters, digits and - alone")
        if self.url is not None and (why := _why_no_url(self.url, self._has_secrets)):
            raise wrong_key("url", why)
        return self

    @property
    def _has_secrets(self) -> bool:
        return self.token is not None or bool(self.headers)

    def settings(self, name: str, folder: Path, environment: Mapping[str, str]) -> ServerSettings:
        """With the values of the variables, where they are there."""
        found = {name: environment[name] for name in self.env if name in environment}
        headers = {
            header: environment[variable]
            for header, variable in self.headers.items()
            if variable in environment
        }
        if self.token is not None and self.token in environment:
            headers["Authorization"] = f"Bearer {environment[self.token]}"
        return ServerSettings(
            name=name,
            command=self.command or (),
            url=self.url,
            folder=folder,
            environment=found,
            headers=headers,
            is_trusted=self.trusted,
            tools=self.tools,
            reads=self.read,
            previews=self.previews,
            timeout=self.timeout,
            mask=mask,
        )

    def missing(self, environment: Mapping[str, str]) -> Way | None:
        """To the first variable that is not set."""
        named: list[tuple[Way, str]] = [
            *((("env", index), variable) for index, variable in enumerate(self.env)),
            *([(("token",), self.token)] if self.token else []),
            *((("headers", header), variable) for header, variable in self.headers.items()),
        ]
        return next((way for way, variable in named if not environment.get(variable)), None)


def _why_no_url(url: str, has_secrets: bool) -> str | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not host:
        return "begins with http:// or https://"
    if parts.username or parts.password:
        return "holds no secret; say token: NAME_OF_A_VARIABLE"
    if parts.scheme == "http" and has_secrets and host not in _LOOPBACK:
        return "has to be https:// where a secret goes along"
    return None


@dataclass(frozen=True, slots=True)
class PlacedServer:
    """A server, and where in the file it stands."""

    server: McpServer
    entry: ServerEntry
    marked: MarkedYaml
    way: Way

    def check(self) -> None:
        """Is all there that it takes to start it? Raises ``ConfigError`` with file, line and key."""
        if missing := self.entry.missing(environment()):
            way = [*self.way, *missing]
            raise self.marked.error(way, "it names an environment variable that is not set.")

    async def start(self) -> None:
        """As ``check``."""
        try:
            await self.server.start()
        except ConfigError as error:
            raise self.marked.error(self.way, str(error)) from error


def placed_servers(
    marked: MarkedYaml, agent: str, entries: Mapping[str, ServerEntry]
) -> list[PlacedServer]:
    """Not started: nothing of them is imported either. Raises ``ConfigError``."""
    way = ("agents", agent, "mcp")
    for one, other in alike(entries):
        raise marked.error((*way, other), f"it differs from {one} in case alone.")
    given = environment() if entries else {}
    return [
        PlacedServer(
            McpServer(entry.settings(name, marked.path.parent, given)),
            entry,
            marked,
            (*way, name),
        )
        for name, entry in entries.items()
    ]


@asynccontextmanager
async def started(servers: Sequence[PlacedServer]) -> AsyncIterator[None]:
    """All of them, one after the other, and ended again. Raises ``ConfigError`` where one can't be had."""
    for placed in servers:
        placed.check()
    async with AsyncExitStack() as stack:
        for placed in servers:
            stack.push_async_callback(placed.server.stop)
            await placed.start()
        yield


def check_names(marked: MarkedYaml, agent: str, toolbox: Toolbox) -> None:
    """No model could tell two tools apart that it is told by one name; and a rule for one of them is not for the
    other. Raises ``ConfigError``."""
    if not toolbox.servers:
        return
    way: Way = ("agents", agent, "mcp")
    seen: dict[str, str] = {}
    for tool in toolbox:
        told = on_the_wire(tool.name)
        if len(told) > WIRE_NAME_LIMIT:
            raise marked.error(
                way,
                f"the tool {tool.name} has a longer name than models take ({WIRE_NAME_LIMIT}, with the"
                " server's before it): give the server a shorter one, or leave the tool out by tools.",
            )
        if (before := seen.setdefault(told.casefold(), tool.name)) != tool.name:
            raise marked.error(
                way,
                f"models can't tell {before} and {tool.name} apart: give the server another name, or"
                " leave one of them out by tools.",
            )
