"""A tool as a server describes it, and what is made of that. Pure: nothing is asked here.

What a server says of its tools may tighten what is done with them, and never loosens it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from agent.errors import ConfigError
from agent.rules.binding import digest
from agent.rules.parts import Effect
from agent.rules.secrets import FROM_SERVER
from agent.rules.tool_globs import DOT
from agent.tools.mcp.arguments import Arguments
from agent.tools.mcp.names import alike, why_no_tool
from agent.tools.mcp.said import clean
from agent.tools.mcp.schemas import NotJudged
from agent.tools.mcp.settings import ServerSettings
from agent.tools.mcp.tool import McpTool, Send, Show

log = logging.getLogger(__name__)

#: A description goes to the model with each request.
DESCRIPTION_LIMIT = 10_000
TITLE_LIMIT = 80
_LEAVE_OUT = "Name those that the agent is to have under tools: [read_*], and leave it out."


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as the server describes it."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    #: What it says of itself; None: nothing.
    says_it_reads: bool | None = None
    says_it_destroys: bool | None = None


def is_wanted(offered: Offered, settings: ServerSettings) -> bool:
    """Is the agent to have it?"""
    return any(fnmatchcase(offered.name, glob) for glob in settings.tools)


def all_taken(
    offered: Iterable[Offered], settings: ServerSettings, send: Send, show: Show | None = None
) -> dict[str, McpTool]:
    """By their names, all that the agent is to have. Raises ``ConfigError`` where one of them can't be taken, or there
    is none."""
    wanted = [one for one in offered if is_wanted(one, settings)]
    wrong = [why for one in wanted if (why := why_no_tool(one.name))]
    pairs = alike(one.name for one in wanted)
    wrong += [f"its tools {one} and {other} differ in case alone" for one, other in pairs]
    if wrong:
        raise ConfigError(f"{_of(settings)} can't be taken: {wrong[0]}. {_LEAVE_OUT}")
    if not wanted:
        raise ConfigError(f"{_of(settings)} has none of the tools that the agent is to have.")
    made = [as_tool(one, settings, send, show=show) for one in wanted]
    _check_previews(made, settings)
    for tool in made:
        if tool.effect == "once" and _is_read(tool.name.partition(DOT)[2], settings):
            log.warning("%s is taken for one that changes things: its server says so", tool.name)
    return {tool.name: tool for tool in made}


def as_tool(
    offered: Offered,
    settings: ServerSettings,
    send: Send,
    known: McpTool | None = None,
    show: Show | None = None,
) -> McpTool:
    """``known`` is what it was before. Raises ``ConfigError`` where its arguments can't be judged."""
    name = f"{settings.name}{DOT}{offered.name}"
    # A schema's title is the name of something in the server's own code.
    parameters = {key: one for key, one in offered.schema.items() if key != "title"}
    try:
        schema_digest = digest(parameters)
        is_same = known is not None and known.schema_digest == schema_digest
        arguments = known.arguments if known and is_same else Arguments(parameters)
    except (NotJudged, ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, NotJudged) else "it has no canonical form"
        raise ConfigError(
            f"{_of(settings)} can't be taken: the schema of {offered.name} can't be judged: {why}."
            f" {_LEAVE_OUT}"
        ) from error
    title = clean(offered.title, settings)[:TITLE_LIMIT]
    return McpTool(
        name=name,
        # What the server calls it need not be what it does: both are shown.
        title=name if title in ("", offered.name) else f"{title} ({name})",
        description=offered.description[:DESCRIPTION_LIMIT],
        parameters=parameters | FROM_SERVER,
        schema_digest=schema_digest,
        effect=_effect(offered, settings),
        timeout=settings.timeout,
        is_destructive=offered.says_it_destroys is True,
        is_trusted=settings.is_trusted,
        arguments=arguments,
        send=send,
        shown_by=_shown_by(offered.name, settings),
        show=show,
    )


def _shown_by(tool: str, settings: ServerSettings) -> str | None:
    other = settings.previews.get(tool)
    return None if other is None else f"{settings.name}{DOT}{other}"


def _check_previews(made: Iterable[McpTool], settings: ServerSettings) -> None:
    """Raises ``ConfigError``."""
    effects = {tool.name.partition(DOT)[2]: tool.effect for tool in made}
    for tool, other in settings.previews.items():
        for name in (tool, other):
            if name not in effects:
                there = ", ".join(sorted(effects))
                raise ConfigError(
                    f"{_of(settings)} has no tool {name}, which previews names; there are: {there}."
                )
        if effects[other] != "read":
            raise ConfigError(
                f"{_of(settings)}: {other} can't say what {tool} would change, for it may change something itself."
                f" Name it under read: [{other}], unless that is so."
            )


def _effect(offered: Offered, settings: ServerSettings) -> Effect:
    """``once``, whatever the server says; ``read`` by the operator's word alone, unless the server denies it."""
    denies = offered.says_it_reads is False or offered.says_it_destroys is True
    return "read" if _is_read(offered.name, settings) and not denies else "once"


def _is_read(tool: str, settings: ServerSettings) -> bool:
    return any(fnmatchcase(tool, glob) for glob in settings.reads)


def _of(settings: ServerSettings) -> str:
    return f"The MCP server {settings.name}"
