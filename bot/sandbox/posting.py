"""What the app and people put into channels, and the events that come of it."""

from __future__ import annotations

from typing import Any

from bot.sandbox.content import Content
from bot.sandbox.controls import controls_of, with_ids
from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.ids import Ids
from bot.sandbox.messages import Messages
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import APP, BOT, BOT_NAME, BOT_USER, TEAM, Channel, User

TEXT_IN_UPDATE = 4000


class Posting:
    def __init__(self, messages: Messages, events: EventPayloads, outbox: Outbox, ids: Ids) -> None:
        self._messages = messages
        self._events = events
        self._outbox = outbox
        self._ids = ids

    def post(
        self,
        channel: Channel,
        content: Content,
        thread_ts: str | None,
        *,
        broadcast: bool = False,
        **more: Any,
    ) -> Json:
        """A message of the app's; `more` are further fields of it."""
        message = {**_FROM_THE_APP, "bot_profile": _BOT_PROFILE, **content.fields(), **more}
        message |= self._thread_fields(channel, thread_ts)
        if broadcast and "thread_ts" in message:
            message |= self._broadcast_fields(channel, message["thread_ts"])
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
        """Replace an app's own message, but for what is to be retained."""
        self.own(channel, ts, "cant_update_message")
        if len(content.text) > TEXT_IN_UPDATE:
            raise SlackError("msg_too_long")
        gone: Json = dict.fromkeys(("blocks", "attachments", "streaming_state"))
        fields = {
            name: value
            for name, value in (gone | content.fields()).items()
            if name not in content.retained
        }
        if content.metadata == {}:
            fields["metadata"] = None
        if not content.blocks and "blocks" not in content.retained:
            fields["edited"] = {"user": BOT_USER, "ts": self._messages.next_ts()}
        return self.change(channel, ts, fields)

    def broadcast(self, channel: Channel, ts: str) -> Json:
        """Show a reply in the channel too, afterwards."""
        message = self.own(channel, ts, "cant_update_message")
        if message.get("thread_ts", ts) == ts:
            raise SlackError("cant_broadcast_message")
        return self.change(channel, ts, self._broadcast_fields(channel, message["thread_ts"]))

    def change(self, channel: Channel, ts: str, fields: Json, *, quietly: bool = False) -> Json:
        """Set these fields of a message, and tell of it unless `quietly`."""
        before = self._messages.read(channel.id, ts)
        message = self._messages.change(channel.id, ts, **fields)
        self._messages.remember_controls(channel.id, ts, controls_of(fields.get("blocks") or []))
        if not quietly:
            told = self._events.message_changed(channel, _public(message), _public(before))
            self._announce(channel, told)
        return message

    def delete(self, channel: Channel, ts: str) -> None:
        """Raises `message_not_found`, and `cant_delete_message` for one that isn't the app's."""
        self._remove(channel, self.own(channel, ts, "cant_delete_message"))

    def delete_by_person(self, channel: Channel, ts: str) -> None:
        """Whoever's it is: admins may. Raises `message_not_found`."""
        self._remove(channel, self._messages.read(channel.id, ts))

    def own(self, channel: Channel, ts: str, refused: str) -> Json:
        """The app's own message. Raises `message_not_found`, or `refused` for another's."""
        message = self._messages.read(channel.id, ts)
        if message.get("bot_id") != BOT:
            raise SlackError(refused)
        return message

    def say(
        self,
        user: User,
        channel: Channel,
        text: str,
        blocks: list[Json],
        thread_ts: str | None,
        *,
        broadcast: bool = False,
        **more: Any,
    ) -> tuple[Json, list[Json]]:
        """A person's message with these further fields, and the events it makes; the caller
        publishes those."""
        message: Json = {
            "type": "message",
            "user": user.id,
            "client_msg_id": self._ids.uuid(),
            "text": text,
            **more,
        }
        if blocks:
            message["blocks"] = with_ids(blocks, self._ids)
        if "files" not in more:
            # Beside a file Slack doesn't say of which workspace its author is.
            message |= dict.fromkeys(("team", "user_team", "source_team"), user.team_id)
        return self.put(channel, message, thread_ts, broadcast=broadcast)

    def put(
        self, channel: Channel, message: Json, thread_ts: str | None, *, broadcast: bool = False
    ) -> tuple[Json, list[Json]]:
        """A message of whomever, as it is, and its events as with `say`."""
        message = message | self._thread_fields(channel, thread_ts)
        if broadcast:
            message |= self._broadcast_fields(channel, message["thread_ts"])
        posted = self._messages.add(channel.id, message)
        events = [self._events.message(channel, posted)] if channel.has_bot else []
        if events and _mentions_app(channel, posted):
            events.insert(0, self._events.mention(channel, posted))
        return posted, events

    def line(self, channel: Channel, subtype: str, user: str, text: str, **more: Any) -> Json:
        """What Slack itself writes into a channel of somebody; its event."""
        message = {"type": "message", "subtype": subtype, "user": user, "text": text, **more}
        return self._events.message(channel, self._messages.add(channel.id, message))

    def changed(self, channel: Channel, ts: str, fields: Json) -> list[Json]:
        """Set these fields of whosever message; the events of it, which the caller publishes."""
        before = self._messages.read(channel.id, ts)
        after = self.change(channel, ts, fields, quietly=True)
        events = [self._events.message_changed(channel, _public(after), _public(before))]
        # Each edit of a mention is told as a mention anew, whether it was one before or not.
        if "edited" in fields and _mentions_app(channel, after):
            events.insert(0, self._events.mention(channel, after))
        return events

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

    def _broadcast_fields(self, channel: Channel, parent_ts: str) -> Json:
        return {
            "subtype": "thread_broadcast",
            "root": _public(self._messages.read(channel.id, parent_ts)),
        }

    def removed(self, channel: Channel, message: Json) -> Json:
        """Take it away; the event that this makes. A parent with replies leaves a tombstone."""
        self._messages.remove(channel.id, message["ts"])
        if self._messages.exists(channel.id, message["ts"]):
            tombstone = self._messages.read(channel.id, message["ts"])
            return self._events.message_changed(channel, tombstone, _public(message))
        return self._events.message_deleted(channel, _public(message))

    def _remove(self, channel: Channel, message: Json) -> None:
        self._announce(channel, self.removed(channel, message))

    def _announce(self, channel: Channel, payload: Json) -> None:
        """Slack tells an app of its own messages too, where it is a member."""
        if channel.has_bot:
            self._outbox.publish(payload)


_FROM_THE_APP: Json = {
    "type": "message",
    "user": BOT_USER,
    "bot_id": BOT,
    "app_id": APP,
    "team": TEAM,
}
_BOT_PROFILE: Json = {
    "id": BOT,
    "app_id": APP,
    "user_id": BOT_USER,
    "name": BOT_NAME,
    "team_id": TEAM,
    "deleted": False,
    "updated": 0,
    "icons": {},
}


def _mentions_app(channel: Channel, message: Json) -> bool:
    """In a direct message a mention is a message like any other."""
    return channel.kind != "im" and f"<@{BOT_USER}>" in message["text"]


def _public(message: Json) -> Json:
    """Without metadata, which travels only where it is asked for."""
    return {name: value for name, value in message.items() if name != "metadata"}
