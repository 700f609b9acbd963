"""What somebody is told who has started as many runs as one person may for now. mrkdwn."""

from __future__ import annotations

from datetime import timedelta

from agent.errors import TooManyStarts
from bot.slack.cards.mentions import when
from bot.slack.cards.text import quoted

_MINUTE = timedelta(minutes=1)


def too_many_starts_text(error: TooManyStarts) -> str:
    """Why nothing was started, and when they can start the next one."""
    runs = "1 run" if error.most == 1 else f"{error.most:,} runs"
    # Times are shown in minutes: in the one that is named it has to be free.
    begun = error.free_at.replace(second=0, microsecond=0)
    free_at = begun if begun == error.free_at else begun + _MINUTE
    return (
        f"Nothing was started: you have started {runs} of {quoted(error.agent, 40)} in the last hour, and one"
        f" person may start no more; again at {when(free_at)}."
    )
