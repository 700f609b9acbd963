"""What providers want to have back: signatures of what a model thought, encrypted reasoning.

It stands in the journal as the library writes it, without the texts and arguments, which stand beside it and are
put back into their places. What can't be put back whole is left out: a conversation goes on without it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
)

from agent.rules.json_text import dump_text
from agent.rules.parts import ProviderState

log = logging.getLogger(__name__)

#: In characters, of one reply: more would weigh on each fold of the run.
SIZE_LIMIT = 200_000
#: Of a reply, what says whose its parts are.
_KEPT = (
    *("kind", "parts", "model_name", "provider_name", "provider_url", "canonical_system"),
    *("provider_details", "provider_response_id", "finish_reason"),
)
_REPLIES: TypeAdapter[list[ModelMessage]] = ModelMessagesTypeAdapter
_BETWEEN = "\n\n"


def keep(response: ModelResponse, model: str) -> ProviderState | None:
    """What is to be had back of this reply of ``model``, if anything is."""
    if not any(map(_is_more_than_words, response.parts)):
        return None
    bare = replace(response, parts=[_without_words(part) for part in response.parts])
    try:
        (dumped,) = _REPLIES.dump_python([bare], mode="json")
        message = {name: dumped[name] for name in _KEPT if dumped.get(name) is not None}
        size = len(dump_text(message))
    except ValueError as error:  # What is no JSON.
        log.warning("what %s wants back can't be kept: %s", model, error)
        return None
    if size > SIZE_LIMIT:
        log.warning("%s wants %d characters back, which is too much to keep", model, size)
        return None
    lengths = tuple(len(p.content) for p in response.parts if isinstance(p, TextPart))
    lib = f"pydantic-ai {version('pydantic-ai-slim')}"
    return ProviderState(lib=lib, model=model, message=message, texts=lengths)


def give_back(
    state: ProviderState | None, plain: ModelResponse, model: str
) -> ModelResponse | None:
    """The reply ``plain``, which has nothing but words, with what was kept of it; None where there is nothing,
    or nothing for ``model``."""
    if state is None or state.model != model:
        return None
    try:
        (kept,) = _REPLIES.validate_python([state.message])
    except ValidationError as error:
        # Without what it says: that is a conversation's.
        why = error.errors(include_input=False, include_url=False)[0]["type"]
        log.warning("what %s wants back, by %s, can't be read: %s", model, state.lib, why)
        return None
    if not isinstance(kept, ModelResponse):
        return None
    whole = replace(kept, parts=list(_with_words(kept.parts, plain, state.texts)))
    return whole if _says_the_same(whole, plain) else None


def _is_more_than_words(part: ModelResponsePart) -> bool:
    if isinstance(part, TextPart | ToolCallPart):
        return bool(part.provider_details)
    return True


def _without_words(part: ModelResponsePart) -> ModelResponsePart:
    match part:
        case TextPart():
            return replace(part, content="")
        case ToolCallPart():
            return replace(part, args=None)
        case _:
            return part


def _with_words(
    parts: Sequence[ModelResponsePart], plain: ModelResponse, lengths: Iterable[int]
) -> Iterator[ModelResponsePart]:
    text, calls, left = plain.text or "", iter(plain.tool_calls), iter(lengths)
    at, before = -len(_BETWEEN), None
    for part in parts:
        match part:
            case TextPart():
                at += 0 if isinstance(before, TextPart) else len(_BETWEEN)
                length = next(left, 0)
                yield replace(part, content=text[at : at + length])
                at += length
            case ToolCallPart():
                call = next(calls, None)
                yield replace(part, args=str(call.args)) if call else part
            case _:
                yield part
        before = part


def _says_the_same(whole: ModelResponse, plain: ModelResponse) -> bool:
    def calls(response: ModelResponse) -> list[tuple[object, ...]]:
        return [(call.tool_name, call.tool_call_id, call.args) for call in response.tool_calls]

    return (whole.text or "").strip() == (plain.text or "").strip() and calls(whole) == calls(plain)
