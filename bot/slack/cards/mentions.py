"""Mentions, people and times in mrkdwn. Only our own code calls these; data never becomes one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from agent.rules.ids import Principal
from agent.rules.listing import either
from agent.rules.parts import Approvers, Word
from bot.slack.cards.text import quoted
from bot.slack.ids import SlackUser

_ID = re.compile(r"[A-Z0-9_]{1,80}")
_MENTIONS_LIMIT = 20
ANY_MEMBER: Final = "any full member of this workspace"


def mention_user(user: str) -> str:
    """``<@U…>``; what is no id is only named."""
    return f"<@{user}>" if _ID.fullmatch(user) else quoted(user, 80)


def mention_group(group: str) -> str:
    """``<!subteam^S…>``; what is no id is only named."""
    return f"<!subteam^{group}>" if _ID.fullmatch(group) else quoted(group, 80)


def those_asked(approvers: Approvers, requesters: Iterable[Principal]) -> Approvers:
    """The same without all who asked for the run, where they can't decide it. A group that they are in
    stays."""
    if approvers.requester:
        return approvers
    who = {user.user for one in requesters if (user := SlackUser.of(one)) is not None}
    others = tuple(one for one in approvers.users if one not in who)
    return approvers.model_copy(update={"users": others})


def mention_each_decider(approvers: Approvers) -> list[str]:
    """Everybody who may decide, one by one."""
    return [*map(mention_group, approvers.all_groups), *map(mention_user, approvers.users)]


def mention_deciders(approvers: Approvers) -> str:
    """Everybody who may decide, so that their phones ring; the operator needs no mention."""
    named = mention_each_decider(approvers)
    more = len(named) - _MENTIONS_LIMIT
    return " ".join(named[:_MENTIONS_LIMIT]) + (f" and {more} more" if more > 0 else "")


def name_principal(principal: Principal) -> str:
    """Who that is: a mention, "the operator", or the name."""
    if user := SlackUser.of(principal):
        return mention_user(user.user)
    kind, _, name = principal.partition(":")
    return "the operator" if kind == "cli" else quoted(name or principal, 80)


def name_decider(word: Word) -> str:
    """Whose word it is, and who says so where that is somebody else."""
    by = name_principal(word.by)
    if word.claimed_by is None or word.claimed_by == word.by:
        return by
    return f"{by} (so says {name_principal(word.claimed_by)})"


def when(at: datetime) -> str:
    """The time as each reader's own clock shows it: "today 13:07"."""
    return _date(at, "{date_short_pretty} {time}")


def to_the_second(at: datetime) -> str:
    """The same with its seconds."""
    return _date(at, "{date_short_pretty} {time_secs}")


def time_of_day(at: datetime) -> str:
    return _date(at, "{time}")


def name_choice(approvers: Approvers) -> str:
    """Those of whom some may decide: ``@finance, @Bob or @Frank``; at least one is named."""
    named = mention_each_decider(approvers)
    more = len(named) - _MENTIONS_LIMIT
    return either([*named[:_MENTIONS_LIMIT], *([f"{more} more"] if more > 0 else [])])


def _date(at: datetime, form: str) -> str:
    return f"<!date^{int(at.timestamp())}^{form}|{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC>"
