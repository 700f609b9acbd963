"""What people have said since something was asked: whoever decides it on its card is to know. It decides nothing, and
rings nobody. mrkdwn.

The words stand only where whoever reads them sees the thread as well, which is in its own channel. Elsewhere it is told
who wrote: those who decide are not always let into the conversation, and nobody who speaks there expects them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.rules.counted import counted
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState, Said
from bot.slack.cards.blocks import Block, section
from bot.slack.cards.like_a_decision import is_like_a_yes
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.text import quoted
from bot.slack.ids import Place

#: Of the newest words; they are to be seen, and stand in full in the thread.
_WORDS: Final = 80
_NAMED: Final = 3
_SINCE: Final = "💬 Said since this was asked: "
#: Where the line stands: below its card's heading and what is asked; of an agent's question above who may answer it.
_BELOW_ITS_HEAD: Final = 2
_ABOVE_WHO_MAY: Final = -2


def said_since(asked: Sequence[Approval], state: RunState) -> tuple[Said, ...]:
    """What the run was told, as it reads now, since the first of these was asked that still waits; the newest last. A
    mere yes is no objection: it would only stand before one."""
    waiting = [one for one in asked if one.status == "pending"]
    if not waiting:
        return ()
    since = min(_first_asked(one, state) for one in waiting)
    said = [
        one
        for one in state.said
        if one.news > since and one.ref not in state.deleted and not is_like_a_yes(one.text)
    ]
    return tuple(sorted(said, key=lambda one: one.news))


def is_talked_of(asked: Sequence[Approval], state: RunState) -> bool:
    """Do people only talk of them: do all of these wait, and has something been said since?"""
    return all(one.status == "pending" for one in asked) and bool(said_since(asked, state))


def is_read_in(channel: str | None, state: RunState) -> bool:
    """Does whoever reads what stands in this channel see the run's thread, too?"""
    place = Place.of(state.place)
    return place is not None and place.channel == channel


def said_since_text(
    asked: Sequence[Approval], state: RunState, words_at: Mapping[str, str], *, with_words: bool
) -> str | None:
    """Who has said something since, and with the newest words where these may be read, on one line; None where nobody
    has. ``words_at`` links to what people wrote, by its ref."""
    said = said_since(asked, state)
    if not said:
        return None
    newest, *others = reversed(said)
    told = (
        [
            f"{name_principal(newest.by)}: {_words(newest)}",
            *([f"and {len(others)} more by {_names(others)}"] if others else []),
        ]
        if with_words
        else [f"{counted(len(said), 'message')} in its thread, by {_names([newest, *others])}"]
    )
    url = words_at.get(newest.ref or "")
    links = [f"<{url}|look at {'it' if with_words or not others else 'the newest'}>"] if url else []
    return " · ".join([f"{_SINCE}{told[0]}", *told[1:], *links])


def said_since_blocks(
    asked: Sequence[Approval], state: RunState, words_at: Mapping[str, str], *, with_words: bool
) -> list[Block]:
    """The same as one block, or none."""
    text = said_since_text(asked, state, words_at, with_words=with_words)
    return [section(text)] if text else []


def with_said(
    card: Message,
    asked: Sequence[Approval],
    state: RunState,
    words_at: Mapping[str, str],
    *,
    with_words: bool,
) -> Message:
    """The card of these with that line, as long as one of them waits. When it is posted it names nobody: that rings."""
    blocks = said_since_blocks(asked, state, words_at, with_words=with_words)
    if not blocks:
        return card
    unnamed = _unnamed(said_since(asked, state), with_words=with_words)
    first = card.first
    is_question = asked[0].kind == "question"
    at = _ABOVE_WHO_MAY if is_question else _BELOW_ITS_HEAD
    # Whom a channel's rule calls stands in its head.
    at_first = at if is_question else at + len(first.blocks) - len(card.blocks)
    return replace(
        card,
        text=f"{card.text} · {said_since_text(asked, state, {}, with_words=with_words)}",
        blocks=_with(card.blocks, blocks, at),
        announce=Announcement(
            first.text, _with(first.blocks, [section(unnamed)], at_first), is_complete=False
        ),
        plain=f"{card.without_blocks} {unnamed}",
    )


def _with(blocks: tuple[Block, ...], line: Sequence[Block], at: int) -> tuple[Block, ...]:
    return (*blocks[:at], *line, *blocks[at:])


def _unnamed(said: Sequence[Said], *, with_words: bool) -> str:
    if not with_words:
        return f"{_SINCE}{counted(len(said), 'message')} in its thread"
    more = f" · and {len(said) - 1} more" if len(said) > 1 else ""
    return f"{_SINCE}{_words(said[-1])}{more}"


def _names(said: Sequence[Said]) -> str:
    names = list(dict.fromkeys(name_principal(one.by) for one in said))
    if len(names) > _NAMED + 1:
        names[_NAMED:] = [f"{len(names) - _NAMED} more people"]
    return join_words(names)


def _words(said: Said) -> str:
    return f"“{quoted(said.text, _WORDS)}”"


def _first_asked(approval: Approval, state: RunState) -> int:
    """The seq at which it was asked for the first time: what was said then of the call still stands when it is asked
    again."""
    call_id, kind = approval.requested.call_id, approval.kind
    same = [
        one.seq
        for one in state.approvals.values()
        if call_id is not None and one.requested.call_id == call_id and one.kind == kind
    ]
    return min([approval.seq, *same])
