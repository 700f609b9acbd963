"""The last word of a run that had waited: whoever asked for it has gone on to something else meanwhile."""

from __future__ import annotations

from dataclasses import replace

from agent.rules.state import RunState
from bot.slack.cards.blocks import context, mrkdwn
from bot.slack.cards.mentions import mention_user
from bot.slack.cards.message import Message
from bot.slack.ids import Place, SlackUser


def calling_back(message: Message, state: RunState) -> Message:
    """The same, ringing whoever asked for the run when it is posted, where people were waited for. Where
    nobody was to be rung they are not either; a direct message rings by itself."""
    user, place = SlackUser.of(state.requester), Place.of(state.place)
    if user is None or place is None or place.channel.startswith("D"):
        return message
    if all(one.requested.delivery.notify == "none" for one in state.approvals.values()):
        return message
    first, mention = message.first, mention_user(user.user)
    if mention in str(first.blocks):
        return message
    blocks = (*first.blocks, context(mrkdwn(f"For {mention}")))
    return replace(message, announce=replace(first, blocks=blocks))
