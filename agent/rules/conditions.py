"""Conditions of the policy: expressions in CEL, checked when they are loaded.

CEL (the Common Expression Language) has no loops and no side effects. A condition must give a
boolean; one that fails at run time, or gives something else, is a reason to ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import cel

from agent.errors import ConfigError

#: What a condition may speak of.
NAMES = frozenset({"args", "agent", "requester", "channel", "session"})
LENGTH_LIMIT = 2_000

#: The functions that the library knows; it finds a misspelt one only at run time.
FUNCTIONS = frozenset(
    {"size", "contains", "startsWith", "endsWith", "matches"}
    | {"int", "uint", "double", "string", "bytes", "timestamp", "duration", "type", "dyn"}
    | {"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"}
    | {"getHours", "getMinutes", "getSeconds", "getMilliseconds"}
)

#: ``list.all(x, …)`` binds a name of its own.
_BOUND = re.compile(r"\b(?:all|exists|exists_one|map|filter)\(\s*([A-Za-z_]\w*)\s*,")


class ConditionFailed(Exception):
    """The condition gave no answer; the text says why."""


class Condition:
    """One compiled expression. Raises ``ConfigError`` when it can't be right."""

    def __init__(self, source: str) -> None:
        if len(source) > LENGTH_LIMIT:
            raise ConfigError(f"a condition may have {LENGTH_LIMIT} characters, not {len(source)}")
        try:
            self._program = cel.compile(source)
        except ValueError as error:
            raise ConfigError(f"{source!r} is not CEL: {_first_line(error)}") from error
        unknown = set(self._program.variables()) - NAMES - set(_BOUND.findall(source))
        if unknown:
            raise ConfigError(
                f"{source!r} speaks of {', '.join(sorted(unknown))}; "
                f"a condition knows {', '.join(sorted(NAMES))}"
            )
        # Operators are listed too, under names such as ``_>_``.
        called = {name for name in self._program.functions() if name.isidentifier()}
        if misspelt := called - FUNCTIONS:
            raise ConfigError(
                f"{source!r} calls {', '.join(sorted(misspelt))}; "
                f"a condition can call {', '.join(sorted(FUNCTIONS))}"
            )
        self.source = source

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Raises ``ConditionFailed`` when there is no answer."""
        try:
            answer = self._program.execute(dict(values))
        except (TypeError, LookupError, ValueError, RuntimeError, ArithmeticError) as error:
            raise ConditionFailed(_first_line(error)) from error
        if not isinstance(answer, bool):
            raise ConditionFailed(f"it gives {type(answer).__name__}, not a boolean")
        return answer


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
