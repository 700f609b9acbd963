"""Why nobody is put to work on a message, in words that can stand at a modal's field. Each completes "Nothing was
started: …"."""

from __future__ import annotations

from typing import Final

from agent.errors import (
    ConfigError,
    KeyReused,
    RunEnded,
    StoreError,
    StoreUnavailable,
    TooLong,
)
from bot.slack.answering import SendAgain
from bot.slack.cards.text import one_line
from bot.slack.people import NotEligible
from bot.slack.quoting.pages import IS_GONE, NotRead
from bot.slack.shortcut.conversation import NothingToRead, SaysOtherwise

#: What keeps somebody from asking about a message.
REFUSALS: Final = (
    ConfigError,
    KeyReused,
    NotEligible,
    NotRead,
    NothingToRead,
    RunEnded,
    SaysOtherwise,
    SendAgain,
    StoreError,
    TooLong,
)
_NOT_THERE: Final = frozenset({"channel_not_found", "not_in_channel"})
_INVITE: Final = "I'm not in this conversation. Invite me there with /invite, and try again."
_IS_GONE: Final = "this message is not there any more."
_NOT_SHOWN: Final = "Slack did not show me the message just now. Please try again in a moment."
_NEVER_SHOWN: Final = (
    "Slack does not let me read this message ({code}). Please tell whoever runs this bot."
)
_SAYS_OTHERWISE: Final = (
    "this message was edited since you opened this form. Now it says: “{text}”. Choose the shortcut again if you still"
    " want to ask about it."
)
#: A field's message has room for little.
_EXCERPT: Final = 300
_NO_TEXT: Final = "there is no text in this message that could be handed on."
_NO_STORE: Final = "our store can't be reached right now. Please try again in a minute."
_NOT_YET: Final = "it can't be told yet which run this thread is of. Please try again in a moment."
_UNREADABLE: Final = "the run in this thread can't be read by the version that runs now."
_ENDS: Final = "the run in this thread is ending. Please try again when it has."
_OTHER_WORDS: Final = (
    "this form has been sent off already, with other words. Choose the shortcut again."
)


def is_elsewhere(error: NotRead) -> bool:
    """Are we not where the message is?"""
    return error.code in _NOT_THERE


def why_not(error: Exception) -> str:
    """``error`` is one of ``REFUSALS``."""
    match error:
        case NotEligible(why=why):
            return f"{why}."
        case NotRead():
            return _INVITE if is_elsewhere(error) else _not_read(error)
        case NothingToRead():
            return _NO_TEXT
        case SaysOtherwise(text=text):
            return _SAYS_OTHERWISE.format(text=one_line(text, _EXCERPT))
        case StoreUnavailable():
            return _NO_STORE
        case SendAgain():
            return _NOT_YET
        case RunEnded():
            return _ENDS
        case KeyReused():
            return _OTHER_WORDS
        case TooLong(length=length, limit=limit):
            return f"that has {length:,} characters. Say it in at most {limit:,}."
        case ConfigError():
            return str(error)
        case _:
            return _UNREADABLE


def _not_read(error: NotRead) -> str:
    if error.code in IS_GONE:
        return _IS_GONE
    return _NEVER_SHOWN.format(code=error.code) if error.is_lasting else _NOT_SHOWN
