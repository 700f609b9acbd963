"""Links from what stands in a thread, or beside it, to the cards and to the words that stand there."""

from __future__ import annotations

from collections.abc import Mapping

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.keys import key_in_thread
from bot.slack.thread.posted import posted, words_at


async def links_to_cards(
    state: RunState, rows: Mapping[str, ThreadMessage], addressees: Addressees
) -> Mapping[ApprovalId, str]:
    """Of what is open, as far as Slack has its card there; or what says where the card is."""
    links, stands = dict[ApprovalId, str](), posted(rows, state.place)
    for one in state.open_approvals:
        address = stands.get(key_in_thread(one.id, state))
        if address is not None and (link := await addressees.link(address)):
            links[one.id] = link
    return links


async def links_to_words(
    state: RunState, rows: Mapping[str, ThreadMessage], addressees: Addressees
) -> Mapping[str, str]:
    """By their refs, to what people wrote, while something waits that is to say so."""
    if not state.open_approvals or not state.said:
        return {}
    return words_at(state, rows, await addressees.url())
