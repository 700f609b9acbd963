"""The payloads of the Events API."""

from __future__ import annotations

from collections.abc import Callable

from bot.sandbox.wire import Json, new_id
from bot.sandbox.workspace import APP, BOT_USER, TEAM, Channel


class EventPayloads:
    """Wraps what happened in the envelope of an `event_callback`; each has its own event id."""

    def __init__(self, clock: Callable[[], float], now_ts: Callable[[], str]) -> None:
        self._clock = clock
        self._now_ts = now_ts

    def message(self, channel: Channel, message: Json) -> Json:
        shown = {name: value for name, value in message.items() if name not in _THREAD_SUMS}
        if message.get("thread_ts") == message["ts"]:
            shown.pop("thread_ts", None)
        event = {"type": "message", **shown, **self._place(channel), "event_ts": message["ts"]}
        return self._wrap(event, channel)

    def mention(self, channel: Channel, message: Json) -> Json:
        shown = {name: message[name] for name in _OF_A_MENTION if name in message}
        event = {"type": "app_mention", **shown, "channel": channel.id, "event_ts": message["ts"]}
        return self._wrap(event, channel)

    def message_changed(self, channel: Channel, message: Json, before: Json) -> Json:
        event = {
            "type": "message",
            "subtype": "message_changed",
            "message": message,
            "previous_message": before,
            "hidden": True,
            **self._happened(),
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
            **self._happened(),
            **self._place(channel),
        }
        return self._wrap(event, channel)

    def home_opened(self, user: str, channel: Channel, view: Json | None) -> Json:
        event: Json = {"type": "app_home_opened", "user": user, "tab": "home"}
        event |= {"channel": channel.id, "event_ts": self._now_ts()}
        if view is not None:
            event["view"] = view
        return self._wrap(event, channel)

    def _happened(self) -> Json:
        ts = self._now_ts()
        return {"ts": ts, "event_ts": ts}

    def _place(self, channel: Channel) -> Json:
        return {"channel": channel.id, "channel_type": channel.event_type}

    def _wrap(self, event: Json, channel: Channel) -> Json:
        return {
            "token": "sandbox-verification-token",
            "team_id": TEAM,
            "context_team_id": TEAM,
            "context_enterprise_id": None,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": new_id("Ev"),
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
            "is_ext_shared_channel": channel.shared,
            "event_context": new_id("4-"),
        }


_OF_A_MENTION = (
    "user",
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
_THREAD_SUMS = {
    "reply_count",
    "reply_users_count",
    "reply_users",
    "latest_reply",
    "is_locked",
    "subscribed",
}
