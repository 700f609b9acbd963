"""Who and what is in the workspace: people, user groups, channels, direct messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bot.sandbox.wire import Json, SlackError

TEAM = "T0PILOT"
OTHER_TEAM = "T0OTHER"
APP = "A0PILOT"
BOT_USER = "U0PILOT"
BOT = "B0PILOT"
BOT_TOKEN = "xoxb-sandbox"
APP_TOKEN = "xapp-sandbox"
SIGNING_SECRET = "sandbox-secret"
FOUNDED = 1_767_225_600

ChannelKind = Literal["public", "private", "im"]


@dataclass(frozen=True)
class User:
    id: str
    name: str
    about: str
    team_id: str = TEAM
    tz: str = "Europe/Berlin"
    tz_offset: int = 3600
    deleted: bool = False
    is_bot: bool = False
    is_restricted: bool = False
    is_admin: bool = False

    @property
    def handle(self) -> str:
        return self.name.lower()

    def as_slack(self) -> Json:
        profile = {
            "real_name": self.name,
            "display_name": self.name,
            "real_name_normalized": self.name,
            "display_name_normalized": self.name,
            "team": self.team_id,
        }
        if not self.is_bot:
            profile["email"] = f"{self.handle}@example.com"
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.handle,
            "real_name": self.name,
            "deleted": self.deleted,
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": self.tz_offset,
            "profile": profile,
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": False,
            # Slack says true only for outsiders with whom no channel is shared.
            "is_stranger": False,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": FOUNDED,
        }


@dataclass
class Channel:
    id: str
    name: str
    kind: ChannelKind
    members: list[str]
    shared: bool = False
    topic: str = ""

    @property
    def event_type(self) -> str:
        """The `channel_type` of a message event."""
        return {"public": "channel", "private": "group", "im": "im"}[self.kind]

    @property
    def person(self) -> str:
        """Whom the app talks to here; only of a direct message."""
        return next(member for member in self.members if member != BOT_USER)

    def as_slack(self) -> Json:
        common: Json = {"id": self.id, "created": FOUNDED, "is_archived": False}
        if self.kind == "im":
            return common | {"is_im": True, "user": self.person, "is_org_shared": False}
        return common | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": self.kind == "public",
            "is_group": self.kind == "private",
            "is_im": False,
            "is_mpim": False,
            "is_private": self.kind == "private",
            "is_general": False,
            "is_member": BOT_USER in self.members,
            "is_shared": self.shared,
            "is_ext_shared": self.shared,
            "is_org_shared": False,
            "context_team_id": TEAM,
            "shared_team_ids": [TEAM, OTHER_TEAM] if self.shared else [TEAM],
            "creator": "U0ALICE",
            "num_members": len(self.members),
            "topic": {"value": self.topic, "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
        }


@dataclass(frozen=True)
class Group:
    id: str
    handle: str
    name: str
    members: tuple[str, ...]

    def as_slack(self) -> Json:
        return {
            "id": self.id,
            "team_id": TEAM,
            "is_usergroup": True,
            "name": self.name,
            "handle": self.handle,
            "description": "",
            "is_external": False,
            "date_create": FOUNDED,
            "date_update": FOUNDED,
            "date_delete": 0,
            "user_count": len(self.members),
        }


def _people() -> list[User]:
    return [
        User("U0ALICE", "Alice", "asks for things", is_admin=True),
        User("U0BOB", "Bob", "@finance: may decide"),
        User("U0FRANK", "Frank", "@finance: may decide", tz="America/New_York", tz_offset=-18000),
        User("U0CAROL", "Carol", "guest", is_restricted=True),
        User("U0DAVE", "Dave", "from another company", team_id=OTHER_TEAM),
        User("U0ERIN", "Erin", "deactivated", deleted=True),
        User(BOT_USER, "Pilothouse", "app", is_bot=True),
    ]


def _channels(people: Iterable[User]) -> list[Channel]:
    support = ["U0ALICE", "U0BOB", "U0FRANK", "U0CAROL", BOT_USER]
    shared = ["U0ALICE", "U0BOB", "U0FRANK", "U0DAVE", BOT_USER]
    return [
        Channel("C0SUPPORT", "support", "public", support),
        Channel("C0OPS", "ops", "private", ["U0ALICE", "U0BOB", "U0FRANK", BOT_USER]),
        Channel("C0SHARED", "shared", "public", shared, shared=True),
        *(
            Channel(f"D0{user.id[2:]}", "", "im", [user.id, BOT_USER])
            for user in people
            if not user.is_bot
        ),
    ]


@dataclass
class Workspace:
    """The seed, and what joined since."""

    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)

    @staticmethod
    def seeded() -> Workspace:
        people = _people()
        channels = _channels(people)
        finance = Group("S0FINANCE", "finance", "Finance", ("U0BOB", "U0FRANK"))
        return Workspace(
            users={user.id: user for user in people},
            channels={channel.id: channel for channel in channels},
            groups={finance.id: finance},
        )

    def user(self, user_id: str) -> User:
        """Raises `user_not_found`."""
        if user_id not in self.users:
            raise SlackError("user_not_found")
        return self.users[user_id]

    def direct(self, user_id: str) -> Channel:
        """The direct message between the app and that person."""
        self.user(user_id)
        for channel in self.channels.values():
            if channel.kind == "im" and channel.person == user_id:
                return channel
        raise SlackError("channel_not_found")

    def channel(self, reference: str) -> Channel:
        """By id, `#name`, or a person's id, as the Web API takes it; or `channel_not_found`."""
        if reference in self.channels:
            channel = self.channels[reference]
        elif reference in self.users and reference != BOT_USER:
            channel = self.direct(reference)
        else:
            name = reference.removeprefix("#")
            channel = next(
                (one for one in self.channels.values() if one.name and one.name == name),
                _NOWHERE,
            )
        # Slack hides a private channel from an app that isn't in it.
        if channel is _NOWHERE or (channel.kind == "private" and BOT_USER not in channel.members):
            raise SlackError("channel_not_found")
        return channel


_NOWHERE = Channel("", "", "private", [])
