"""What was said while calls waited for a decision: it decides nothing, and can be used as guidance. mrkdwn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from agent.rules.ids import ApprovalId
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState, Said
from bot.slack.cards.arguments import describe_arguments, summarize
from bot.slack.cards.blocks import (
    BUTTON_LIMIT,
    Block,
    actions,
    apart,
    button,
    context,
    mrkdwn,
    section,
)
from bot.slack.cards.deciding import title_of
from bot.slack.cards.like_a_decision import is_like_a_decision
from bot.slack.cards.mentions import name_decider, name_principal, when
from bot.slack.cards.message import Message
from bot.slack.cards.text import measure, one_line, plainly, quoted, shorten, show
from bot.slack.cards.together import shared_card
from bot.slack.ids import GUIDANCE_USE, numbered

#: The newest that can be used: people talk.
OPEN_LIMIT: Final = 3
#: Calls that one of them is offered for; the others can be steered on their cards.
CALLS_LIMIT: Final = 5
_SAID: Final = "said"
_QUOTED: Final = 300
#: What is longer is steered with on the card: whoever uses it is to see all of it.
_IN_FULL: Final = 2_500
_TITLE: Final = 50
#: Of a call's values, on a button.
_VALUES: Final = 40
#: Of what became of what was said so many lines are told.
_PAST_LIMIT: Final = 5
#: For whoever may have meant to decide.
DECIDES_NOTHING: Final = "This decides nothing: to approve or deny, use the buttons of {card}."
_WHAT_IT_IS: Final = (
    "Used as guidance by somebody who may decide, the call does not run, and the agent plans"
    " anew with it; else the agent is told it at its next step."
)
_KEPT: Final = "Kept for the agent's next step."
_HEARD: Final = "The agent has been told."
_DELETED: Final = "It was deleted."
_STOPPED: Final = "Not used: the run was stopped."


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that was said while calls waited for a decision."""

    said: Said
    #: The newest of these calls.
    about: ApprovalId
    #: The calls that it can guide now, and those that it has guided.
    open: tuple[Approval, ...] = ()
    used: tuple[Approval, ...] = ()
    is_deleted: bool = False

    @property
    def is_usable(self) -> bool:
        """As guidance a yes would take the call back: the contrary of what was meant."""
        about = " ".join(title_of(one) for one in self.open)
        return bool(self.open) and not is_like_a_decision(self.said.text, about)


@dataclass(frozen=True, slots=True)
class Note:
    """What was said while the same calls waited, oldest first: one message, however many people talk. It would else
    bury their card."""

    offers: tuple[Offer, ...]

    @property
    def key(self) -> str:
        """Of the message in the thread."""
        return f"guidance:{self.offers[0].about}"

    @property
    def open(self) -> tuple[Offer, ...]:
        return tuple(one for one in self.offers if one.open)

    def has(self, news: int | None) -> bool:
        """Does what was said so stand there?"""
        return any(one.said.news == news for one in self.offers)


def notes(state: RunState) -> tuple[Note, ...]:
    """All that was said while calls waited; of what can still be used only the newest few, and of what reads like a
    decision only what nothing else was said after."""
    found, left = list(_offers(state)), OPEN_LIMIT
    for index in reversed(range(len(found))):
        offer = found[index]
        left -= offer.is_usable
        is_shown = left >= 0 if offer.is_usable else index == len(found) - 1
        if not is_shown:
            found[index] = replace(offer, open=())
    about = dict[ApprovalId, list[Offer]]()
    for one in found:
        about.setdefault(one.about, []).append(one)
    return tuple(Note(tuple(them)) for them in about.values())


def _offers(state: RunState) -> Iterator[Offer]:
    deleted = [one for one in state.rewritten if one.ref in state.deleted]
    for said in sorted((*state.said, *deleted), key=lambda one: one.seq):
        asked = [one for one in state.approvals.values() if _waited(said, one)]
        # What was edited stands there as it was, until that is said.
        if not asked or not (fits(said.text) or said.changed):
            continue
        newest = max(asked, key=lambda one: one.seq).id
        used = tuple(one for one in asked if _is_used(said, one))
        if said.ref in state.deleted:
            yield Offer(said, newest, used=used, is_deleted=True)
        elif not fits(said.text):
            yield Offer(said, newest, used=used)
        else:
            open_ones = [one for one in asked if one.status == "pending"]
            yield Offer(said, newest, tuple(open_ones[:CALLS_LIMIT]), used)


def could_guide(said: Said, approval: Approval) -> bool:
    """Was it said while this call waited for a decision, and can it be taken for guidance?"""
    return _waited(said, approval) and fits(said.text)


def _waited(said: Said, approval: Approval) -> bool:
    if approval.kind != "call" or said.ref is None or said.seq <= approval.seq:
        return False
    return approval.closed_at is None or said.at <= approval.closed_at


def fits(text: str) -> bool:
    """Is it short enough to be shown in full, and used?"""
    return measure(show(text).text) <= _IN_FULL


def note_message(note: Note, state: RunState, link: str | None = None) -> Message:
    """With a button for each call that what was said can guide, unless it reads like a decision; afterwards, what
    became of it. ``link`` leads to the card."""
    if not note.open:
        return _past(note, state)
    decides_nothing = decides_nothing_text(link)
    usable = [one for one in note.open if one.is_usable]
    what_it_is = [context(mrkdwn(_WHAT_IT_IS))] if usable else []
    numbers = _numbers(usable)
    who, words, *rest = [block for one in note.open for block in _said(one, state, numbers)]
    # Before the first button.
    blocks = [*_earlier(note), who, words, context(mrkdwn(decides_nothing)), *rest]
    text = "\n".join(
        f"{name_principal(one.said.by)} wrote while this waits: {quoted(one.said.text, _QUOTED)}"
        for one in note.open
    )
    plain = f"{text}\n{decides_nothing}{f' {_WHAT_IT_IS}' if usable else ''}"
    return Message(text, (*blocks, *what_it_is), plain=plain)


def decides_nothing_text(link: str | None) -> str:
    """For whoever may have meant to decide; ``link`` leads to the card."""
    return DECIDES_NOTHING.format(card=f"<{link}|its card>" if link else "its card")


def _past(note: Note, state: RunState) -> Message:
    told = [
        f"{name_principal(one.said.by)} wrote here. {_what_became_of(one, state)}"
        for one in note.offers
    ]
    words = "\n".join(list(dict.fromkeys(told))[-_PAST_LIMIT:])
    return Message(words, (context(mrkdwn(words)),))


def _earlier(note: Note) -> list[Block]:
    """Of what can't be used here any more it is only said how much there is."""
    earlier = sum(not (one.open or one.used or one.is_deleted) for one in note.offers)
    if not earlier:
        return []
    what = "1 earlier message is" if earlier == 1 else f"{earlier} earlier messages are"
    return [context(mrkdwn(f"{what} kept for the agent's next step."))]


def _said(offer: Offer, state: RunState, numbers: Iterator[int | None]) -> Iterator[Block]:
    yield section(f"{name_principal(offer.said.by)} wrote while this waits:")
    yield apart("", show(offer.said.text).text, "rich_text_quote")
    if offer.used:
        yield context(mrkdwn("\n".join(_used_for(one, state) for one in offer.used)))
    if offer.is_usable:
        for one in offer.open:
            yield _button(next(numbers), one, offer, state)
        if len(offer.open) > 1:
            yield _button_for_all(next(numbers), offer)


def _numbers(usable: Sequence[Offer]) -> Iterator[int | None]:
    """One for each button of a message; none where it is the only one."""
    buttons = sum(len(one.open) for one in usable)
    return iter([None]) if buttons == 1 else count(1)


def _button(number: int | None, approval: Approval, offer: Offer, state: RunState) -> Block:
    """In a row of its own, whose id says what was said, as it reads there: whoever clicks has read that."""
    title, label = one_line(title_of(approval), _TITLE), "Use as guidance"
    action_id = GUIDANCE_USE if number is None else numbered(GUIDANCE_USE, number)
    if len(offer.open) > 1 or shared_card(approval.id, state):
        label = shorten(f"Use for {which_of_several(approval, state)}", BUTTON_LIMIT)
    row = actions(button(label, action_id, approval.id, about=title))
    return {**row, "block_id": f"{_SAID}:{offer.said.news}:{number or 1}"}


def which_of_several(approval: Approval, state: RunState) -> str:
    """Of several calls: its number on their card, its values, which tell it apart from the others, and its title. A
    telephone shows only how a button begins."""
    shared = shared_card(approval.id, state)
    on_card = f"{shared.number_of(approval.id)}. " if shared else ""
    call = state.call(approval.requested.of_call)
    values = summarize(describe_arguments(approval.requested.args, call.parameters))
    words = (shorten(values, _VALUES), one_line(title_of(approval), _TITLE))
    return f"{on_card}{' · '.join(filter(None, words))}"


def _button_for_all(number: int | None, offer: Offer) -> Block:
    """It names the calls' group; its row says besides which of them is the first, by which their run is found."""
    many, first = len(offer.open), offer.open[0]
    label = "Use for both" if many == 2 else f"Use for all {many}"
    action_id = GUIDANCE_USE if number is None else numbered(GUIDANCE_USE, number)
    row = actions(button(label, action_id, first.requested.group, about=f"{many} actions"))
    return {**row, "block_id": f"{_SAID}:{offer.said.news}:{first.id}"}


def said_at(block_id: str) -> int | None:
    """Since which seq what was said reads as it does there (``Said.news``), by the row in which the button stands; None
    for another row."""
    match block_id.split(":"):
        case [name, news, _] if name == _SAID and news.isascii() and news.isdecimal():
            return int(news[:18])
        case _:
            return None


def first_of(block_id: str) -> str:
    """The first of several calls, in whose row the button for all of them stands; empty for another row."""
    match block_id.split(":"):
        case [name, _, first] if name == _SAID:
            return first
        case _:
            return ""


def _what_became_of(offer: Offer, state: RunState) -> str:
    if offer.used:
        said = (one.decided for one in offer.used)
        by = join_words(dict.fromkeys(name_decider(word) for word in said if word))
        at = max(one.decided_at for one in offer.used if one.decided_at)
        return f"Used as guidance by {by} · {when(at)}"
    if offer.is_deleted:
        return _DELETED
    if offer.said.news <= (state.replies[-1].asked_at if state.replies else 0):
        return _HEARD
    return _STOPPED if state.stop is not None and not state.stop.is_a_rules else _KEPT


def _used_for(approval: Approval, state: RunState) -> str:
    """While the same words can still be used for others."""
    by = name_decider(approval.decided) if approval.decided else "somebody"
    which = plainly(which_of_several(approval, state))
    at = f" · {when(approval.decided_at)}" if approval.decided_at else ""
    return f"Used for {which}, by {by}{at}"


def _is_used(said: Said, approval: Approval) -> bool:
    word = approval.decided
    return word is not None and word.action == "steer" and word.ref == said.ref
