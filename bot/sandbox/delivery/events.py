"""The payloads of the Events API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from bot.sandbox.guesses import Guesses
from bot.sandbox.ids import Ids
from bot.sandbox.wire import Json
from bot.sandbox.workspace import (
    APP,
    BOT_USER,
    FOUNDED,
    TEAM,
    VERIFICATION_TOKEN,
    Channel,
    Group,
    User,
)

#: The type of each event that there is.
EVENTS = (
    "message",
    "app_mention",
    "app_home_opened",
    "reaction_added",
    "reaction_removed",
    "member_joined_channel",
    "member_left_channel",
    "channel_left",
    "group_left",
    "channel_archive",
    "group_archive",
    "channel_unarchive",
    "group_unarchive",
    "file_shared",
    "file_deleted",
    "agent_session_stopped",
    "subteam_members_changed",
    "user_change",
)


class EventPayloads:
    """Wraps what happened in the envelope of an `event_callback`; each has its own event id."""

    def __init__(
        self, clock: Callable[[], float], now_ts: Callable[[], str], ids: Ids, guesses: Guesses
    ) -> None:
        self._clock = clock
        self._now_ts = now_ts
        self._ids = ids
        self._guesses = guesses

    def message(self, channel: Channel, message: Json) -> Json:
        shown = {name: value for name, value in message.items() if name not in _THREAD_SUMS}
        if message.get("thread_ts") == message["ts"]:
            shown.pop("thread_ts", None)
        event = {"type": "message", **shown, **self._place(channel), "event_ts": message["ts"]}
        return self._wrap(event, channel)

    def mention(self, channel: Channel, message: Json) -> Json:
        names = _OF_A_MENTION + (_OF_FILES if self._guesses.files_in_mentions else ())
        shown = {name: message[name] for name in names if name in message}
        if message.get("subtype") == "file_share":
            # People report it of no mention, and every other of both.
            shown.pop("subtype")
        moment = message.get("edited", message)["ts"]
        event = {"type": "app_mention", **shown, "channel": channel.id, "event_ts": moment}
        return self._wrap(event, channel)

    def message_changed(self, channel: Channel, message: Json, before: Json) -> Json:
        event = {
            "type": "message",
            "subtype": "message_changed",
            "message": message,
            "previous_message": before,
            "hidden": True,
            **self._now(),
            **self._place(channel),
        }
        return self._wrap(event, channel)

    def message_deleted(self, channel: Channel, before: Json) -> Json:
        event = {
            "type": "message",
            "subtype": "message_deleted",
            "previous_message": before,
            "deleted_ts": before["ts"],
            "hidden": True,
            **self._now(),
            **self._place(channel),
        }
        return self._wrap(event, channel)

    def home_opened(self, user: str, channel: Channel, view: Json | None, tab: str) -> Json:
        """`tab`: `home` or `messages`; `view`: what the Home tab shows, if it was published."""
        event: Json = {"type": "app_home_opened", "user": user, "tab": tab}
        event |= {"channel": channel.id, "event_ts": self._now_ts()}
        if view is not None and tab == "home":
            event["view"] = view
        return self._wrap(event, channel)

    def reaction(
        self,
        change: Literal["added", "removed"],
        user: str,
        channel: Channel,
        message: Json,
        name: str,
    ) -> Json:
        event: Json = {
            "type": f"reaction_{change}",
            "user": user,
            "reaction": name,
            "item": {"type": "message", "channel": channel.id, "ts": message["ts"]},
            "event_ts": self._now_ts(),
        }
        if "user" in message:
            event["item_user"] = message["user"]
        return self._wrap(event, channel)

    def membership(
        self,
        change: Literal["joined", "left"],
        user: User,
        channel: Channel,
        inviter: str | None = None,
    ) -> Json:
        event: Json = {
            "type": f"member_{change}_channel",
            "user": user.id,
            "channel": channel.id,
            "channel_type": "C" if channel.kind == "public" else "G",
            "team": user.team_id,
            "event_ts": self._now_ts(),
        }
        if inviter:
            event["inviter"] = inviter
        return self._wrap(event, channel)

    def session_stopped(
        self, user: str, channel: Channel, thread_ts: str, streaming: Sequence[str]
    ) -> Json:
        """`streaming`: the messages that were being streamed, by their ts."""
        event: Json = {
            "type": "agent_session_stopped",
            "channel": channel.id,
            "user": user,
            "thread_ts": thread_ts,
            "streaming_message_ts": list(streaming),
            "event_ts": self._now_ts(),
        }
        return self._wrap(event, channel)

    def file_shared(self, file_id: str, user: str, channel: Channel) -> Json:
        told = {"file_id": file_id, "user_id": user, "file": {"id": file_id}}
        return self.happened("file_shared", channel, told | {"channel_id": channel.id})

    def group_changed(self, before: Group, after: Group) -> Json:
        now = int(self._clock())
        added = [one for one in after.members if one not in before.members]
        removed = [one for one in before.members if one not in after.members]
        event: Json = {
            "type": "subteam_members_changed",
            "subteam_id": after.id,
            "team_id": TEAM,
            "date_previous_update": FOUNDED,
            "date_update": now,
            "added_users": added,
            "added_users_count": len(added),
            "removed_users": removed,
            "removed_users_count": len(removed),
            "event_ts": self._now_ts(),
        }
        return self._wrap(event, None)

    def user_changed(self, user: Json) -> Json:
        changed = user | {"locale": "en-US"}
        event = {"type": "user_change", "user": changed, "cache_ts": int(self._clock())}
        return self._wrap(event | {"event_ts": self._now_ts()}, None)

    def happened(self, kind: str, channel: Channel, fields: Json) -> Json:
        """An event of another kind, with these fields."""
        return self._wrap({"type": kind, **fields, "event_ts": self._now_ts()}, channel)

    def _now(self) -> Json:
        ts = self._now_ts()
        return {"ts": ts, "event_ts": ts}

    def _place(self, channel: Channel) -> Json:
        return {"channel": channel.id, "channel_type": channel.event_type}

    def _wrap(self, event: Json, channel: Channel | None) -> Json:
        return {
            "token": VERIFICATION_TOKEN,
            "team_id": TEAM,
            "context_team_id": TEAM,
            "context_enterprise_id": None,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": self._ids.new("Ev"),
            "event_time": int(self._clock()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": channel is not None and channel.shared,
            "event_context": self._ids.new("4-"),
        }


_OF_A_MENTION = (
    "subtype",
    "user",
    "bot_id",
    "app_id",
    "bot_profile",
    "username",
    "edited",
    "root",
    "ts",
    "text",
    "team",
    "user_team",
    "source_team",
    "blocks",
    "thread_ts",
    "client_msg_id",
    "parent_user_id",
)
_OF_FILES = ("files", "upload", "display_as_bot")
_THREAD_SUMS = {
    "reply_count",
    "reply_users_count",
    "reply_users",
    "latest_reply",
    "is_locked",
    "subscribed",
}
