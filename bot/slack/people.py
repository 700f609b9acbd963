"""Who someone is, and what they may do. What can't be found out means no.

Ids count, never names: anybody can take a name. Slack is asked at each start and each decision;
its answers are kept for a minute at most.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import aiohttp
from slack_sdk.errors import SlackClientError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from agent.errors import PilothouseError
from agent.rules.decisions import Decider
from bot.slack.ids import SlackUser

KEPT_SECONDS: Final = 60.0
_MOST_KEPT: Final = 10_000
_LOOKUP_FAILED: Final = "we could not look you up in Slack just now. Please try again in a minute"
#: Everything that a call of the Web API raises when Slack can't be asked or says no.
SLACK_ERRORS: Final = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError)

T = TypeVar("T")
_log = logging.getLogger(__name__)


class NotEligible(PilothouseError):
    """This person may neither start nor decide anything here; ``why`` completes "Not done: …"."""

    code = "not_allowed"

    def __init__(self, user: str, why: str) -> None:
        super().__init__(f"Not done: {why}.")
        self.user = user
        self.why = why


class CouldNotLookUp(NotEligible):
    """Slack did not say who this is; asking again may help."""

    def __init__(self, user: str) -> None:
        super().__init__(user, _LOOKUP_FAILED)


@dataclass(frozen=True, slots=True)
class Home:
    """The workspace that we are installed in, and who we are there."""

    team: str
    bot_user: str
    bot_id: str | None
    #: ``https://NAME.slack.com/``
    url: str


class People:
    """Looks people up in Slack. Safe to share between all listeners of a process."""

    def __init__(
        self, slack: AsyncWebClient, *, seconds: Callable[[], float] | None = None
    ) -> None:
        """``seconds`` is a monotonic clock."""
        self._slack = slack
        seconds = seconds or time.monotonic
        self._users: _Kept[Mapping[str, Any]] = _Kept(self._ask_user, seconds)
        self._groups: _Kept[frozenset[str]] = _Kept(self._ask_group, seconds)
        self._home: Home | None = None

    async def home(self) -> Home:
        """Our workspace. Raises one of ``SLACK_ERRORS`` until Slack has told it once."""
        if self._home is None:
            said = await self._slack.auth_test()
            team, bot_user = said.get("team_id"), said.get("user_id")
            if not isinstance(team, str) or not isinstance(bot_user, str):
                raise SlackRequestError("auth.test did not say who we are")
            self._home = Home(team, bot_user, said.get("bot_id"), str(said.get("url") or ""))
        return self._home

    async def member(self, user: str, team: str | None = None) -> SlackUser:
        """The full member of this workspace that this is. ``team`` is the workspace that the payload
        names; None where it names none. Raises ``NotEligible``."""
        try:
            home, profile = await asyncio.gather(self.home(), self._users.get(user))
        except SLACK_ERRORS as error:
            _log.warning("Could not look up %s: %s", user, type(error).__name__)
            raise CouldNotLookUp(user) from error
        if why := _why_not(profile, home.team, team):
            raise NotEligible(user, why)
        return SlackUser(home.team, user)

    async def may_start(self, user: str, team: str | None = None) -> SlackUser:
        """Whoever may start a run: the full members. Raises ``NotEligible``."""
        return await self.member(user, team)

    async def decider(
        self, user: str, team: str | None = None, *, groups: Collection[str] = ()
    ) -> Decider:
        """The member with those of ``groups`` that they are in. A group that can't be looked up has
        nobody in it. Raises ``NotEligible``."""
        member, found = await asyncio.gather(
            self.member(user, team),
            asyncio.gather(*(self._is_in(user, group) for group in groups)),
        )
        names = frozenset(name for name, is_in in zip(groups, found, strict=True) if is_in)
        return Decider(principal=member.principal, user=user, groups=names)

    async def _is_in(self, user: str, group: str) -> bool:
        try:
            return user in await self._groups.get(group)
        except SLACK_ERRORS as error:
            _log.warning("Could not look up the group %s: %s", group, type(error).__name__)
            return False

    async def _ask_user(self, user: str) -> Mapping[str, Any]:
        said = (await self._slack.users_info(user=user)).get("user")
        return said if isinstance(said, Mapping) else {}

    async def _ask_group(self, group: str) -> frozenset[str]:
        said = (await self._slack.usergroups_users_list(usergroup=group)).get("users")
        return frozenset(said) if isinstance(said, list) else frozenset()


def _why_not(profile: Mapping[str, Any], home: str, team: str | None) -> str | None:
    """What speaks against this person; None when they are a full member of ``home``."""
    theirs = profile.get("team_id")
    if profile.get("is_stranger") or theirs != home or team not in (None, home):
        return "people of another workspace can't start or decide anything here"
    if profile.get("deleted"):
        return "this account is deactivated"
    if profile.get("is_restricted") or profile.get("is_ultra_restricted"):
        return "guests can't start or decide anything here"
    if profile.get("is_bot") or profile.get("is_workflow_bot"):
        return "apps can't start or decide anything here"
    return None


class _Kept(Generic[T]):
    """Answers, each for a minute at most. A failure is not kept."""

    def __init__(self, ask: Callable[[str], Awaitable[T]], seconds: Callable[[], float]) -> None:
        self._ask = ask
        self._seconds = seconds
        self._answers: dict[str, tuple[float, T]] = {}

    async def get(self, key: str) -> T:
        asked_at = self._seconds()
        kept = self._answers.get(key)
        if kept is not None and asked_at - kept[0] < KEPT_SECONDS:
            return kept[1]
        answer = await self._ask(key)
        if len(self._answers) >= _MOST_KEPT:
            self._answers.clear()
        self._answers[key] = (asked_at, answer)
        return answer
