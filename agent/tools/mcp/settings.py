"""What is said of an MCP server by whoever runs it for an agent, before anything of it is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from agent.errors import ConfigError

DEFAULT_TIMEOUT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """One server: a ``command`` that is started here and spoken to through its standard input, or a ``url``."""

    name: str
    command: Sequence[str] = ()
    url: str | None = field(default=None, repr=False)
    #: Where the command runs.
    folder: Path = Path()
    #: What it gets of our environment, beside what any program needs, by name; and the headers of each request.
    #: Their values are secret.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: May what its tools give be believed?
    is_trusted: bool = False
    #: Globs: which of its tools the agent has, and which of them change nothing, by the word of whoever wrote this.
    tools: Sequence[str] = ("*",)
    reads: Sequence[str] = ()
    #: Which of its tools says what another would change, by that one's name.
    previews: Mapping[str, str] = field(default_factory=dict)
    timeout: timedelta = DEFAULT_TIMEOUT
    #: Hides what looks like a secret in what is logged.
    mask: Callable[[str], str] = str

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that nothing may show, the longest first."""
        found = {*self.environment.values(), *self._in_headers(), *self._in_url()}
        return tuple(sorted(found, key=len, reverse=True))

    def _in_url(self) -> list[str]:
        """What stands behind the question mark may be a key, and errors quote the whole address."""
        query = urlsplit(self.url or "").query
        return [query, *(value for _, value in parse_qsl(query))] if query else []

    def _in_headers(self) -> list[str]:
        return [part for value in self.headers.values() for part in (value, value.split(" ")[-1])]


def check_is_installed() -> None:
    """Raises ``ConfigError`` where what it takes to speak to servers is not there."""
    if all(map(find_spec, ("pydantic_ai", "mcp", "fastmcp", "jsonschema"))):
        return
    raise ConfigError(
        "MCP servers need packages that are not installed. Install them: make extra EXTRA=mcp, or"
        ' pip install "pilothouse[mcp]".'
    )
