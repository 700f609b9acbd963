"""Links from what stands in a thread to the cards that stand there."""

from __future__ import annotations

from collections.abc import Mapping

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.ids import Address
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.desired import key_in_thread


async def links_to_cards(
    state: RunState, rows: Mapping[str, ThreadMessage], addressees: Addressees
) -> Mapping[ApprovalId, str]:
    """Of what is open, as far as Slack has its card there; or what says where the card is."""
    links = dict[ApprovalId, str]()
    for one in state.open_approvals:
        row = rows.get(key_in_thread(one.id, state))
        if row is None or row.address is None:
            continue
        if link := await addressees.link(Address.of(row.address)):
            links[one.id] = link
    return links
