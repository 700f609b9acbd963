"""What somebody is told who has started as many runs as one person may for now. mrkdwn, but for a field."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.errors import TooManyStarts
from agent.rules.counted import counted
from bot.slack.cards.mentions import when
from bot.slack.cards.text import one_line, quoted

_MINUTE = timedelta(minutes=1)


def too_many_starts_text(error: TooManyStarts) -> str:
    """Why nothing was started, and when they can start the next one."""
    # Times are shown in minutes: in the one that is named it has to be free.
    begun = error.free_at.replace(second=0, microsecond=0)
    free_at = begun if begun == error.free_at else begun + _MINUTE
    return f"{_why(error, quoted(error.agent, 40))}; again at {when(free_at)}."


def too_many_starts_in_plain(error: TooManyStarts, now: datetime) -> str:
    """The same at a modal's field, which shows no time as whoever reads it has it."""
    minutes = max(1, -((now - error.free_at) // _MINUTE))
    return f"{_why(error, one_line(error.agent, 40))}; again in {minutes} min."


def _why(error: TooManyStarts, agent: str) -> str:
    runs = counted(error.most, "run")
    return (
        f"Nothing was started: you have started {runs} of {agent} in the last hour, and one person may start no"
        " more"
    )
