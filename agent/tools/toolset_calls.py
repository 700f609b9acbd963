"""Calling one tool of a Pydantic AI toolset, and what the library's own exceptions say of its effect."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from agent.errors import Rejected
from agent.rules.json_text import dump_text
from agent.tools.context import Committed, ToolContext

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool


@dataclass(frozen=True, slots=True)
class ToolsetCall:
    """One tool of the library's, to be called."""

    toolset: AbstractToolset[Any]
    tool: ToolsetTool[Any]
    deps: Any

    def validated(self, args: Mapping[str, JsonValue]) -> dict[str, Any]:
        """As its function takes them. Raises ``ValidationError``, or whatever a validator of the tool's raises."""
        checked: dict[str, Any] = self.tool.args_validator.validate_json(dump_text(dict(args)))
        return checked

    async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed

        told = self._context(context)
        try:
            async with self.toolset:
                await self._check_further(arguments, told)
                output = await self.toolset.call_tool(
                    self.tool.tool_def.name, arguments, told, self.tool
                )
        except ModelRetry as error:
            raise Rejected(error.message) from error
        except ToolFailed as error:
            return Committed(error.message, is_error=True)
        except ApprovalRequired as error:
            raise Rejected(
                "Nothing was done: the tool wants a person's yes to this, and the policy lets it run without; it takes "
                "a rule that says ask."
            ) from error
        except CallDeferred as error:
            raise RuntimeError("it was handed on to somebody who has not answered") from error
        return _output(output)

    async def _check_further(self, arguments: dict[str, Any], told: RunContext[Any]) -> None:
        """By the function that its author gave for that, if any."""
        if self.tool.args_validator_func is not None:
            answer = self.tool.args_validator_func(told, **arguments)
            if inspect.isawaitable(answer):
                await answer

    def _context(self, context: ToolContext) -> RunContext[Any]:
        return replace(
            context_with(self.deps),
            run_id=context.run_id,
            tool_call_id=context.operation_id,
            tool_name=self.tool.tool_def.name,
            tool_call_approved=context.is_approved,
        )


def context_with(deps: Any) -> RunContext[Any]:
    """For a tool that is called without one of the library's agents: there is no model to ask."""
    from pydantic_ai import RunContext, RunUsage

    no_model: Any = None
    return RunContext(deps=deps, model=no_model, usage=RunUsage())


def _output(output: Any) -> Any:
    """What the model is to read of it."""
    from pydantic_ai.messages import ToolReturn

    if not isinstance(output, ToolReturn):
        return output
    if output.content is None:
        return output.return_value
    texts = [output.content] if isinstance(output.content, str) else output.content
    said = [
        one if isinstance(one, str) else f"[{type(one).__name__}: it can't be read here]"
        for one in texts
    ]
    return {"result": output.return_value, "content": "\n".join(said)}
