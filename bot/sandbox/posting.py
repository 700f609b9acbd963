"""What the app and people put into channels, and the events that come of it."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.controls import controls_of, with_ids
from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.delivery.transport import Reply
from bot.sandbox.limits.blocks import check_message_blocks
from bot.sandbox.messages import Messages
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import APP, BOT, BOT_USER, TEAM, Channel, User

TEXT_KEPT = 40_000
TEXT_IN_UPDATE = 4000


@dataclass
class Content:
    """What an app says: checked against Slack's limits when made by `parse`."""

    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    metadata: Json | None = None

    @staticmethod
    def parse(arguments: Json) -> Content:
        """Raises `no_text`, `invalid_blocks`, `invalid_metadata_format` …"""
        text = arguments.get("text") or ""
        blocks = arguments.get("blocks") or []
        attachments = arguments.get("attachments") or []
        if not isinstance(text, str) or not isinstance(attachments, list):
            raise SlackError("invalid_arguments")
        if not (text.strip() or blocks or attachments):
            raise SlackError("no_text")
        check_message_blocks(blocks)
        return Content(text, with_ids(blocks), attachments, _metadata(arguments.get("metadata")))

    def fields(self) -> Json:
        found: Json = {"text": self.text[:TEXT_KEPT]}
        if self.blocks:
            found["blocks"] = self.blocks
        if self.attachments:
            found["attachments"] = self.attachments
        if self.metadata:
            found["metadata"] = self.metadata
        return found


def _metadata(given: Any) -> Json | None:
    if given is None:
        return None
    if given == {}:
        return {}
    if not isinstance(given, dict) or not isinstance(given.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    if not isinstance(given.get("event_type"), str) or not given["event_type"]:
        raise SlackError("invalid_metadata_format")
    return {"event_type": given["event_type"], "event_payload": given["event_payload"]}


class Posting:
    def __init__(self, messages: Messages, events: EventPayloads, outbox: Outbox) -> None:
        self._messages = messages
        self._events = events
        self._outbox = outbox

    def post(
        self, channel: Channel, content: Content, thread_ts: str | None, *, broadcast: bool = False
    ) -> Json:
        """A message of the app's."""
        message = {**_FROM_THE_APP, "bot_profile": BOT_PROFILE, **content.fields()}
        message |= self._thread_fields(channel, thread_ts)
        if broadcast and "thread_ts" in message:
            message["subtype"] = "thread_broadcast"
        posted = self._messages.add(channel.id, message)
        self._messages.remember_controls(channel.id, posted["ts"], controls_of(content.blocks))
        self._announce(channel, self._events.message(channel, _public(posted)))
        return posted

    def post_ephemeral(
        self, user: str, channel: Channel, content: Content, thread_ts: str | None
    ) -> Json:
        """A message of the app's that one person sees."""
        message = {**_FROM_THE_APP, **content.fields()}
        message.pop("metadata", None)
        if thread_ts:
            message["thread_ts"] = thread_ts
        posted = self._messages.add_ephemeral(user, channel.id, message)
        self._messages.remember_controls(channel.id, posted["ts"], controls_of(content.blocks))
        return posted

    def update(self, channel: Channel, ts: str, content: Content) -> Json:
        """Replace an app's own message: without blocks, those it had are gone."""
        before = self._own(channel, ts, "cant_update_message")
        if len(content.text) > TEXT_IN_UPDATE:
            raise SlackError("msg_too_long")
        fields: Json = {"blocks": None, "attachments": None, **content.fields()}
        if content.metadata == {}:
            fields["metadata"] = None
        if not content.blocks:
            fields["edited"] = {"user": BOT_USER, "ts": self._messages.next_ts()}
        message = self._messages.change(channel.id, ts, **fields)
        self._messages.remember_controls(channel.id, ts, controls_of(content.blocks))
        changed = self._events.message_changed(channel, _public(message), _public(before))
        self._announce(channel, changed)
        return message

    def delete(self, channel: Channel, ts: str) -> None:
        before = self._own(channel, ts, "cant_delete_message")
        self._messages.remove(channel.id, ts)
        self._announce(channel, self._events.message_deleted(channel, _public(before)))

    def say(
        self,
        user: User,
        channel: Channel,
        text: str,
        blocks: list[Json],
        thread_ts: str | None,
    ) -> tuple[Json, list[Json]]:
        """A person's message, and the events it makes; the caller publishes those."""
        message: Json = {
            "type": "message",
            "user": user.id,
            "client_msg_id": str(uuid.uuid4()),
            "text": text,
            "team": user.team_id,
            "user_team": user.team_id,
            "source_team": user.team_id,
            "blocks": with_ids(blocks),
        }
        message |= self._thread_fields(channel, thread_ts)
        posted = self._messages.add(channel.id, message)
        events = [self._events.message(channel, posted)] if BOT_USER in channel.members else []
        if events and channel.kind != "im" and f"<@{BOT_USER}>" in text:
            events.insert(0, self._events.mention(channel, posted))
        return posted, events

    def _thread_fields(self, channel: Channel, thread_ts: str | None) -> Json:
        """Under the parent, also where the ts of a reply was given."""
        if not thread_ts:
            return {}
        if not self._messages.exists(channel.id, thread_ts):
            raise SlackError("thread_not_found")
        parent = self._messages.read(channel.id, thread_ts)
        if parent.get("thread_ts", thread_ts) != thread_ts:
            parent = self._messages.read(channel.id, parent["thread_ts"])
        return {"thread_ts": parent["ts"], "parent_user_id": parent.get("user")}

    def _own(self, channel: Channel, ts: str, refused: str) -> Json:
        message = self._messages.read(channel.id, ts)
        if message.get("bot_id") != BOT:
            raise SlackError(refused)
        return message

    def _announce(self, channel: Channel, payload: Json) -> asyncio.Task[Reply] | None:
        """Slack tells an app of its own messages too, where it is a member."""
        return self._outbox.publish(payload) if BOT_USER in channel.members else None


_FROM_THE_APP: Json = {
    "type": "message",
    "user": BOT_USER,
    "bot_id": BOT,
    "app_id": APP,
    "team": TEAM,
}
BOT_PROFILE: Json = {
    "id": BOT,
    "app_id": APP,
    "user_id": BOT_USER,
    "name": "Pilothouse",
    "team_id": TEAM,
    "deleted": False,
    "updated": 0,
}


def _public(message: Json) -> Json:
    """Without metadata, which travels only where it is asked for."""
    return {name: value for name, value in message.items() if name != "metadata"}
