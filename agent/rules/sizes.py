"""How many tokens a text may be: an estimate that errs on the high side, for whatever model.

Models cut texts into tokens each in its own way, and none of those is known here. What is counted is what costs the
most of them: digits one each, signs one for two, letters of other scripts one for two bytes of UTF-8, all else one for
three characters, where English has about four.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.rules.json_text import dump_text
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage

#: What each message, and each call, costs beside its text.
FRAME = 8

_DIGITS = "0123456789"
_SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_NO_DIGITS = str.maketrans("", "", _DIGITS)
_NO_SIGNS = str.maketrans("", "", _SIGNS)


def tokens_of(text: str) -> int:
    """So many at most, as far as can be told."""
    wordy = text.translate(_NO_DIGITS)
    digits = len(text) - len(wordy)
    plain = wordy.translate(_NO_SIGNS)
    signs = len(wordy) - len(plain)
    if plain.isascii():
        return digits + _up(signs, 2) + _up(len(plain), 3)
    encoded = len(plain.encode("utf-8", "replace"))
    ascii_only = len(plain.encode("ascii", "ignore"))
    return digits + _up(signs, 2) + _up(ascii_only, 3) + _up(encoded - ascii_only, 2)


def tokens_of_messages(messages: Iterable[Message]) -> int:
    return sum(map(_of_message, messages))


def _of_message(message: Message) -> int:
    match message:
        case UserMessage(text=text):
            return FRAME + tokens_of(text)
        case ToolMessage():
            named = tokens_of(message.tool) + tokens_of(message.model_call_id)
            return FRAME + named + tokens_of(message.output)
        case AssistantMessage(text=text, calls=calls, provider=provider):
            said = FRAME + tokens_of(text)
            for call in calls:
                named = tokens_of(call.tool) + tokens_of(call.model_call_id)
                said += FRAME + named + tokens_of(call.arguments)
            return said + (tokens_of(dump_text(provider.message)) if provider else 0)


def _up(count: int, by: int) -> int:
    return -(-count // by)
