"""Who and what is in the workspace: people, user groups, channels, direct messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.sandbox.faces import addresses, colour_of
from bot.sandbox.wire import Json, SlackError

TEAM = "T0PILOT"
OTHER_TEAM = "T0OTHER"
APP = "A0PILOT"
BOT_USER = "U0PILOT"
BOT = "B0PILOT"
BOT_NAME = "Pilothouse"
#: Another app, which says things, too.
OTHER_APP = "A0DEPLOY"
OTHER_BOT_USER = "U0DEPLOY"
OTHER_BOT = "B0DEPLOY"
OTHER_BOT_NAME = "Deploybot"
TEAM_NAME = "Pilothouse sandbox"
TEAM_DOMAIN = "pilothouse-sandbox"
BOT_TOKEN = "xoxb-sandbox"
APP_TOKEN = "xapp-sandbox"
SIGNING_SECRET = "sandbox-secret"
#: Slack still puts it into payloads; an app verifies the signature instead.
VERIFICATION_TOKEN = "sandbox-verification-token"
FOUNDED = 1_767_225_600

#: A conversation of several people and the app is an `mpim`.
ChannelKind = Literal["public", "private", "im", "mpim"]
EVENT_TYPES = {"public": "channel", "private": "group", "im": "im", "mpim": "mpim"}
#: As `types` of conversations.list has them.
LISTED_TYPES: dict[ChannelKind, str] = {
    "public": "public_channel",
    "private": "private_channel",
    "im": "im",
    "mpim": "mpim",
}
#: In a group message, besides the one who opens it.
MOST_IN_A_GROUP_MESSAGE = 8


#: What nobody here has put into their profile.
_UNTOLD: Json = {
    "title": "",
    "phone": "",
    "skype": "",
    "fields": {},
    "status_text": "",
    "status_text_canonical": "",
    "status_emoji": "",
    "status_emoji_display_info": [],
    "status_expiration": 0,
    "huddle_state": "default_unset",
}


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
    is_ultra_restricted: bool = False
    is_admin: bool = False

    @property
    def handle(self) -> str:
        return self.name.lower()

    @property
    def email(self) -> str:
        """Empty for a bot."""
        return "" if self.is_bot else f"{self.handle}@example.com"

    def as_slack(self, base_url: str, *, with_email: bool = True) -> Json:
        """`base_url`: where the sandbox serves their pictures."""
        profile = {
            **_UNTOLD,
            "real_name": self.name,
            "display_name": self.name,
            "real_name_normalized": self.name,
            "display_name_normalized": self.name,
            "first_name": self.name,
            "last_name": "",
            "avatar_hash": f"g{colour_of(self.id)}",
            **addresses(self.id, base_url),
            "team": self.team_id,
        }
        if self.email and with_email:
            profile["email"] = self.email
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.handle,
            "real_name": self.name,
            "deleted": self.deleted,
            "color": colour_of(self.id),
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": self.tz_offset,
            "profile": profile,
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            # Slack says true only for outsiders with whom no channel is shared.
            "is_stranger": False,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_email_confirmed": bool(self.email),
            "who_can_share_contact_card": "EVERYONE",
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
    archived: bool = False

    @property
    def event_type(self) -> str:
        """The `channel_type` of a message event."""
        return EVENT_TYPES[self.kind]

    @property
    def has_bot(self) -> bool:
        return BOT_USER in self.members

    @property
    def is_direct(self) -> bool:
        """With one person or several: nobody can join, leave or archive it."""
        return self.kind in ("im", "mpim")

    @property
    def person(self) -> str:
        """Whom the app talks to here; only of a direct message."""
        return next(member for member in self.members if member != BOT_USER)

    def as_slack(self) -> Json:
        common: Json = {"id": self.id, "created": FOUNDED, "is_archived": self.archived}
        if self.kind == "im":
            return common | {"is_im": True, "user": self.person, "is_org_shared": False}
        return common | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": self.kind == "public",
            "is_group": self.kind == "private",
            "is_im": False,
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "public",
            "is_general": False,
            "is_member": self.has_bot,
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
    disabled: bool = False

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
            "date_delete": FOUNDED if self.disabled else 0,
            "user_count": len(self.members),
        }


@dataclass
class Workspace:
    """Raises Slack's errors where something isn't there, or isn't shown to the app."""

    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)

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

    def group_message(self, people: Sequence[str]) -> Channel | None:
        """The conversation of exactly these and the app, if it was opened before."""
        members = {*people, BOT_USER}
        for channel in self.channels.values():
            if channel.kind == "mpim" and set(channel.members) == members:
                return channel
        return None

    def open_group_message(self, people: Sequence[str]) -> Channel:
        """Its id follows from who is in it: so a restart, which forgets it, brings no other."""
        handles = [self.users[person].handle for person in [*people, BOT_USER]]
        name = f"mpdm-{'--'.join(handles)}-1"
        channel_id = "G" + "".join(person[1:] for person in sorted(people))
        channel = Channel(channel_id, name, "mpim", [*people, BOT_USER])
        self.channels[channel_id] = channel
        return channel

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
        # Slack hides from an app what is not public and doesn't have it as a member.
        if channel.kind != "public" and not channel.has_bot:
            raise SlackError("channel_not_found")
        return channel


_NOWHERE = Channel("", "", "private", [])
