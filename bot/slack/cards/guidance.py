"""What was said while calls waited for a decision: it decides nothing, and can be used as guidance. mrkdwn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent.rules.state import Approval, RunState, Said
from bot.slack.cards.blocks import Block, actions, apart, button, context, mrkdwn, section
from bot.slack.cards.deciding import title_of
from bot.slack.cards.like_a_decision import is_like_a_decision
from bot.slack.cards.mentions import join_words, name_decider, name_principal, when
from bot.slack.cards.message import Message
from bot.slack.cards.text import measure, one_line, quoted, show
from bot.slack.cards.together import shared_card
from bot.slack.ids import GUIDANCE_USE, numbered

#: The newest that can be used: people talk, and each is a message of ours.
OPEN_LIMIT: Final = 3
#: Calls that one of them is offered for; the others can be steered on their cards.
CALLS_LIMIT: Final = 5
_SAID: Final = "said"
_QUOTED: Final = 300
#: What is longer is steered with on the card: whoever uses it is to see all of it.
_IN_FULL: Final = 2_500
_TITLE: Final = 50
_DECIDES_NOTHING: Final = "This decides nothing: to approve or deny, use the buttons of its card."
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
    #: The calls that it can guide now, and those that it has guided.
    open: tuple[Approval, ...] = ()
    used: tuple[Approval, ...] = ()
    is_deleted: bool = False

    @property
    def key(self) -> str:
        """Of its message in the thread."""
        return f"guidance:{self.said.seq}"


def offers(state: RunState) -> tuple[Offer, ...]:
    """All that was said while calls waited, oldest first; of what can still be used only the newest few."""
    found = list(_offers(state))
    left = OPEN_LIMIT
    for index in reversed(range(len(found))):
        if found[index].open and (left := left - 1) < 0:
            found[index] = Offer(found[index].said, used=found[index].used)
    return tuple(found)


def _offers(state: RunState) -> Iterator[Offer]:
    deleted = [one for one in state.rewritten if one.ref in state.deleted]
    for said in sorted((*state.said, *deleted), key=lambda one: one.seq):
        asked = [one for one in state.approvals.values() if could_guide(said, one)]
        if not asked:
            continue
        used = tuple(one for one in asked if _is_used(said, one))
        if said.ref in state.deleted:
            yield Offer(said, used=used, is_deleted=True)
        else:
            open_ones = [one for one in asked if one.status == "pending"]
            yield Offer(said, tuple(open_ones[:CALLS_LIMIT]), used)


def could_guide(said: Said, approval: Approval) -> bool:
    """Was it said while this call waited for a decision, and can it be taken for guidance?"""
    if approval.kind != "call" or said.ref is None or said.seq <= approval.seq:
        return False
    was_open = approval.closed_at is None or said.at <= approval.closed_at
    return was_open and measure(show(said.text).text) <= _IN_FULL


def offer_message(offer: Offer, state: RunState) -> Message:
    """With a button for each call that it can guide, unless it reads like a decision; afterwards, what became of it."""
    said, who = offer.said, name_principal(offer.said.by)
    if not offer.open:
        words = f"{who} wrote here. {_what_became_of(offer, state)}"
        return Message(words, (context(mrkdwn(words)),))
    text = f"{who} wrote while this waits: {quoted(said.text, _QUOTED)}"
    # As guidance a yes would take the call back: the contrary of what was meant.
    is_usable = not is_like_a_decision(said.text)
    rows = [_button(number, one, offer, state) for number, one in enumerate(offer.open, 1)]
    usable = (*rows, context(mrkdwn(_WHAT_IT_IS))) if is_usable else ()
    what_it_is = f"{_DECIDES_NOTHING} {_WHAT_IT_IS}" if is_usable else _DECIDES_NOTHING
    blocks: tuple[Block, ...] = (
        section(f"{who} wrote while this waits:"),
        apart("", show(said.text).text, "rich_text_quote"),
        context(mrkdwn(_DECIDES_NOTHING)),
        *usable,
    )
    return Message(text, blocks, plain=f"{text}\n{what_it_is}")


def _button(number: int, approval: Approval, offer: Offer, state: RunState) -> Block:
    """In a row of its own, whose id says what was said, as it reads there: whoever clicks has read that."""
    title, label = one_line(title_of(approval), _TITLE), "Use as guidance"
    action_id = GUIDANCE_USE
    if len(offer.open) > 1:
        action_id = numbered(GUIDANCE_USE, number)
        shared = shared_card(approval.id, state)
        on_card = f"{shared.number_of(approval.id)}. " if shared else ""
        label = f"Use for {on_card}{title}"
    row = actions(button(label, action_id, approval.id, about=title))
    return {**row, "block_id": f"{_SAID}:{offer.said.news}:{number}"}


def said_at(block_id: str) -> int | None:
    """Since which seq what was said reads as it does there (``Said.news``), by the row in which the button stands; None
    for another row."""
    match block_id.split(":"):
        case [name, news, _] if name == _SAID and news.isascii() and news.isdecimal():
            return int(news[:18])
        case _:
            return None


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


def _is_used(said: Said, approval: Approval) -> bool:
    word = approval.decided
    return word is not None and word.action == "steer" and word.ref == said.ref
