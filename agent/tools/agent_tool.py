"""What the engine needs of a tool, whatever it is: a function of ours, or one that a server offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from pydantic import BaseModel, JsonValue

from agent.ports import ToolSpec
from agent.rules.parts import Effect
from agent.tools.context import ToolContext


class AgentTool(Protocol):
    """One tool, as it is now. What each of these means ``Tool`` says."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]: ...

    @property
    def schema_digest(self) -> str: ...

    @property
    def effect(self) -> Effect: ...

    @property
    def timeout(self) -> timedelta: ...

    @property
    def function(self) -> Callable[..., Any]: ...

    @property
    def reconcile(self) -> Callable[..., Any] | None: ...

    @property
    def preview(self) -> Callable[..., Any] | None: ...

    @property
    def preview_must_match(self) -> bool: ...

    @property
    def context_name(self) -> str | None: ...

    @property
    def is_question(self) -> bool: ...

    @property
    def is_untrusted(self) -> bool: ...

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def needs_a_yes(self) -> str | None:
        """What is said of it as one that is always to be asked about, as ``says itself that it needs a yes each
        time``; None: nothing."""

    @property
    def always_has(self) -> frozenset[str]:
        """The arguments that every call of it has by the time that it is judged."""

    def check(self, args: Mapping[str, JsonValue]) -> BaseModel:
        """The arguments as typed values. Raises ``InvalidCall`` with a message for each field."""

    def may_ask(self) -> bool:
        """Can its own word, where no rule matches, be to ask?"""

    def asks(self, checked: Any) -> tuple[bool, str]:
        """Its own word on what ``check`` gave, and why."""

    def bind(self, checked: Any, context: ToolContext) -> dict[str, Any]:
        """The keyword arguments of the function."""


class ToolServer(Protocol):
    """Tools that live in another process, and may change while this one goes on."""

    @property
    def name(self) -> str:
        """Its tools are named ``NAME.…``."""

    @property
    def is_known(self) -> bool:
        """Has it said which tools it has?"""

    @property
    def tools(self) -> Mapping[str, AgentTool]:
        """By their names, as they were when it was last looked at."""

    async def look_again(self) -> None:
        """Ask it what its tools are by now. Takes no longer than a call of one would; where it can't be asked,
        nothing changes."""
