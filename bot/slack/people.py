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

from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from agent.errors import PilothouseError
from agent.left_running import result_of
from agent.rules.decisions import Decider
from agent.rules.parts import Approvers
from agent.rules.requesters import Requester, RequesterKind
from bot.slack.clients import SLACK_ERRORS, error_code, error_name, is_passing, retry_after
from bot.slack.ids import SlackUser

KEPT_SECONDS: Final = 60.0
_MOST_KEPT: Final = 10_000
#: Of a channel so many are read, page by page.
_PAGE: Final = 500
_MOST_PAGES: Final = 10
_WHO_YOU_ARE: Final = "who you are"
_WHO_MAY_DECIDE: Final = "who may decide this"
_NO_WORKSPACE: Final = "Slack does not say which workspace you belong to"
_NOBODY: Final = "this account can't be found in this workspace"
#: Slack's words for an account, or a group, that is not there for us.
_NO_SUCH_USER: Final = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
_NO_SUCH_GROUP: Final = frozenset({"no_such_subteam", "subteam_not_found"})

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
    """Slack did not say what we must know to let them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Somebody as one who decides, as far as Slack told."""

    decider: Decider
    #: The groups that could not be looked up, and why. The decider is in none of them.
    unknown: Mapping[str, Exception]


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
        self._channels: _Kept[frozenset[str] | None] = _Kept(self._ask_channel, seconds)
        self._home: Home | None = None

    @property
    def knows_home(self) -> bool:
        """Has Slack told us who we are?"""
        return self._home is not None

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
            _log.warning("Could not look up %s: %s", user, error_name(error))
            if isinstance(error, SlackApiError) and error_code(error) in _NO_SUCH_USER:
                raise NotEligible(user, _NOBODY) from error
            raise CouldNotLookUp(user, not_told(_WHO_YOU_ARE, error)) from error
        kind = kind_of(profile, home.team, team)
        if kind is None:
            raise CouldNotLookUp(user, _NO_WORKSPACE)
        if kind != "member":
            raise NotEligible(user, _AGAINST[kind])
        return SlackUser(home.team, user)

    async def decider(
        self,
        user: str,
        team: str | None = None,
        *,
        asked: Approvers,
        also: Collection[str] = (),
    ) -> Decider:
        """The member as one who decides what is ``asked``, with those of its groups, and of the
        groups ``also``, that they are in.

        Raises ``NotEligible``; ``CouldNotLookUp`` too where Slack does not say whether they are one of
        those who are asked, or for which of the groups that must each say yes they speak."""
        found = await self.look_up(user, team, groups={*asked.all_groups, *also})
        is_asked = user in asked.users or bool(found.decider.groups & set(asked.all_groups))
        # For which group somebody speaks counts where each must have a yes of its own.
        for group in asked.one_from_each if is_asked else asked.all_groups:
            if error := found.unknown.get(group):
                raise CouldNotLookUp(user, not_told(_WHO_MAY_DECIDE, error)) from error
        return found.decider

    async def members(self, group: str) -> frozenset[str]:
        """Who is in it; nobody, where there is none of this id. Raises one of ``SLACK_ERRORS``."""
        return await self._groups.get(group)

    async def in_channel(self, channel: str) -> frozenset[str] | None:
        """Who is in it; None, where they are too many to be read. Raises one of ``SLACK_ERRORS``."""
        return await self._channels.get(channel)

    async def look_up(
        self, user: str, team: str | None = None, *, groups: Collection[str]
    ) -> Found:
        """The member with those of ``groups`` that they are in, and those that could not be looked
        up. Raises ``NotEligible``."""
        unknown: dict[str, Exception] = {}

        async def is_in(group: str) -> bool:
            try:
                return user in await self._groups.get(group)
            except SLACK_ERRORS as error:
                _log.warning("Could not look up the group %s: %s", group, error_name(error))
                unknown[group] = error
                return False

        names = sorted(groups)
        member, found = await asyncio.gather(
            self.member(user, team), asyncio.gather(*map(is_in, names))
        )
        theirs = frozenset(name for name, is_theirs in zip(names, found, strict=True) if is_theirs)
        return Found(Decider(member.principal, user, theirs), unknown)

    async def requester(self, user: str, team: str, *, groups: Collection[str]) -> Requester:
        """Whoever asked for a run, as conditions speak of them: also who may do nothing any more. What Slack does not
        say is not known."""
        why: list[str] = []

        async def kind() -> RequesterKind | None:
            try:
                home, profile = await asyncio.gather(self.home(), self._users.get(user))
            except SLACK_ERRORS as error:
                _log.warning("Could not look up %s: %s", user, error_name(error))
                why.append(not_said(error))
                return None
            return kind_of(profile, home.team, team)

        async def is_in(group: str) -> bool:
            return user in await self._groups.get(group)

        async def theirs() -> frozenset[str] | None:
            names = sorted(groups)
            try:
                found = await asyncio.gather(*map(is_in, names))
            except SLACK_ERRORS as error:
                _log.warning("Could not look up the groups of %s: %s", user, error_name(error))
                why.append(not_said(error))
                return None
            return frozenset(
                name for name, is_theirs in zip(names, found, strict=True) if is_theirs
            )

        found_kind, found_groups = await asyncio.gather(kind(), theirs())
        return Requester(found_kind, found_groups, why[0] if why else "")

    async def _ask_user(self, user: str) -> Mapping[str, Any]:
        said = (await self._slack.users_info(user=user)).get("user")
        if not isinstance(said, Mapping):
            raise SlackRequestError("users.info did not say who that is")
        return said

    async def _ask_group(self, group: str) -> frozenset[str]:
        try:
            said = (await self._slack.usergroups_users_list(usergroup=group)).get("users")
        except SlackApiError as error:
            if error_code(error) not in _NO_SUCH_GROUP:
                raise
            _log.warning("There is no group %s in Slack", group)
            return frozenset()
        return frozenset(said) if isinstance(said, list) else frozenset()

    async def _ask_channel(self, channel: str) -> frozenset[str] | None:
        found, cursor = set[str](), ""
        for _ in range(_MOST_PAGES):
            said = await self._slack.conversations_members(
                channel=channel, limit=_PAGE, cursor=cursor or None
            )
            members, following = said.get("members"), said.get("response_metadata")
            if not isinstance(members, list):
                raise SlackRequestError("conversations.members did not say who is in it")
            found |= {str(one) for one in members}
            cursor = following.get("next_cursor") or "" if isinstance(following, dict) else ""
            if not cursor:
                return frozenset(found)
        _log.info("More people are in %s than are looked through", channel)
        return None


#: What speaks against whoever is no full member.
_AGAINST: Final[Mapping[RequesterKind, str]] = {
    "stranger": "people of another workspace can't start or decide anything here",
    "deactivated": "this account is deactivated",
    "guest": "guests can't start or decide anything here",
    "bot": "apps can't start or decide anything here",
}


def kind_of(profile: Mapping[str, Any], home: str, team: str | None) -> RequesterKind | None:
    """Of which kind this account is; None where its profile does not say to which workspace it belongs."""
    if profile.get("is_stranger") or any(one != home for one in _teams(profile, team)):
        return "stranger"
    if profile.get("deleted"):
        return "deactivated"
    if profile.get("is_restricted") or profile.get("is_ultra_restricted"):
        return "guest"
    if profile.get("is_bot") or profile.get("is_workflow_bot"):
        return "bot"
    return "member" if _teams(profile, team) else None


def not_said(error: Exception) -> str:
    """That Slack did not answer, as a clause."""
    if is_passing(error):
        return "Slack did not say just now"
    code = error_code(error) if isinstance(error, SlackApiError) else None
    return f"Slack does not say ({code})"


def not_told(what: str, error: Exception) -> str:
    """Completes "Not decided: …" where Slack did not say ``what``, a clause."""
    if is_passing(error):
        return f"we could not look up in Slack {what} just now. Please try again in a minute"
    code = error_code(error) if isinstance(error, SlackApiError) else None
    return f"Slack does not tell us {what} ({code}). Please tell whoever runs this bot"


def _teams(profile: Mapping[str, Any], team: str | None) -> list[object]:
    """The workspaces that this person belongs to, by their profile and by the payload."""
    return [one for one in (profile.get("team_id"), team) if one]


class _Kept(Generic[T]):
    """Answers of one method, each for a minute at most; what is being asked is not asked again. A failure is not
    kept, but Slack's "not before" is: until then nobody asks, and everybody is told the same."""

    def __init__(self, ask: Callable[[str], Awaitable[T]], seconds: Callable[[], float]) -> None:
        self._ask = ask
        self._seconds = seconds
        self._answers: dict[str, tuple[float, T]] = {}
        self._asking: dict[str, asyncio.Task[T]] = {}
        self._held_until = seconds()
        self._refusal: SlackApiError | None = None

    async def get(self, key: str) -> T:
        asked_at = self._seconds()
        kept = self._answers.get(key)
        if kept is not None and asked_at - kept[0] < KEPT_SECONDS:
            return kept[1]
        if self._refusal is not None and asked_at < self._held_until:
            raise self._refusal
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.create_task(self._ask_and_keep(key, asked_at))
            self._asking[key] = asking
            asking.add_done_callback(lambda _: self._asking.pop(key))
        # Whoever gives up leaves the others the answer that they wait for.
        return await result_of(asking)

    async def _ask_and_keep(self, key: str, asked_at: float) -> T:
        try:
            answer = await self._ask(key)
        except SlackApiError as error:
            if (pause := retry_after(error)) is not None:
                self._refusal, self._held_until = error, self._seconds() + pause
            raise
        if len(self._answers) >= _MOST_KEPT:
            self._answers.clear()
        self._answers[key] = (asked_at, answer)
        return answer
