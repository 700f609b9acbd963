"""Questions that are put elsewhere than in their run's thread: what stands there, and what in the thread."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, context, mrkdwn, section
from bot.slack.cards.deciding import title_in_words, title_of
from bot.slack.cards.expired import silence_blocks, silence_words
from bot.slack.cards.mentions import mention_user, name_principal, when
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.question import question_of
from bot.slack.cards.telling_apart import what_tells_apart
from bot.slack.cards.text import escape, quoted
from bot.slack.cards.together import SharedCard, shared_card
from bot.slack.cards.undeliverable import what_is_wrong_there
from bot.slack.cards.votes import name_deciders
from bot.slack.ids import Place

_MENTION: Final = re.compile(r"<@[^<>]*>")
_GROUP: Final = re.compile(r"<!subteam\^[^<>]*>")
_NAMED: Final = 5


def is_channel(place: str) -> bool:
    """Is it a channel's id, and not a user's?"""
    return place.startswith(("C", "G"))


def announced(approval: Approval, card: Message) -> Message:
    """The card as its rule has people told of it."""
    match approval.requested.delivery.notify:
        case "mention":
            return card
        case "channel":
            text = f"{card.text} · <!channel>"
            first = below_its_head(card.blocks, section(f"<!channel> {card.text}"))
            plain = f"<!channel> {_unnamed(card.plain or card.text)}"
            called = replace(card, announce=Announcement(text, first), plain=plain)
            return called if _waits(approval) else card
        case "dm" | "none":
            return quiet(card)


def quiet(message: Message) -> Message:
    """The same, ringing nobody when it is posted: names that would are put in by an edit."""
    text, blocks = _unnamed(message.text), tuple(map(_without_names, message.blocks))
    is_complete = (text, blocks) == (message.text, message.blocks)
    first = Announcement(text, blocks, is_complete=is_complete)
    plain = None if message.plain is None else _unnamed(message.plain)
    return replace(message, announce=first, plain=plain)


def below_its_head(blocks: tuple[Block, ...], note: Block) -> tuple[Block, ...]:
    """What is to be read before anything is decided."""
    return (*blocks[:1], note, *blocks[1:])


def with_way_back(card: Message, state: RunState, link: str | None) -> Message:
    """The card as it stands in another channel: it leads to its thread."""
    back = (_way_back(state, link),)
    announce = card.announce and replace(card.announce, blocks=(*card.announce.blocks, *back))
    return replace(card, blocks=(*card.blocks, *back), announce=announce)


def card_for_one(card: Message, state: RunState, link: str | None) -> Message:
    """The same for one person, directly: it rings them, and whoever else it names is not there to be rung."""
    return replace(card, blocks=(*card.blocks, _way_back(state, link)), announce=None)


def pointer_message(approval: Approval, places: Sequence[str]) -> Message:
    """In the thread, while it waits elsewhere."""
    return _pointer(f"{_what(approval)} waits for {_what_it_waits_for(approval)}", places)


def shared_pointer_message(shared: SharedCard, places: Sequence[str]) -> Message:
    """The same of calls that share a card, as long as one of them waits."""
    return _pointer(_several_wait(len(shared.pending), len(shared.members)), places)


def _several_wait(waiting: int, every: int) -> str:
    some = f"{waiting} of {every}" if waiting < every else f"{every}"
    return f"{some} actions {'waits' if waiting == 1 else 'wait'} for a decision"


def _pointer(what: str, places: Sequence[str]) -> Message:
    """It rings nobody when it is posted, and names nobody then: those who have it directly are counted."""
    words, first = (f"⏸ {what} {say(places)}." for say in (in_words, _in_words_unnamed))
    announce = Announcement(first, (section(first),), is_complete=first == words)
    return Message(text=words, blocks=(section(words),), announce=announce)


def missed(approval: Approval, card: Message, code: str | None) -> Message:
    """The card in the thread after all: it could not be put where its rule says."""
    where = approval.requested.delivery.card
    if not is_channel(where):
        why = "I could write to nobody who may decide it directly"
    else:
        wrong = what_is_wrong_there(code) if code else "it can't be posted there"
        why = f"it was to be asked in <#{where}>, and {escape(wrong)}"
    note = section(f"⚠️ This is asked here, because {why}.")
    announce = card.announce and replace(
        card.announce, blocks=below_its_head(card.announce.blocks, note)
    )
    return replace(card, blocks=below_its_head(card.blocks, note), announce=announce)


def notice_message(approval: Approval, state: RunState, link: str | None) -> Message:
    """To one who may decide, directly: where the question stands. As long as it waits."""
    what = f"{_what(approval)} waits for {_what_it_waits_for(approval)}"
    return _notice(what, f"{_verb(approval)} it", state, link)


def shared_notice_message(asked: Sequence[Approval], state: RunState, link: str | None) -> Message:
    """The same of several on one card, as long as one of them waits."""
    waiting = sum(map(_waits, asked))
    return _notice(_several_wait(waiting, len(asked)), "decide what waits", state, link)


def _notice(what: str, verb: str, state: RunState, link: str | None) -> Message:
    pending = "`/agent pending` tells how to decide it"
    where = f"<{link}|Look at it>; where you can't, {pending}" if link else pending
    asker = name_principal(state.requester)
    words = f"{what}. You may {verb}. {asker}'s run asks. {where}."
    return Message(text=words, blocks=(section(words),))


def past_shared_notice_message(asked: Sequence[Approval]) -> Message:
    """In place of that, once nobody is waited for: how each ended."""
    ends = "; ".join(f"{_what(one)} {_how_it_ended(one)}" for one in asked[:_NAMED])
    more = f"; and {len(asked) - _NAMED} more" if len(asked) > _NAMED else ""
    words = f"{len(asked)} actions waited for a decision: {ends}{more}."
    return Message(text=words, blocks=(section(words),))


def past_notice_message(approval: Approval) -> Message:
    """In place of that, once nobody is waited for: how it ended."""
    words = (
        f"{_what(approval)} waited for {_what_it_waits_for(approval)}: {_how_it_ended(approval)}."
    )
    return Message(text=words, blocks=(section(words),))


def closed_message(approval: Approval, state: RunState) -> Message:
    """Below a card that can't be changed any more, once nobody is waited for: what became of the question. It is
    asked again from here."""
    # Of what nobody decided in time that says so.
    closed_at = approval.closed_at if approval.status != "expired" else None
    at = f" {when(closed_at)}" if closed_at else ""
    call_id = approval.requested.call_id
    which = what_tells_apart(state.own_calls).get(call_id, "") if call_id else ""
    which = f" ({quoted(which, 60)})" if which else ""
    shared = shared_card(approval.id, state)
    number = f"{shared.number_of(approval.id)}. " if shared else ""
    words = (
        f"{number}{_what(approval)}{which} waits for {_what_it_waits_for(approval)} no more: {_how_it_ended(approval)}{at}."
        " Slack does not let me edit its message above: if that still has buttons, they do nothing now."
    )
    again = (
        silence_blocks(approval, state, about=title_of(approval))
        if approval.status == "expired"
        else []
    )
    return Message(text=words, blocks=(section(words), *again))


def in_words(places: Iterable[str]) -> str:
    """``in #approvals``, ``in direct messages of @Bob and @Frank``"""
    places = list(places)
    people = [mention_user(one) for one in places if not is_channel(one)]
    more = [f"{len(people) - _NAMED} more"] if len(people) > _NAMED else []
    words = [f"in <#{one}>" for one in places if is_channel(one)]
    if people:
        words.append(f"in direct messages of {join_words([*people[:_NAMED], *more])}")
    return join_words(words)


def _in_words_unnamed(places: Sequence[str]) -> str:
    """``in #approvals``, ``in direct messages of 2 people``"""
    channels = [one for one in places if is_channel(one)]
    count = len(places) - len(channels)
    of_whom = "1 person" if count == 1 else f"{count} people"
    return join_words(
        [
            *([in_words(channels)] if channels else []),
            *([f"in direct messages of {of_whom}"] if count else []),
        ]
    )


def where_it_is(places: Iterable[str]) -> str:
    """Of a card, where mentions can't be had; the message in its place says more."""
    is_in_channel = any(is_channel(one) for one in places)
    return "card in another channel" if is_in_channel else "card in direct messages"


def _what_it_waits_for(approval: Approval) -> str:
    return "an answer" if approval.kind == "question" else "a decision"


def _verb(approval: Approval) -> str:
    return "answer" if approval.kind == "question" else "decide"


def _how_it_ended(approval: Approval) -> str:
    match approval.status:
        case "approved" | "denied" | "steered" | "answered" | "settled":
            return f"{approval.status} by {name_deciders(approval)}"
        case "expired":
            words = silence_words(approval)
            return f"{words[0].lower()}{words[1:]}"
        case "superseded":
            return "replaced by a newer question"
        case _:
            return "nobody has to decide it any more"


def _waits(approval: Approval) -> bool:
    return approval.status == "pending"


def _way_back(state: RunState, link: str | None) -> Block:
    place = Place.of(state.place)
    where = "" if place is None or place.channel.startswith("D") else f" in <#{place.channel}>"
    thread = f" · <{link}|its thread>" if link else ""
    return context(mrkdwn(f"For {name_principal(state.requester)}'s run{where}{thread}"))


def _what(approval: Approval) -> str:
    if approval.kind == "question":
        return f"“{quoted(question_of(approval), 120)}”"
    return f"“{title_in_words(approval)}”"


def _unnamed(text: str) -> str:
    """Data is escaped: whatever looks like a mention is one of ours."""
    return _GROUP.sub("a group", _MENTION.sub("somebody", text))


def _without_names(block: Block) -> Block:
    named: Any = _stripped(block)
    return dict(named)


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            return {**value, "text": _unnamed(value["text"])}
        return {key: _stripped(one) for key, one in value.items()}
    return [_stripped(one) for one in value] if isinstance(value, list) else value
