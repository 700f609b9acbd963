"""Calls of tools as people write them out: ``deploy web 1.5``, ``deploy service=web version=1.5``. Pure.

A call begins with its tool's name. What follows are values, in the order of the tool's parameters, or with their names.
Several stand on lines of their own, or have ``;``, ``and`` or ``then`` between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from pydantic import JsonValue

from agent.ports import ToolSpec
from bot.demo.as_declared import as_declared, types_of

Arguments = dict[str, JsonValue]

#: Of one message.
_CALLS_LIMIT = 50
#: The most words that a tool's name is written in.
_NAME_WORDS = 6
_QUOTES = {'"': '"', "“": "”", "„": "“", "'": "'", "‘": "’"}
_JSON = json.JSONDecoder()
#: What may stand before a tool's name, and how many such words.
_BEFORE, _BEFORE_LIMIT = frozenset({"please", "use", "call"}), 2
_BETWEEN = frozenset({";", "and", "then"})
_NAMED = re.compile(r"([A-Za-z_][\w-]*)[=:](.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Written:
    """One call as it was written."""

    tool: str
    args: Arguments
    #: Is it to be made only once those before it went well?
    is_then: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    #: Was some of it in quotes? Then it is a value and nothing else.
    is_quoted: bool = False


def calls_in(words: str, tools: Sequence[ToolSpec]) -> tuple[Written, ...]:
    """Those that ``words`` write out; none if they say anything else besides: half of what is meant is not done."""
    found: list[Written] = []
    left, is_then = _split(words), False
    while left:
        tool, length = _named_first(left, tools)
        if tool is None or len(found) == _CALLS_LIMIT:
            return ()
        inside = _up_to_next(left[length:], tools)
        found.append(Written(tool.name, _arguments(inside, tool), is_then))
        left = left[length + len(inside) :]
        between = list(takewhile(_is_between, left))
        is_then = any(word.text.casefold() == "then" for word in between)
        left = left[len(between) :]
    return tuple(found)


def changes_in(words: str, tool: ToolSpec) -> Arguments:
    """Values for some of a call's parameters, each with its name, if ``words`` are nothing else."""
    split = [word for word in _split(words) if word.text != ";"]
    named = [_with_name(word, tool) for word in split]
    return {} if None in named else dict(one for one in named if one is not None)


def how_to_write(tool: ToolSpec) -> str:
    """``deploy SERVICE VERSION [note=…]``"""
    needed = tool.parameters.get("required", ())
    shown = [
        name.upper() if name in needed else f"[{name}=…]" for name in _properties(tool.parameters)
    ]
    return " ".join((tool.name, *shown))


def _split(words: str) -> list[_Word]:
    """At white space, with what stands in quotes or is JSON kept together; a line's end is as good as a semicolon."""
    split: list[_Word] = []
    text, is_quoted, at = "", False, 0
    line = f"{words.strip().strip('`')}\n"
    while at < len(line):
        letter, begins_value = line[at], text[-1:] in ("", "=", ":", ",")
        if begins_value and letter in _QUOTES and (end := line.find(_QUOTES[letter], at + 1)) > 0:
            text, is_quoted, at = text + line[at + 1 : end], True, end + 1
        elif begins_value and letter in "[{" and (end := _end_of_json(line, at)):
            text, at = text + line[at:end], end
        elif letter.isspace() or letter == ";":
            is_named_only = text[-1:] in ("=", ":") and letter == " "
            if (text or is_quoted) and not is_named_only:
                split.append(_Word(text, is_quoted))
                text, is_quoted = "", False
            if letter in ";\n":
                split.append(_Word(";"))
            at += 1
        else:
            text, at = text + letter, at + 1
    return split


def _end_of_json(line: str, at: int) -> int:
    """Where a list or an object ends that is written out there; 0 where none is."""
    try:
        return _JSON.raw_decode(line, at)[1]
    except (ValueError, RecursionError):
        return 0


def _is_between(word: _Word) -> bool:
    return not word.is_quoted and word.text.casefold() in _BETWEEN


def _named_first(words: Sequence[_Word], tools: Sequence[ToolSpec]) -> tuple[ToolSpec | None, int]:
    """The tool whose name stands there, in as many words as it takes."""
    by_name = {_plain(tool.name): tool for tool in tools}
    polite = len(list(takewhile(_is_before, words[:_BEFORE_LIMIT])))
    for begins in range(polite + 1):
        for length in range(min(_NAME_WORDS, len(words) - begins), 0, -1):
            first = words[begins : begins + length]
            if not any(word.is_quoted for word in first):
                name = _plain("_".join(word.text for word in first))
                if name in by_name:
                    return by_name[name], begins + length
    return None, 0


def _is_before(word: _Word) -> bool:
    return not word.is_quoted and word.text.casefold() in _BEFORE


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def _up_to_next(words: Sequence[_Word], tools: Sequence[ToolSpec]) -> Sequence[_Word]:
    """``and`` and ``then`` are words like any others unless a call follows."""
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and _is_between(words[end]):
            end += 1
        following = words[end : end + _NAME_WORDS + _BEFORE_LIMIT]
        ends = any(word.text == ";" for word in words[at:end])
        if end > at and (ends or _named_first(following, tools)[0] is not None):
            return words[:at]
        at = max(end, at + 1)
    return words


def _arguments(words: Sequence[_Word], tool: ToolSpec) -> Arguments:
    args: Arguments = {}
    in_order: list[str] = []
    for word in words:
        if (named := _with_name(word, tool)) is not None:
            args[named[0]] = named[1]
        else:
            in_order.append(word.text)
    declared = _properties(tool.parameters)
    open_ = [name for name in declared if name not in args]
    for number, name in enumerate(open_):
        if number >= len(in_order):
            break
        is_last = number == len(open_) - 1
        rest = " ".join(in_order[number:]) if is_last else in_order[number]
        args[name] = as_declared(rest, declared[name], tool.parameters)
        if not is_last and _takes_the_rest(declared, open_[number:], tool):
            args[name] = " ".join(in_order[number:])
            break
    if len(in_order) > len(open_) == 0:
        # More than it takes: it is the tool that says so.
        args["more"] = " ".join(in_order)
    return args


def _takes_the_rest(
    declared: Mapping[str, Mapping[str, Any]], open_: Sequence[str], tool: ToolSpec
) -> bool:
    """Is it a text, and the last that is needed? What may be left out is given by its name then."""
    needed = tool.parameters.get("required", ())
    is_text = set(types_of(declared[open_[0]], tool.parameters)) == {"string"}
    is_free = not {"enum", "pattern", "format", "const"} & set(declared[open_[0]])
    return is_text and is_free and open_[0] in needed and not set(open_[1:]) & set(needed)


def _with_name(word: _Word, tool: ToolSpec) -> tuple[str, JsonValue] | None:
    match = _NAMED.fullmatch(word.text)
    declared = _properties(tool.parameters)
    if match is None or match[1] not in declared:
        return None
    return match[1], as_declared(match[2], declared[match[1]], tool.parameters)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    declared = schema.get("properties", {})
    return {name: one if isinstance(one, Mapping) else {} for name, one in declared.items()}


def in_short(tools: Sequence[ToolSpec]) -> Iterator[str]:
    """A line a tool: how its call is written, and what it does."""
    for tool in tools:
        does = (tool.description.strip().splitlines() or [""])[0]
        yield f"• `{how_to_write(tool)}`{f': {does}' if does else ''}"
