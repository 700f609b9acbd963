"""To whom a question may be put directly: people who may decide it, found out when it is put to them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection
from typing import Final

from agent.rules.decisions import why_not
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.clients import SLACK_ERRORS, error_name, is_passing
from bot.slack.ids import Address, SlackUser
from bot.slack.people import CouldNotLookUp, NotEligible, People
from bot.slack.thread.setbacks import Later

log = logging.getLogger(__name__)

#: So many are written to; whoever else may decide finds it by ``/agent pending``.
MOST: Final = 20
#: So many are looked up for that.
_LOOKED_UP: Final = 60
_LOOK_AGAIN: Final = 2.0


class Addressees:
    """By Slack's word, as for a click."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def of(
        self, approval: Approval, state: RunState, asked: Approvers | None = None
    ) -> list[str]:
        """The users who may decide it now, those whom the rule names first, twenty at most; of ``asked`` alone,
        where they are given. Of whom Slack does not tell, as of whom it says that they may not, nothing is
        put to them. Raises ``Later`` while Slack can't be asked."""
        found: list[str] = []
        async for user in self._named(asked or approval.approvers, state):
            if len(found) >= MOST:
                log.info("more than %d may decide %s; the rest is not told", MOST, approval.id)
                break
            if await self._may_decide(user, approval, state):
                found.append(user)
        return found

    async def outside(self, channel: str, users: Collection[str]) -> set[str]:
        """Those of them who are not in it, as far as Slack says: what is there they can't look at."""
        try:
            inside = await self._people.in_channel(channel)
        except SLACK_ERRORS as error:
            log.warning("it is not known who is in %s: %s", channel, error_name(error))
            return set()
        return set() if inside is None else {one for one in users if one not in inside}

    async def link(self, address: Address) -> str | None:
        """Where anybody who is in its channel can look at the message; of direct messages there is none."""
        if address.channel.startswith("D") or not (url := await self.url()):
            return None
        return address.link(url)

    async def url(self) -> str | None:
        """The workspace's own; None while Slack does not tell."""
        try:
            return (await self._people.home()).url
        except SLACK_ERRORS:
            return None

    async def _named(self, asked: Approvers, state: RunState) -> AsyncIterator[str]:
        seen = set[str]()
        named = list(asked.users)
        requester = SlackUser.of(state.requester)
        if asked.requester and requester is not None:
            named.append(requester.user)
        for group in (None, *asked.all_groups):
            for user in named if group is None else sorted(await self._members(group)):
                if user not in seen and len(seen) < _LOOKED_UP:
                    seen.add(user)
                    yield user

    async def _members(self, group: str) -> frozenset[str]:
        try:
            return await self._people.members(group)
        except SLACK_ERRORS as error:
            if is_passing(error):
                raise Later(_LOOK_AGAIN) from error
            log.warning("nobody of %s is written to: %s", group, error_name(error))
            return frozenset()

    async def _may_decide(self, user: str, approval: Approval, state: RunState) -> bool:
        try:
            decider = await self._people.decider(user, asked=approval.approvers)
        except CouldNotLookUp as error:
            if isinstance(error.__cause__, SLACK_ERRORS) and is_passing(error.__cause__):
                raise Later(_LOOK_AGAIN) from error
            return False
        except NotEligible:
            return False
        return why_not(approval.approvers, state.requesters, decider, approval.kind) is None
