"""The grants that somebody may see, each with a button that takes it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(frozen=True, slots=True)
class ToolsGrant:
    """A grant, and its tool as people know it; without a title by its name alone, as where nobody has it."""

    grant: Grant
    title: str = ""
    #: The JSON schema of the tool's arguments.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        given = self.grant.given
        words = "whatever the values"
        if given.where:
            words = summarize(describe_arguments(given.where, self.parameters))
        return f"{quoted(self.title or given.tool, 80)}: {quoted(words, 240)}"


def grants_text(grants: Sequence[ToolsGrant]) -> str:
    """For where blocks can't be shown."""
    if not grants:
        return _NONE
    lines = [
        f"• {quoted(one.title or one.grant.given.tool, 80)} · {_until(one.grant)} · {quoted(one.grant.id, 80)}"
        for one in grants[:_SHOWN]
    ]
    return "\n".join([_HEADING, *lines, *_more(grants)])


def grants_blocks(grants: Sequence[ToolsGrant]) -> tuple[Block, ...]:
    """Oldest first."""
    if not grants:
        return (section(_NONE),)
    made = [section(_HEADING)]
    for number, one in enumerate(grants[:_SHOWN], 1):
        about = one_line(one.title or one.grant.given.tool, 60)
        take_back = button("Revoke", f"{GRANT_REVOKE}:{number}", one.grant.id, about=about)
        made.append(section(_line(one)) | {"accessory": take_back})
    return (*made, *map(section, _more(grants)))


def revoked_text(one: ToolsGrant) -> str:
    """What was taken back, and what follows."""
    return f"Revoked: {one.what} is asked about again. What has begun goes on."


def _more(grants: Sequence[ToolsGrant]) -> list[str]:
    more = len(grants) - _SHOWN
    return [f"… and {more} newer ones: `pilothouse grants` lists all."] if more > 0 else []


def _until(grant: Grant) -> str:
    over = grant.given.expires_at
    return f"until {when(over)}" if over else "until it is revoked"


def _line(one: ToolsGrant) -> str:
    grant, given = one.grant, one.grant.given
    where = "one run" if given.run_id else "one thread" if given.session else "all of its runs"
    reason = f" · {quoted(given.reason, 120)}" if given.reason.strip() else ""
    return (
        f"*{one.what}* · {where} of {quoted(given.agent, 60)} · {_until(grant)} · by "
        f"{name_decider(word_of(given))} {when(grant.at)}{reason} · {quoted(grant.id, 80)}"
    )
