"""``use TOOL name=value``: the demo's model calls any tool of an agent by its name, so that one's own can be tried
without a key. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.ports import ToolSpec
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from bot.demo.tasks import Arguments, Done, Step

_USE: Final = re.compile(r"\s*(?:please\s+)?use\s+(?P<tool>[\w.-]+)\s*(?P<rest>.*)", re.I | re.S)
_PAIR: Final = re.compile(
    r"(?P<name>\w+)=(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[\[{].*[\]}]|\S+)", re.S
)


def called_by_name(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Step | None:
    """The call that the newest message with a tool's name asks for, or what became of it; None where there is no
    such message, or something else was asked for since."""
    known = {tool.name: tool for tool in tools}
    for place in range(len(messages) - 1, -1, -1):
        said = messages[place]
        if not isinstance(said, UserMessage) or said.is_data or said.is_note:
            continue
        found = _USE.match(said.text)
        if found is None or found["tool"] not in known:
            continue
        args = _arguments(found["rest"].strip(), known[found["tool"]].parameters)
        done = [_done(one, args) for one in messages[place:] if isinstance(one, ToolMessage)]
        heard = [one for one in done if not one.is_dropped]
        if heard:
            return "\n".join(_say(one) for one in heard), ()
        if any(isinstance(one, AssistantMessage) and not one.calls for one in messages[place:]):
            return None
        return "", ((found["tool"], args),)
    return None


def _arguments(words: str, schema: Mapping[str, Any]) -> Arguments:
    """The pairs in it; without any, all of it is the first argument that is needed."""
    properties = schema.get("properties", {})
    pairs = {
        one["name"]: _value(one["value"], properties.get(one["name"], {}))
        for one in _PAIR.finditer(words)
    }
    if pairs or not words:
        return pairs
    first = next(iter((*schema.get("required", ()), *properties)), "text")
    return {first: _value(words, properties.get(first, {}))}


def _value(text: str, declared: Mapping[str, Any]) -> Any:
    """As JSON where it is some; what is to be text is text."""
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    is_text = declared.get("type") == "string" and not isinstance(value, str)
    return text if is_text else value


def _done(message: ToolMessage, args: Arguments) -> Done:
    return Done(message.tool, args, message.output, message.is_error)


def _say(done: Done) -> str:
    return f"{done.tool}: {done.output}"
