"""What people have said since something was asked: whoever decides it on its card is to know. It decides nothing, and
rings nobody. mrkdwn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.rules.state import Approval, RunState, Said
from bot.slack.cards.blocks import Block, section
from bot.slack.cards.like_a_decision import is_like_a_yes
from bot.slack.cards.mentions import join_words, name_principal
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.text import quoted

#: Of the newest words; they are to be seen, and stand in full in the thread.
_WORDS: Final = 80
_NAMED: Final = 3
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


def said_since_text(
    asked: Sequence[Approval], state: RunState, words_at: Mapping[str, str]
) -> str | None:
    """Who said what since, on one line; None where nobody did. ``words_at`` links to what people wrote, by its ref."""
    said = said_since(asked, state)
    if not said:
        return None
    newest, *others = reversed(said)
    names = list(dict.fromkeys(name_principal(one.by) for one in others))
    more = [f"{len(names) - _NAMED} more people"] if len(names) > _NAMED + 1 else []
    named = names[:_NAMED] if more else names
    url = words_at.get(newest.ref or "")
    return " · ".join(
        [
            f"💬 Said since this was asked: {name_principal(newest.by)}: {_words(newest)}",
            *([f"and {len(others)} more by {join_words([*named, *more])}"] if others else []),
            *([f"<{url}|look at it>"] if url else []),
        ]
    )


def said_since_blocks(
    asked: Sequence[Approval], state: RunState, words_at: Mapping[str, str]
) -> list[Block]:
    """The same as one block, or none."""
    text = said_since_text(asked, state, words_at)
    return [section(text)] if text else []


def with_said(
    card: Message, asked: Sequence[Approval], state: RunState, words_at: Mapping[str, str]
) -> Message:
    """The card of these with that line, as long as one of them waits. When it is posted it names nobody: that rings."""
    blocks = said_since_blocks(asked, state, words_at)
    if not blocks:
        return card
    unnamed = _unnamed(said_since(asked, state))
    first = card.first
    is_question = asked[0].kind == "question"
    at = _ABOVE_WHO_MAY if is_question else _BELOW_ITS_HEAD
    # Whom a channel's rule calls stands in its head.
    at_first = at if is_question else at + len(first.blocks) - len(card.blocks)
    return replace(
        card,
        text=f"{card.text} · {said_since_text(asked, state, {})}",
        blocks=_with(card.blocks, blocks, at),
        announce=Announcement(
            first.text, _with(first.blocks, [section(unnamed)], at_first), is_complete=False
        ),
        plain=f"{card.without_blocks} {unnamed}",
    )


def _with(blocks: tuple[Block, ...], line: Sequence[Block], at: int) -> tuple[Block, ...]:
    return (*blocks[:at], *line, *blocks[at:])


def _unnamed(said: Sequence[Said]) -> str:
    more = f" · and {len(said) - 1} more" if len(said) > 1 else ""
    return f"💬 Said since this was asked: {_words(said[-1])}{more}"


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
