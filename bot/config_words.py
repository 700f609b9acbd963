"""What is wrong with a value of ``pilothouse.yml``, in plain words: what would be right there. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from bot.marked_yaml import Way

#: How a list of this key is written.
_LISTS: Mapping[str, str] = {
    "users": "[U0123, U0456]",
    "groups": "[S0123, S0456]",
    "one_from_each": "[S0123, S0456]",
    "escalate": "[{after: 1h, users: [U0123]}]",
    "scopes": "[run, thread]",
    "tools": "[shop.tools]",
    "channels": "[C0123, C0456]",
    "command": "[mcp-server-git, --repository, .]",
    "env": "[NAME]",
    "read": "[list_*]",
    "policy": "[{tool: pay, action: ask}]",
    "tests": "[{tool: pay, args: {amount: 5}, requester: U0123, expect: ask}]",
}


def in_plain_words(problem: ErrorDetails, way: Way) -> str:
    """One sentence, to stand behind the key at ``way``."""
    words = _WORDS.get(problem["type"])
    if words is None:
        return f"{problem['msg'].removeprefix('Value error, ')}."
    return f"{words(problem.get('ctx', {}), way)}."


def _list(_: Mapping[str, Any], way: Way) -> str:
    return f"has to be a list: {_LISTS.get(str(way[-1]), '[…]') if way else '[…]'}"


def _choices(limits: Mapping[str, Any], _: Way) -> str:
    return f"has to be {str(limits['expected']).replace(chr(39), '')}"


def _at_least(limits: Mapping[str, Any], _: Way) -> str:
    return f"has to be {limits['ge']} or more"


def _more_than(limits: Mapping[str, Any], _: Way) -> str:
    return f"has to be more than {limits['gt']}"


def _at_most(limits: Mapping[str, Any], _: Way) -> str:
    return f"has to be {limits['le']} or less"


def _said(words: str) -> Callable[[Mapping[str, Any], Way], str]:
    return lambda _limits, _way: words


_WORDS: Mapping[str, Callable[[Mapping[str, Any], Way], str]] = {
    "tuple_type": _list,
    "list_type": _list,
    "dict_type": _said("there have to be keys with values here"),
    "model_type": _said("there have to be keys with values here"),
    "bool_type": _said("has to be true or false"),
    "bool_parsing": _said("has to be true or false"),
    "string_type": _said("has to be one text; put what looks like a number into quotes"),
    "string_too_short": _said("can't be empty"),
    "too_short": _said("name at least one"),
    "int_type": _said("has to be a whole number"),
    "int_parsing": _said("has to be a whole number"),
    "int_from_float": _said("has to be a whole number"),
    "decimal_type": _said("has to be a number"),
    "decimal_parsing": _said("has to be a number"),
    "finite_number": _said("has to be a number that ends somewhere"),
    "literal_error": _choices,
    "greater_than_equal": _at_least,
    "greater_than": _more_than,
    "less_than_equal": _at_most,
    "missing": _said("this key is needed"),
    "extra_forbidden": _said("there is no such key"),
    "string_pattern_mismatch": _said(
        "a name begins with a letter; letters, digits, - and _ follow, and it has 40 at most"
    ),
}
