"""The newest of a long thread, in few looks: Slack shows a thread from its oldest end.

The thread is looked at from a moment that is guessed by how fast people spoke in what has been seen. Where more stands
behind it than is shown at once, the guess was too early, and better known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent.rules.given import QUOTED_COUNT
from bot.slack import fields

Shown = Mapping[str, Any]

_MOST_PAGES: Final = 5
#: Of what is shown at once, so much is looked for the next time: it should all be there.
_MOST_OF_A_PAGE: Final = 0.75


@dataclass(frozen=True, slots=True)
class Page:
    """What stands between two moments, from the first on; ``is_all`` of it?"""

    messages: tuple[Shown, ...]
    is_all: bool


@dataclass
class Read:
    """What was read of a thread, oldest first."""

    messages: list[Shown] = field(default_factory=list)
    #: Is nothing missing behind the first of them?
    is_whole: bool = False
    #: Is something missing before that?
    is_cut: bool = False


#: What stands after the first of two moments and before the second; the thread's first message may come along.
ReadBetween = Callable[[str, str], Awaitable[Page]]


async def read_newest(read_between: ReadBetween, read: Read, after: str, before: str) -> None:
    """All of it into ``read``, or the newest, as far as it is found; what was read also counts where ``read_between``
    raises."""
    page = await read_between(after, before)
    read.messages, read.is_whole = list(page.messages), page.is_all
    if page.is_all:
        return
    seen = _within(page, after)
    oldest, low = read.messages, _last(seen, after)
    tail, until, since = list[Shown](), before, _guess(seen, _said_last(page, before))
    for _ in range(_MOST_PAGES - 1):
        since = max(low, since, key=float)
        page = await read_between(since, until)
        found = _within(page, since)
        if page.is_all:
            tail = [*found, *tail]
            until, since = since, f"{(float(low) + float(since)) / 2:.6f}"
        else:
            is_next = since == low
            oldest = [*oldest, *found] if is_next else found
            read.is_cut |= not is_next
            low, since = _last(found, low), _guess(found, until)
        _take(read, oldest, tail, is_all=until == low)
        if until == low or len(tail) >= QUOTED_COUNT:
            return


def _take(read: Read, oldest: list[Shown], tail: list[Shown], *, is_all: bool) -> None:
    """The newest that are known: where nothing is known of the end, those that go on from the oldest end."""
    if is_all:
        read.messages, read.is_whole = [*oldest, *tail], True
    elif tail:
        read.messages, read.is_whole, read.is_cut = tail, True, True
    else:
        read.messages = oldest


def _within(page: Page, after: str) -> list[Shown]:
    return [one for one in page.messages if float(str(one.get("ts"))) > float(after)]


def _last(seen: list[Shown], otherwise: str) -> str:
    return str(seen[-1].get("ts")) if seen else otherwise


def _said_last(page: Page, before: str) -> str:
    """When: the thread's first message says so."""
    first = page.messages[0] if page.messages else {}
    said = fields.timestamp_or_none(first.get("latest_reply"))
    return min(said, before, key=float) if said is not None else before


def _guess(seen: list[Shown], until: str) -> str:
    """Since when about so much was said up to ``until``, if people went on as in what was seen."""
    if not seen:
        return until
    took = float(str(seen[-1].get("ts"))) - float(str(seen[0].get("ts")))
    return f"{float(until) - took * _MOST_OF_A_PAGE:.6f}"
