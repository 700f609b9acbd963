"""Slack's JSON as values. Only this module looks inside a payload.

Who did something is what the payload says of its ``user``; what Bolt derives from it (its
``actor_team_id``) names this workspace even for a stranger from a shared channel.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent.rules.ids import ApprovalId, GrantId, GroupId, RunId
from bot.slack import fields
from bot.slack.cards.all_of import Listed
from bot.slack.cards.modals import approval_of
from bot.slack.fields import BadPayload
from bot.slack.ids import APPROVAL_ID, GRANT_ID, GROUP_ID, RUN_ID, Place
from bot.slack.typed import unescape

_APPROVAL: Final = re.compile(APPROVAL_ID)
_RUN: Final = re.compile(RUN_ID)
_GRANT: Final = re.compile(GRANT_ID)
_GROUP: Final = re.compile(GROUP_ID)
#: What a person's message may be; every other subtype (edits, joins, bots) is not one.
_SAID: Final = (None, "file_share", "thread_broadcast")
#: A mention at the beginning.
_OTHERS: Final = re.compile(r"\s*<(?:@|!subteam\^|!(?:here|channel|everyone)\b)")
_JOINED: Final = "member_joined_channel"
_UNARCHIVED: Final = ("channel_unarchive", "group_unarchive")
#: The events that may tell that we can speak in a channel again.
RETURNS: Final = (_JOINED, *_UNARCHIVED)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something, as the payload says it. ``team`` is None where it does not say."""

    user: str
    team: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where somebody acted, as far as the payload says, and how they can be answered there."""

    response_url: str | None = field(default=None, repr=False)
    channel: str | None = None
    thread_ts: str | None = None
    #: Of the message that they acted on.
    message_ts: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command."""

    actor: Actor
    channel: str
    name: str
    text: str
    trigger_id: str = field(repr=False)
    spot: Spot

    @classmethod
    def parse(cls, body: object) -> Command:
        """Raises ``BadPayload``."""
        return cls(
            actor=Actor(fields.slack_id(body, "user_id"), fields.optional_id(body, "team_id")),
            channel=fields.slack_id(body, "channel_id"),
            name=fields.text(body, "command"),
            text=unescape(fields.optional_text(body, "text")),
            trigger_id=fields.optional_text(body, "trigger_id"),
            spot=spot_of(body),
        )

    @property
    def key(self) -> str | None:
        """The same for each delivery of this use of the command; without the trigger and the response
        URL themselves, which are secrets for as long as they work. None where neither is there."""
        once = (self.trigger_id, self.spot.response_url or "")
        if not any(once):
            return None
        said = json.dumps([*once, self.actor.user, self.channel, self.name, self.text])
        return "command:" + hashlib.sha256(said.encode()).hexdigest()


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

    @property
    def thread(self) -> str:
        """The thread that it is in, or that it opens."""
        return self.thread_ts or self.ts

    @property
    def key(self) -> str:
        """The same for every delivery of this message, whatever the event is called."""
        return f"slack:{self.team}:{self.channel}:{self.ts}"

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
        if fields.value(event, "subtype") not in _SAID:
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
        )


@dataclass(frozen=True, slots=True)
class Click:
    """A click on a button, or a choice. ``value`` is opaque here; ``approval_id``, ``run_id`` and
    ``grant_id`` read it."""

    actor: Actor
    action_id: str
    value: str
    trigger_id: str = field(repr=False)
    spot: Spot
    #: Of the option that was chosen in a menu, what stands before the ``|``; ``value`` is what stands behind
    #: it. None for a button.
    chosen: str | None = None
    #: The modal that it was made in, and which state of it was seen there; None: elsewhere.
    view_id: str | None = None
    view_hash: str | None = field(default=None, repr=False)
    #: Of the row that the button stands in.
    block_id: str = ""

    @property
    def is_one_of_several(self) -> bool:
        """Does its message have others of its kind?"""
        return ":" in self.action_id

    @property
    def approval_id(self) -> ApprovalId:
        """Raises ``BadPayload``."""
        return read_approval_id(self.value)

    @property
    def run_id(self) -> RunId:
        """The value as a run's id. Raises ``BadPayload``."""
        if not _RUN.fullmatch(self.value):
            raise BadPayload("run id")
        return RunId(self.value)

    @property
    def grant_id(self) -> GrantId:
        """The value as a grant's id. Raises ``BadPayload``."""
        if not _GRANT.fullmatch(self.value):
            raise BadPayload("grant id")
        return GrantId(self.value)

    @property
    def group_id(self) -> GroupId:
        """The value as a group's id. Raises ``BadPayload``."""
        if not _GROUP.fullmatch(self.value):
            raise BadPayload("group id")
        return GroupId(self.value)

    @property
    def first_of_card(self) -> ApprovalId:
        """Of the card of several calls that it is on. Raises ``BadPayload``."""
        return read_approval_id(self.block_id)

    @classmethod
    def parse(cls, body: object) -> Click:
        """Raises ``BadPayload``."""
        actions = fields.value(body, "actions")
        if not isinstance(actions, list) or not actions:
            raise BadPayload("actions")
        value, chosen = fields.optional_text(actions[0], "value"), None
        if fields.value(actions[0], "selected_option") is not None:
            chosen, _, value = fields.text(actions[0], "selected_option", "value").partition("|")
        is_in_modal = fields.value(body, "view", "type") == "modal"
        return cls(
            actor=_actor(body),
            action_id=fields.text(actions[0], "action_id"),
            value=value,
            chosen=chosen,
            block_id=fields.optional_text(actions[0], "block_id"),
            trigger_id=fields.optional_text(body, "trigger_id"),
            spot=spot_of(body),
            view_id=fields.text(body, "view", "id") if is_in_modal else None,
            view_hash=fields.optional_text(body, "view", "hash") or None if is_in_modal else None,
        )


@dataclass(frozen=True, slots=True)
class Submission:
    """A modal that was sent off. ``values`` are what its inputs hold: block id → action id → state."""

    actor: Actor
    callback_id: str
    view_id: str
    private_metadata: str
    values: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def approval_id(self) -> ApprovalId:
        """Which approval the modal is about. Raises ``BadPayload``."""
        named = approval_of(self.private_metadata)
        if named is None:
            raise BadPayload("view.private_metadata")
        return read_approval_id(named)

    @property
    def listed(self) -> Listed:
        """What the modal listed. Raises ``BadPayload``."""
        listed = Listed.read(self.private_metadata)
        if listed is None or not _GROUP.fullmatch(listed.group):
            raise BadPayload("view.private_metadata")
        for approval_id in listed.approvals:
            read_approval_id(approval_id)
        return listed

    @classmethod
    def parse(cls, body: object) -> Submission:
        """Raises ``BadPayload``."""
        return cls(
            actor=_actor(body),
            callback_id=fields.text(body, "view", "callback_id"),
            view_id=fields.text(body, "view", "id"),
            private_metadata=fields.text(body, "view", "private_metadata"),
            values=_state_values(fields.value(body, "view")),
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


def read_approval_id(text: str) -> ApprovalId:
    """The whole text as an approval's id. Raises ``BadPayload``."""
    if not _APPROVAL.fullmatch(text):
        raise BadPayload("approval id")
    return ApprovalId(text)


def actor_of(body: object) -> Actor | None:
    """Whoever is behind a payload of any kind, to be answered; None when it does not say."""
    for path in (("user", "id"), ("user_id",), ("event", "user")):
        user = fields.value(body, *path)
        if (known := fields.id_or_none(user)) is not None:
            return Actor(known)
    return None


def kind_of(body: object) -> str:
    """What sort of payload it is, in words that are safe to log."""
    kind = "command" if fields.value(body, "command") is not None else fields.value(body, "type")
    return kind if isinstance(kind, str) and kind in _KINDS else "unknown"


_KINDS: Final = frozenset(
    {"command", "event_callback", "block_actions", "view_submission", "view_closed", "shortcut"}
)


def spot_of(body: object) -> Spot:
    """Where a payload of any kind may be answered; what it does not say, or not well, is None."""
    url = fields.value(body, "response_url")
    channels = (fields.value(body, *path) for path in _CHANNELS)
    threads = (fields.value(body, *path) for path in _THREADS)
    return Spot(
        response_url=url if isinstance(url, str) and url else None,
        channel=fields.id_or_none(next(filter(None, channels), None)),
        thread_ts=fields.timestamp_or_none(next(filter(None, threads), None)),
        message_ts=fields.timestamp_or_none(fields.value(body, "container", "message_ts")),
    )


_CHANNELS: Final = (("container", "channel_id"), ("channel", "id"), ("channel_id",))
_THREADS: Final = (("container", "thread_ts"), ("message", "thread_ts"))


def _mention(bot_user: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(bot_user)}(\|[^>]*)?>")


def _actor(body: object) -> Actor:
    team = fields.optional_id(body, "user", "team_id")
    return Actor(fields.slack_id(body, "user", "id"), team)


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


def _state_values(view: object) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """What stands in the inputs; a modal of which Slack tells no state has nothing in them."""
    state = fields.value(view, "state")
    values = {} if state is None else fields.value(state, "values")
    if values is None and isinstance(state, Mapping):
        values = {}
    if not isinstance(values, Mapping):
        raise BadPayload("view.state.values")
    for block in values.values():
        if not isinstance(block, Mapping) or not all(
            isinstance(element, Mapping) for element in block.values()
        ):
            raise BadPayload("view.state.values")
    return values
