"""Who sees a run in Slack: whoever asked for it, and whoever is where its thread is.

Its id tells nobody anything: it stands in links, in logs and on other people's screens. Whoever names a run
that they don't see is told what is told of one that does not exist.
"""

from __future__ import annotations

import logging
from typing import Final

from agent.rules.ids import Principal
from agent.rules.state import RunState
from bot.slack.clients import SLACK_ERRORS, error_name
from bot.slack.ids import Place, SlackUser
from bot.slack.services import Services

#: For a run that is not there, and for one that they don't see.
NOT_SEEN: Final = (
    "we know of no such run, or it isn't yours and you are not in the conversation that it is in"
)

_log = logging.getLogger(__name__)


def may_be_quoted(state: RunState, by: Principal, channel: str | None) -> bool:
    """May its words be told privately to somebody who acts in ``channel``? To whoever asked for it, and in its
    own conversation."""
    place = Place.of(state.place)
    return by in state.requesters or (place is not None and place.channel == channel)


async def is_seen(
    services: Services, state: RunState, member: SlackUser, channel: str | None
) -> bool:
    """May they be told that it is there? Also whoever is in its conversation, by Slack's word; what Slack does
    not say means no."""
    if may_be_quoted(state, member.principal, channel):
        return True
    place = Place.of(state.place)
    if place is None:
        return False
    try:
        members = await services.people.in_channel(place.channel)
    except SLACK_ERRORS as error:
        _log.warning("Could not look up who is in %s: %s", place.channel, error_name(error))
        return False
    return members is not None and member.user in members
