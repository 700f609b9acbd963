"""``from_toolset``: the tools of a Pydantic AI toolset, taken as they are.

The library is imported only by whoever has such a toolset already.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic_core import to_jsonable_python

from agent.errors import ConfigError
from agent.rules.binding import digest
from agent.rules.judgement import InvalidCall
from agent.rules.parts import Effect
from agent.tools.context import ToolContext
from agent.tools.declare import DEFAULT_TIMEOUT, Tool
from agent.tools.registry import Toolbox
from agent.tools.toolset_calls import ToolsetCall, context_with
from agent.tools.wording import messages_of
from agent.tools.writing_down import write_down

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool

_NAME = re.compile(r"[A-Za-z_][\w-]{0,63}", re.ASCII)
_OTHER = "Written down and read again, it would be another value."
#: Far beyond ours, which ends the call: the library's own would tell a call that took too long as one to repeat.
_NO_END = timedelta(days=365)


def from_toolset(
    toolset: AbstractToolset[Any],
    *,
    deps: Any = None,
    effects: Mapping[str, Effect] | None = None,
    titles: Mapping[str, str] | None = None,
    timeout: timedelta | float | None = None,
    untrusted: bool | None = None,
) -> Toolbox:
    """The tools of ``toolset`` with their names, descriptions, schemas and checks. Put the result into a module that
    ``pilothouse.yml`` names, under any name.

    Each is asked about unless a rule says otherwise, and has an effect that is made ``once`` unless ``effects`` says
    ``read`` or ``idempotent`` by its name; its functions find the operation id in ``tool_call_id`` of their
    ``RunContext``, and ``deps`` there. ``timeout`` (in seconds, or a ``timedelta``) is for those that have none of
    their own; 60 s unless said. ``ModelRetry`` is a tool's word that nothing happened, ``ToolFailed`` that it was
    carried out and failed; of whatever else it raises, nobody knows. ``untrusted`` is as for ``@tool``; unless said,
    those of a toolset with an MCP server are.

    Raises ``ConfigError`` for tools that can't be called here, and for names that it does not have.
    """
    effects, titles = effects or {}, titles or {}
    found = _list_tools(toolset, deps)
    for name in (*effects, *titles):
        if name not in found:
            there = ", ".join(sorted(found)) or "none"
            raise ConfigError(f"The toolset has no tool {name}; there are: {there}.")
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    return Toolbox(
        _declared(
            ToolsetCall(toolset, tool, deps),
            effects.get(name, "once"),
            titles.get(name),
            seconds,
            is_untrusted=_has_a_server(toolset) if untrusted is None else untrusted,
        )
        for name, tool in found.items()
    )


class _Arguments(BaseModel):
    """As the library checked them."""

    model_config = ConfigDict(extra="allow", frozen=True, arbitrary_types_allowed=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Taken(Tool):
    """Its arguments are checked by the library."""

    call: ToolsetCall | None = None

    @property
    def always_has(self) -> frozenset[str]:
        """See ``AgentTool``: the library fills in what a function has a default for."""
        named = self.parameters.get("properties", {})
        filled = (name for name, one in named.items() if isinstance(one, dict) and "default" in one)
        return frozenset((*self.parameters.get("required", ()), *filled))

    def check(self, args: Mapping[str, JsonValue]) -> BaseModel:
        """See ``Tool``."""
        assert self.call is not None
        try:
            validated = self.call.validated(args)
            checked = _Arguments.model_validate(self._by_schema(validated))
        except ValidationError as error:
            raise InvalidCall(messages_of(error)) from error
        except Exception as error:
            # A validator of the tool's own raised it, whatever it is.
            what = f"The tool's own check of them failed: {type(error).__name__}."
            raise InvalidCall({"arguments": what}) from error
        if lost := self._what_is_not_kept(checked, validated):
            raise InvalidCall(dict.fromkeys(lost, _OTHER))
        return checked

    def bind(self, checked: BaseModel, context: ToolContext) -> dict[str, Any]:
        """See ``Tool``."""
        assert self.call is not None
        return {"arguments": self.call.validated(write_down(checked)), "context": context}

    def _by_schema(self, validated: dict[str, Any]) -> dict[str, Any]:
        """By the names of the schema. A function of one model has that model's for its own."""
        if validated.keys() <= self.parameters.get("properties", {}).keys():
            return validated
        (one,) = validated.values()
        plain: dict[str, Any] = to_jsonable_python(one, by_alias=True, round_trip=True)
        return plain

    def _what_is_not_kept(self, checked: BaseModel, validated: dict[str, Any]) -> list[str]:
        """Names of what would be another value once it was written down and read again."""
        assert self.call is not None
        try:
            written = write_down(checked)
            digest(written)
            again = self.call.validated(written)
            return [name for name, value in validated.items() if again[name] != value]
        except Exception:
            # Whatever a foreign value raises when it is written, read or compared.
            return ["arguments"]


def _list_tools(toolset: AbstractToolset[Any], deps: Any) -> dict[str, ToolsetTool[Any]]:
    """Here and now, also where a loop runs already: modules are imported under one."""
    found: dict[str, ToolsetTool[Any]] = {}
    raised: list[BaseException] = []

    async def ask() -> None:
        async with toolset:
            found.update(await toolset.get_tools(context_with(deps)))

    def work() -> None:
        try:
            asyncio.run(ask())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="toolset")
    thread.start()
    thread.join()
    if raised:
        why = f"{type(raised[0]).__name__}: {raised[0]}"
        raise ConfigError(f"The toolset can't say what its tools are: {why}") from raised[0]
    return found


def _has_a_server(toolset: AbstractToolset[Any]) -> bool:
    """Does any of it come from an MCP server? The library's own class tells, without its being imported."""
    leaves: list[AbstractToolset[Any]] = []
    toolset.apply(leaves.append)
    return any(
        kind.__module__ == "pydantic_ai.mcp" for leaf in leaves for kind in type(leaf).__mro__
    )


def _declared(
    call: ToolsetCall,
    effect: Effect,
    title: str | None,
    seconds: float | None,
    *,
    is_untrusted: bool,
) -> Tool:
    declared = call.tool.tool_def
    name, parameters = declared.name, dict(declared.parameters_json_schema)
    if why := _why_not(call):
        raise ConfigError(f"The tool {name} of the toolset {why}")
    own = declared.timeout or getattr(call.tool.toolset, "timeout", None) or seconds
    endless = replace(declared, timeout=_NO_END.total_seconds())
    call = replace(call, tool=replace(call.tool, tool_def=endless))
    return _Taken(
        name=name,
        title=title or name.replace("_", " ").capitalize(),
        description=declared.description or "",
        function=call,
        arguments=_Arguments,
        parameters=parameters,
        schema_digest=digest(parameters),
        approval=True if declared.kind == "unapproved" else None,
        effect=effect,
        reconcile=None,
        preview=None,
        preview_must_match=False,
        timeout=DEFAULT_TIMEOUT if own is None else timedelta(seconds=own),
        context_name="context",
        is_untrusted=is_untrusted,
        call=call,
    )


def _why_not(call: ToolsetCall) -> str | None:
    """Why it can't be taken."""
    declared = call.tool.tool_def
    if not _NAME.fullmatch(declared.name):
        return "has a name that models and rules can't take; rename it: toolset.renamed({…})."
    if declared.kind not in ("function", "unapproved"):
        return f"is {declared.kind}: nothing here would carry it out."
    if declared.sequential:
        return "is to run alone (sequential), which is not kept here; take that out, or lock in the tool."
    if not declared.description:
        return "needs a description: the model reads it."
    if _judges_nothing(call):
        return "checks none of its arguments, as it is declared by a schema alone; make it a typed function."
    return None


def _judges_nothing(call: ToolsetCall) -> bool:
    """Does it take what its schema does not?"""
    schema = call.tool.tool_def.parameters_json_schema
    wrong: list[dict[str, JsonValue]] = [{}] if schema.get("required") else []
    if schema.get("additionalProperties") is False:
        wrong.append({"there is no such argument": 1})
    for args in wrong:
        try:
            call.validated(args)
        except Exception:
            continue  # As it should be; a validator of the tool's own may raise anything.
        return True
    return False
