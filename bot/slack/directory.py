"""Who a principal is at this moment, by Slack's word; the operator is whoever holds the database."""

from __future__ import annotations

from collections.abc import Collection

from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.requesters import OPERATOR, Requester, is_operator
from bot.slack.ids import SlackUser
from bot.slack.people import NotEligible, People


class SlackDirectory:
    """Looks people up as for a click, with the same checks, and answers kept as long."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def find(self, principal: Principal, groups: Collection[str]) -> Decider | None:
        """This principal with those of ``groups`` that Slack says they are in. None for whom it does
        not confirm as a full member of our workspace, and for anybody who is not in Slack."""
        if is_operator(principal):
            return Decider(principal, authority="operator")
        user = SlackUser.of(principal)
        if user is None:
            return None
        try:
            return (await self._people.look_up(user.user, user.team, groups=groups)).decider
        except NotEligible:
            return None

    async def requester(self, principal: Principal, groups: Collection[str]) -> Requester:
        """Who that is to a condition; see ``agent.ports.Directory``."""
        if is_operator(principal):
            return OPERATOR
        user = SlackUser.of(principal)
        if user is None:
            return Requester(why="that is nobody in Slack")
        return await self._people.requester(user.user, user.team, groups=groups)
