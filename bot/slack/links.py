"""Where cards stand, and links to them for whoever is told that they came too late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.errors import StoreError
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.clients import SLACK_ERRORS
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.services import Services
from bot.slack.thread.cards_of import is_card_of
from bot.slack.thread.keys import STATUS_KEY, card_key, key_at, key_in_thread
from bot.slack.thread.posted import posted, words_at


async def where_it_stands(
    services: Services, approval_id: ApprovalId, state: RunState
) -> dict[str, Address]:
    """Every card of an approval that Slack has, by its key. Raises ``StoreError``."""
    known = await services.runtime.store.threads.known(state.run_id)
    return cards_among(posted(known.messages, state.place), approval_id, state)


def cards_among(
    stands: Mapping[str, Address], approval_id: ApprovalId, state: RunState
) -> dict[str, Address]:
    """The cards of this approval among a run's messages."""
    is_card = is_card_of(approval_id, state)
    return {key: address for key, address in stands.items() if is_card(key)}


def best_for(
    user: str, cards: Mapping[str, Address], approval_id: ApprovalId, state: RunState
) -> Address | None:
    """Which of an approval's cards this person looks at: what was put to them directly, else in its channel, else
    in its thread. None where there is none that they could open."""
    own, theirs_alone = key_at(approval_id, user, state), _direct_channel_of(user, state)
    theirs = {
        key: one
        for key, one in cards.items()
        if key == own or one.channel == theirs_alone or not one.channel.startswith("D")
    }
    # The thread's own key is the shortest: it comes last.
    best_first = (own, *sorted(theirs, key=len, reverse=True))
    return next((theirs[key] for key in best_first if key in theirs), None)


def _direct_channel_of(user: str, state: RunState) -> str | None:
    """Where the run's thread is, if that is the direct message in which this person asked for it."""
    requester, place = SlackUser.of(state.requester), Place.of(state.place)
    if requester is None or requester.user != user or place is None:
        return None
    return place.channel


@dataclass(frozen=True, slots=True)
class Seen:
    """Where somebody can look at a question in Slack."""

    url: str | None = None
    #: It stands in a direct message that this person can't open.
    is_directly: bool = False
    #: Links to what people wrote in the thread, by its refs.
    words_at: Mapping[str, str] = field(default_factory=dict)


async def seen_by(services: Services, state: RunState, approval_id: ApprovalId, user: str) -> Seen:
    """Where this person can look at the question, once it has been posted: what was put to them directly,
    else in its channel, else its thread. Raises ``StoreError``, and one of ``SLACK_ERRORS``."""
    messages = (await services.runtime.store.threads.known(state.run_id)).messages
    stands = cards_among(posted(messages, state.place), approval_id, state)
    best = best_for(user, stands, approval_id, state)
    home = (await services.people.home()).url if best is not None or state.said else None
    url = best.link(home) if best is not None and home else None
    said = words_at(state, messages, home)
    return Seen(url, is_directly=bool(stands) and url is None, words_at=said)


async def links_to_words(services: Services, state: RunState) -> Mapping[str, str]:
    """To what people wrote, by its refs, where a card that is redrawn says so; none where it is not known."""
    if not state.open_approvals or not state.said:
        return {}
    try:
        known = await services.runtime.store.threads.known(state.run_id)
        return words_at(state, known.messages, (await services.people.home()).url)
    except (StoreError, *SLACK_ERRORS):
        return {}


async def link_to_thread(services: Services, state: RunState) -> str | None:
    """Where the run begins in its thread, once that has been posted. Raises ``StoreError``, and one of
    ``SLACK_ERRORS``."""
    messages = (await services.runtime.store.threads.known(state.run_id)).messages
    status = posted(messages, state.place).get(STATUS_KEY)
    return await _url(services, status) if status else None


async def link_in_thread(
    services: Services, approval_id: ApprovalId, state: RunState
) -> str | None:
    """Where the card stands in the run's thread, as whoever draws that links to it; None where it is not known."""
    try:
        known = await services.runtime.store.threads.known(state.run_id)
        stands = posted(known.messages, state.place)
        address = stands.get(key_in_thread(approval_id, state))
        if address is None or address.channel.startswith("D"):
            return None
        return await _url(services, address)
    except (StoreError, *SLACK_ERRORS):
        return None


async def _url(services: Services, address: Address) -> str | None:
    url = (await services.people.home()).url
    return address.link(url) if url else None


async def link_to_newer(services: Services, approval_id: str, state: RunState | None) -> str:
    """Behind a sentence: where the question stands that replaced this one; empty where none did, and where it
    is not known to have been posted."""
    if state is None or (newer := _newer(ApprovalId(approval_id), state)) is None:
        return ""
    try:
        messages = (await services.runtime.store.threads.known(state.run_id)).messages
        card = posted(messages, state.place).get(card_key(newer))
        url = await _url(services, card) if card else None
    except (StoreError, *SLACK_ERRORS):
        return ""
    return f" <{url}|Look at it>." if url else ""


def _newer(approval_id: ApprovalId, state: RunState) -> ApprovalId | None:
    """The last of those that replaced each other."""
    newest, approval = None, state.approvals.get(approval_id)
    while approval is not None and approval.superseded_by is not None and approval.decided is None:
        newest, approval = approval.superseded_by, state.approvals.get(approval.superseded_by)
    return newest
