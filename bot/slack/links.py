"""Where cards stand, and links to them for whoever is told that they came too late."""

from __future__ import annotations

from collections.abc import Mapping

from agent.errors import StoreError
from agent.ports.threads import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.clients import SLACK_ERRORS
from bot.slack.ids import Address
from bot.slack.services import Services
from bot.slack.thread.cards_of import is_card_of
from bot.slack.thread.desired import card_key, key_at


async def where_it_stands(
    services: Services, approval_id: ApprovalId, state: RunState
) -> dict[str, Address]:
    """Every card of an approval that Slack has, by its key. Raises ``StoreError``."""
    known = await services.runtime.store.threads.known(state.run_id)
    return cards_among(posted(known.messages), approval_id, state)


def posted(messages: Mapping[str, ThreadMessage]) -> dict[str, Address]:
    """Those that Slack has, each where it stands."""
    return {
        key: Address.of(message.address)
        for key, message in messages.items()
        if message.status != "posting" and message.address and Address.is_one(message.address)
    }


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
    own = key_at(approval_id, user, state)
    theirs = {k: one for k, one in cards.items() if k == own or not one.channel.startswith("D")}
    # The thread's own key is the shortest: it comes last.
    best_first = (own, *sorted(theirs, key=len, reverse=True))
    return next((theirs[key] for key in best_first if key in theirs), None)


async def link_to_newer(services: Services, approval_id: str, state: RunState | None) -> str:
    """Behind a sentence: where the question stands that replaced this one; empty where none did, and where it
    is not known to have been posted."""
    if state is None or (newer := _newer(ApprovalId(approval_id), state)) is None:
        return ""
    try:
        url = (await services.people.home()).url
        messages = (await services.runtime.store.threads.known(state.run_id)).messages
    except (StoreError, *SLACK_ERRORS):
        return ""
    card = messages.get(card_key(newer))
    if card is None or not card.address or not Address.is_one(card.address) or not url:
        return ""
    return f" <{Address.of(card.address).link(url)}|Look at it>."


def _newer(approval_id: ApprovalId, state: RunState) -> ApprovalId | None:
    """The last of those that replaced each other."""
    newest, approval = None, state.approvals.get(approval_id)
    while approval is not None and approval.superseded_by is not None and approval.decided is None:
        newest, approval = approval.superseded_by, state.approvals.get(approval.superseded_by)
    return newest
