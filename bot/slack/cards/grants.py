"""The grants that somebody may see, each with a button that takes it back."""

from __future__ import annotations

from collections.abc import Sequence

from agent.rules.grants import word_of
from agent.rules.standing import Grant
from bot.slack.cards.arguments import describe_arguments, summarize
from bot.slack.cards.blocks import Block, button, section
from bot.slack.cards.mentions import name_decider, when
from bot.slack.cards.text import one_line, quoted
from bot.slack.ids import GRANT_REVOKE

_SHOWN = 10
_NONE = "Nothing that you can see is allowed beforehand."
_HEADING = "*Allowed beforehand:* what needs no asking until it is over, or you take it back."


def grants_text(grants: Sequence[Grant]) -> str:
    """For where blocks can't be shown."""
    if not grants:
        return _NONE
    lines = [
        f"• {quoted(one.given.tool, 80)} · {_until(one)} · {quoted(one.id, 80)}"
        for one in grants[:_SHOWN]
    ]
    return "\n".join([_HEADING, *lines, *_more(grants)])


def grants_blocks(grants: Sequence[Grant]) -> tuple[Block, ...]:
    """Oldest first."""
    if not grants:
        return (section(_NONE),)
    made = [section(_HEADING)]
    for number, grant in enumerate(grants[:_SHOWN], 1):
        take_back = button(
            "Revoke", f"{GRANT_REVOKE}:{number}", grant.id, about=one_line(grant.given.tool, 60)
        )
        made.append(section(_line(grant)) | {"accessory": take_back})
    return (*made, *map(section, _more(grants)))


def revoked_text(grant: Grant) -> str:
    """What was taken back, and what follows."""
    return f"Revoked: {_what(grant)} is asked about again. What has begun goes on."


def _more(grants: Sequence[Grant]) -> list[str]:
    more = len(grants) - _SHOWN
    return [f"… and {more} newer ones: `pilothouse grants` lists all."] if more > 0 else []


def _until(grant: Grant) -> str:
    over = grant.given.expires_at
    return f"until {when(over)}" if over else "until it is revoked"


def _line(grant: Grant) -> str:
    given = grant.given
    where = "one run" if given.run_id else "one thread" if given.session else "all of its runs"
    reason = f" · {quoted(given.reason, 120)}" if given.reason.strip() else ""
    return (
        f"*{_what(grant)}* · {where} of {quoted(given.agent, 60)} · {_until(grant)} · by "
        f"{name_decider(word_of(given))} {when(grant.at)}{reason} · {quoted(grant.id, 80)}"
    )


def _what(grant: Grant) -> str:
    given = grant.given
    values = (
        summarize(describe_arguments(given.where, {})) if given.where else "whatever the values"
    )
    return f"{quoted(given.tool, 80)}: {quoted(values, 240)}"
