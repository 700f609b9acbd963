"""What is said where a run did not begin: to whoever asked for it, or in place of what was to open its thread."""

from __future__ import annotations

from typing import Final

from bot.slack.cards.blocks import plain_section
from bot.slack.cards.message import Message
from bot.slack.cards.text import one_line

_NOT_THERE: Final = frozenset({"not_in_channel", "channel_not_found"})
_INVITE: Final = (
    "Nothing was started: I'm not in this conversation, so I could not show you anything. "
    "Invite me with `/invite <@{bot}>` and ask again, or write to me directly."
)
_ELSEWHERE: Final = "Ask in another channel, or write to me directly."
_AGAIN: Final = "Please try again in a minute."
_WHY: Final = {
    "is_archived": f"this channel was archived. {_ELSEWHERE}",
    "is_inactive": f"this channel was archived. {_ELSEWHERE}",
    "is_read_only": f"nobody may write in this channel. {_ELSEWHERE}",
    "no_answer": f"Slack did not answer when your run was to be shown here. {_AGAIN}",
    "ratelimited": f"Slack lets me write no more here just now. {_AGAIN}",
    "unreachable": f"Slack can't be reached right now. {_AGAIN}",
}
_RESTRICTED: Final = "restricted_action"
_INTERRUPTED: Final = (
    "⏹ Not started: I was interrupted before this began, and nothing was done. Ask for it again."
)


def not_opened(code: str, bot_user: str) -> str:
    """To whoever asked, where the message that opens the thread can't stand; ``code`` is Slack's word for why."""
    if code in _NOT_THERE:
        return _INVITE.format(bot=bot_user)
    if code.startswith(_RESTRICTED):
        why = f"I may not write in this channel, so I could not show you anything. {_ELSEWHERE}"
    elif code in _WHY:
        why = _WHY[code]
    else:
        why = (
            f"Slack does not let me write here ({one_line(code, 80)}). {_AGAIN} If it stays like this,"
            " tell whoever runs this bot."
        )
    return f"Nothing was started: {why}"


def not_started_message() -> Message:
    """In place of what opened the thread."""
    return Message(text=_INTERRUPTED, blocks=(plain_section(_INTERRUPTED),))
