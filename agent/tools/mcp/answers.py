"""What a server answers to a call, as a tool's output. Pure: in the form that it has on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

_NO_WORD = "The server says that it failed, and not why."
_URI_SHOWN = 300


def output_of(answer: Mapping[str, Any]) -> JsonValue:
    """Its structured content, where everything else is text that says the same; else text where it is text, with a
    note for whatever is none."""
    blocks = [one for one in answer.get("content") or () if isinstance(one, Mapping)]
    structured = answer.get("structuredContent")
    if structured is not None and all(one.get("type") == "text" for one in blocks):
        # What is no object a server wraps in one.
        is_wrapped = isinstance(structured, Mapping) and structured.keys() == {"result"}
        bare: JsonValue = structured["result"] if is_wrapped else structured
        return bare
    text = _text_of(blocks)
    return text if structured is None else {"content": text, "structured": structured}


def failure_of(answer: Mapping[str, Any]) -> JsonValue:
    """Why it failed, in the server's words."""
    blocks = [one for one in answer.get("content") or () if isinstance(one, Mapping)]
    said: JsonValue = answer.get("structuredContent")
    return _text_of(blocks) or said or _NO_WORD


def _text_of(blocks: list[Mapping[str, Any]]) -> str:
    return "\n\n".join(map(_block, blocks))


def _block(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind}, {_kind(block)}, {_size(data)}: it can't be read here]"
        case {"type": "resource", "resource": {"uri": uri, "text": str(text)}}:
            return f"[{_uri(uri)}]\n{text}"
        case {"type": "resource", "resource": {"uri": uri, "blob": str(data), **rest}}:
            return f"[{_uri(uri)}, {_kind(rest)}, {_size(data)}: it can't be read here]"
        case {"type": "resource_link", "uri": uri, **rest}:
            return f"[a link to {_uri(uri)}, {_kind(rest)}: it was not fetched]"
        case _:
            return f"[{str(block.get('type'))[:40]}: it can't be read here]"


def _kind(block: Mapping[Any, Any]) -> str:
    return str(block.get("mimeType") or "of no kind")[:80]


def _size(base64: str) -> str:
    return f"{len(base64.rstrip('=')) * 3 // 4:,} bytes"


def _uri(uri: object) -> str:
    return str(uri)[:_URI_SHOWN]
