"""What people say, and where we may speak again: Slack's events as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from bot.slack import fields
from bot.slack.given.shared import SharedFile, shared_files
from bot.slack.ids import Address, Place
from bot.slack.payloads import Actor
from bot.slack.typed import unescape

#: What a person's message may be; every other subtype (edits, joins, bots) is not one.
SAID: Final = (None, "file_share", "thread_broadcast")
_CHANGED: Final = "message_changed"
_DELETED: Final = "message_deleted"
#: What stands where a message with replies was deleted.
TOMBSTONE: Final = "tombstone"
#: A mention at the beginning.
_OTHERS: Final = re.compile(r"\s*<(?:@|!subteam\^|!(?:here|channel|everyone)\b)")
_JOINED: Final = "member_joined_channel"
_UNARCHIVED: Final = ("channel_unarchive", "group_unarchive")
#: The events that may tell that we can speak in a channel again.
RETURNS: Final = (_JOINED, *_UNARCHIVED)


@dataclass(frozen=True, slots=True)
class Message:
    """A message by a person: to us, by a mention or in a direct message; or aside, in a channel's thread."""

    actor: Actor
    #: The workspace that the event was delivered for.
    team: str
    channel: str
    ts: str
    thread_ts: str | None
    #: As Slack has it: with mentions and entities.
    raw: str
    is_direct: bool
    #: It came as what is said in a thread, whoever is meant. What mentions us comes as a mention, too.
    is_aside: bool = False
    #: Who said what opened its thread, where Slack says so.
    parent_user: str | None = None
    #: What is shared with it; None: the event does not tell.
    files: tuple[SharedFile, ...] | None = ()
    #: The ts of the edit since which it reads so, where it was edited.
    edited_ts: str | None = None

    @property
    def thread(self) -> str:
        """The thread that it is in, or that it opens."""
        return self.thread_ts or self.ts

    @property
    def key(self) -> str:
        """The same for every delivery of this message, whatever the event is called."""
        return key_of(self.team, self.channel, self.ts)

    @property
    def said_at(self) -> datetime:
        """By Slack's clock."""
        return datetime.fromtimestamp(float(self.ts), UTC)

    @property
    def as_of(self) -> datetime | None:
        """When it was edited to read so, by Slack's clock; None for what was not."""
        return datetime.fromtimestamp(float(self.edited_ts), UTC) if self.edited_ts else None

    def mentions(self, bot_user: str) -> bool:
        return _mention(bot_user).search(self.raw) is not None

    def is_to_others(self, bot_user: str) -> bool:
        """Does it begin by naming somebody else than us: a person, a group, all who are there?"""
        return _OTHERS.match(_mention(bot_user).sub(" ", self.raw)) is not None

    def text(self, bot_user: str) -> str:
        """What the person typed, without the mention of the bot."""
        return unescape(_mention(bot_user).sub(" ", self.raw)).strip()

    @classmethod
    def parse(cls, body: object) -> Message | None:
        """None for what no person said to us just now: edits, joins, what bots say, what is said in
        a channel without a mention, but for a thread. Raises ``BadPayload``."""
        event = fields.value(body, "event")
        kind = fields.text(event, "type")
        is_direct = kind == "message" and _is_direct(event)
        is_aside = kind == "message" and not is_direct and bool(fields.value(event, "thread_ts"))
        if not (is_direct or is_aside) and kind != "app_mention":
            return None
        # An edited message keeps its ts; it said what it had to say when it was new.
        if any(fields.value(event, name) for name in ("bot_id", "bot_profile", "edited", "hidden")):
            return None
        if fields.value(event, "subtype") not in SAID:
            return None
        return cls(
            actor=Actor(fields.slack_id(event, "user"), _team_of_speaker(event)),
            team=fields.slack_id(body, "team_id"),
            channel=fields.slack_id(event, "channel"),
            ts=fields.timestamp(event, "ts"),
            thread_ts=fields.optional_timestamp(event, "thread_ts"),
            raw=fields.optional_text(event, "text"),
            is_direct=is_direct,
            is_aside=is_aside,
            parent_user=fields.optional_id(event, "parent_user_id"),
            files=_files(event),
        )


def key_of(team: str, channel: str, ts: str) -> str:
    """By what the message that stands there is known to the runtime."""
    return f"slack:{team}:{channel}:{ts}"


@dataclass(frozen=True, slots=True)
class Change:
    """A person's message that was edited or deleted, in a direct message or in a channel."""

    #: As it is now; one that was deleted, as it was.
    message: Message
    is_deleted: bool
    #: As it was before, where Slack says so.
    was: Message | None = None
    #: When, by Slack's clock, where it says so.
    at: datetime | None = None

    @classmethod
    def parse(cls, body: object) -> Change | None:
        """None for everything else, also for a message that only looks otherwise now: links that were unfolded,
        replies that were counted. Raises ``BadPayload``."""
        event = fields.value(body, "event")
        if fields.value(event, "type") != "message":
            return None
        kind, before = fields.value(event, "subtype"), fields.value(event, "previous_message")
        ts = fields.timestamp_or_none(fields.value(event, "event_ts"))
        at = datetime.fromtimestamp(float(ts), UTC) if ts else None
        now = fields.value(event, "message")
        # A message with replies leaves its place behind.
        if kind == _DELETED or (kind == _CHANGED and fields.value(now, "subtype") == TOMBSTONE):
            gone = _said(body, event, before)
            return cls(gone, is_deleted=True, at=at) if gone else None
        if kind != _CHANGED or not _is_edited(now, before):
            return None
        message, was = _said(body, event, now), _said(body, event, before)
        return cls(message, is_deleted=False, was=was, at=at) if message else None

    def said_anew(self, bot_user: str) -> Message:
        """As if it had been said when it was edited, in the thread where it stands, or which it opened."""
        is_aside = not (self.message.is_direct or self.message.mentions(bot_user))
        message = self.message
        ts = message.edited_ts or message.ts
        return replace(message, ts=ts, thread_ts=message.thread, is_aside=is_aside)


def _is_edited(now: object, before: object) -> bool:
    """By whoever said it, to other words."""
    editor = fields.value(now, "edited", "user")
    if editor not in (None, fields.value(now, "user")):
        return False
    if isinstance(before, Mapping):
        return fields.value(now, "text") != fields.value(before, "text")
    return fields.value(now, "edited") is not None


def _said(body: object, event: object, message: object) -> Message | None:
    """The message within an event about it; None for what no person said."""
    if not isinstance(message, Mapping) or fields.value(message, "subtype") not in SAID:
        return None
    if any(fields.value(message, name) for name in ("bot_id", "bot_profile")):
        return None
    ts, thread_ts = fields.timestamp(message, "ts"), fields.optional_timestamp(message, "thread_ts")
    return Message(
        actor=Actor(fields.slack_id(message, "user"), _team_of_speaker(message)),
        team=fields.slack_id(body, "team_id"),
        channel=fields.slack_id(event, "channel"),
        ts=ts,
        # What opened a thread is in none.
        thread_ts=thread_ts if thread_ts != ts else None,
        raw=fields.optional_text(message, "text"),
        is_direct=_is_direct(event),
        parent_user=fields.optional_id(message, "parent_user_id"),
        edited_ts=edited_ts_of(message),
    )


def edited_ts_of(shown: object) -> str | None:
    """Of a message as Slack shows it: the ts of the edit since which it reads so; None for none. Raises nothing."""
    return fields.timestamp_or_none(fields.value(shown, "edited", "ts"))


def address_of(key: str) -> Address | None:
    """Where the message of this key stands; None for what is no message's."""
    match key.split(":"):
        case ["slack", _, channel, ts] if Address.is_one(f"{channel}/{ts}"):
            return Address(channel, ts)
        case _:
            return None


def is_of_a_bot(body: object) -> bool:
    """Is it an event about what a bot said: that it did, or that it changed? Each of ours comes back so, and
    none of them says anything to us. Raises nothing."""
    event = fields.value(body, "event")
    return fields.value(event, "type") == "message" and any(
        fields.value(event, *path, "bot_id") for path in ((), ("message",), ("previous_message",))
    )


def returned_to(body: object, bot_user: str) -> Place | None:
    """The channel in which we may speak again, by an event that says so: we have been invited, or it was
    taken out of the archive. None for whatever else happened. Raises ``BadPayload``."""
    event = fields.value(body, "event")
    kind = fields.text(event, "type")
    is_ours = kind == _JOINED and fields.slack_id(event, "user") == bot_user
    if not is_ours and kind not in _UNARCHIVED:
        return None
    return Place(fields.slack_id(body, "team_id"), fields.slack_id(event, "channel"))


def _mention(bot_user: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(bot_user)}(\|[^>]*)?>")


def _files(event: object) -> tuple[SharedFile, ...] | None:
    """None of a mention that may have lost them on its way: Slack names no workspace of who speaks where files are
    shared, and a mention is not promised to have them."""
    is_said = fields.value(event, "files") is not None
    is_mention = fields.value(event, "type") == "app_mention"
    if not is_said and is_mention and not fields.value(event, "team"):
        return None
    return shared_files(event)


def _is_direct(event: object) -> bool:
    """Was it said in a direct message? Where the event does not say, the channel's id does."""
    kind, channel = fields.value(event, "channel_type"), fields.value(event, "channel")
    return kind == "im" or (not kind and isinstance(channel, str) and channel.startswith("D"))


def _team_of_speaker(event: object) -> str | None:
    """The speaker's workspace. An event may name their organisation instead, which does not tell."""
    for name in ("user_team", "source_team", "team"):
        team = fields.optional_id(event, name)
        if team and not team.startswith("E"):
            return team
    return None
