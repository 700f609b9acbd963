"""A tool that a server offers, as one of an agent's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

from pydantic import JsonValue

from agent.ports import ToolSpec
from agent.rules.ids import OperationId
from agent.rules.parts import Effect
from agent.tools.context import Committed, ToolContext
from agent.tools.mcp.arguments import Arguments, JsonArguments

#: Of a tool, with these arguments and this operation id.
Send: TypeAlias = "Callable[[McpTool, Mapping[str, JsonValue], OperationId], Awaitable[Committed]]"

#: What the tool of this name says, given of these arguments those that it takes.
Show: TypeAlias = "Callable[[str, Mapping[str, JsonValue], OperationId], Awaitable[str]]"

_DESTROYS = ", and the server itself says that it may destroy what is there"


@dataclass(frozen=True, slots=True, eq=False)
class McpTool:
    """Its values are those of ``Tool``. It is asked about unless a rule says otherwise, whatever the server says."""

    #: ``SERVER.TOOL``.
    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    schema_digest: str
    effect: Effect
    timeout: timedelta
    #: Does the server say that it may destroy something?
    is_destructive: bool
    #: May what it gives be believed? Whoever wrote the file says so of the server.
    is_trusted: bool
    arguments: Arguments
    #: Sends it, as long as the tool is still this one.
    send: Send
    #: The tool of its server that says what it would change, if there is one, and asking that.
    shown_by: str | None = None
    show: Show | None = None
    reconcile: None = field(default=None, init=False)
    context_name: None = field(default=None, init=False)
    is_question: bool = field(default=False, init=False)

    @property
    def is_untrusted(self) -> bool:
        return not self.is_trusted

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    @property
    def needs_a_yes(self) -> str | None:
        """See ``AgentTool``."""
        return "may destroy what is there, as its server says" if self.is_destructive else None

    @property
    def always_has(self) -> frozenset[str]:
        """See ``AgentTool``."""
        required = self.parameters.get("required")
        return frozenset(required if isinstance(required, list) else ())

    @property
    def function(self) -> Callable[..., Awaitable[Committed]]:
        return self._run

    @property
    def preview(self) -> Callable[..., Awaitable[str]] | None:
        return None if self.shown_by is None else self._preview

    @property
    def preview_must_match(self) -> bool:
        """It is the state of something else, which may change while people are waited for."""
        return self.shown_by is not None

    def check(self, args: Mapping[str, JsonValue]) -> JsonArguments:
        """See ``AgentTool``."""
        return self.arguments.check(args)

    def may_ask(self) -> bool:
        """See ``AgentTool``."""
        return True

    def asks(self, checked: JsonArguments) -> tuple[bool, str]:
        """See ``AgentTool``."""
        why = "no rule covers it, and it is a tool of an MCP server"
        return True, f"{why}{_DESTROYS}" if self.is_destructive else why

    def bind(self, checked: JsonArguments, context: ToolContext) -> dict[str, Any]:
        """See ``AgentTool``."""
        return {"arguments": checked.root, "operation_id": context.operation_id}

    async def _run(
        self, arguments: Mapping[str, JsonValue], operation_id: OperationId
    ) -> Committed:
        return await self.send(self, arguments, operation_id)

    async def _preview(self, arguments: Mapping[str, JsonValue], operation_id: OperationId) -> str:
        assert self.shown_by is not None
        assert self.show is not None
        return await self.show(self.shown_by, arguments, operation_id)
