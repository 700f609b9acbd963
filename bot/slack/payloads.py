"""Slack's JSON as values. Only this module looks inside a payload.

Who did something is what the payload says of its ``user``; what Bolt derives from it (its
``actor_team_id``) names this workspace even for a stranger from a shared channel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent.rules.ids import ApprovalId
from bot.slack.typed import unescape

# Ids become parts of names (``slack:TEAM:USER``): nothing else may get in with them.
_TEAM: Final = re.compile(r"[TE][A-Z0-9]{2,}")
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,}")
_CHANNEL: Final = re.compile(r"[CDG][A-Z0-9]{2,}")
_TS: Final = re.compile(r"\d{1,16}\.\d{1,9}")
_APPROVAL: Final = re.compile(r"apr_[0-9A-Za-z-]{1,80}")
#: What a person's message may be; every other subtype (edits, joins, bots) is not one.
_SAID: Final = (None, "file_share")


class BadPayload(Exception):
    """A payload that Slack would not send: ``where`` names the field. It never holds the content."""

    def __init__(self, where: str) -> None:
        super().__init__(f"The payload has no usable {where}.")
        self.where = where


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something, as the payload says it. ``team`` is None where it does not say."""

    user: str
    team: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command."""

    actor: Actor
    channel: str
    name: str
    text: str
    trigger_id: str = field(repr=False)
    response_url: str | None = field(repr=False)

    @classmethod
    def parse(cls, body: object) -> Command:
        """Raises ``BadPayload``."""
        return cls(
            actor=Actor(_id(_USER, body, "user_id"), _team(_value(body, "team_id"))),
            channel=_id(_CHANNEL, body, "channel_id"),
            name=_text(body, "command"),
            text=unescape(_optional(body, "text") or ""),
            trigger_id=_text(body, "trigger_id"),
            response_url=_optional(body, "response_url"),
        )


@dataclass(frozen=True, slots=True)
class Message:
    """A message by a person, to us: a mention, or one in a direct message."""

    actor: Actor
    #: The workspace that the event was delivered for.
    team: str
    channel: str
    ts: str
    thread_ts: str | None
    #: As Slack has it: with mentions and entities.
    raw: str
    is_direct: bool

    @property
    def thread(self) -> str:
        """The thread that it is in, or that it opens."""
        return self.thread_ts or self.ts

    @property
    def key(self) -> str:
        """The same for every delivery of this message, whatever the event is called."""
        return f"slack:{self.team}:{self.channel}:{self.ts}"

    def text(self, bot_user: str) -> str:
        """What the person typed, without the mention of the bot."""
        mention = re.compile(rf"<@{re.escape(bot_user)}(\|[^>]*)?>")
        return unescape(mention.sub(" ", self.raw)).strip()

    @classmethod
    def parse(cls, body: object) -> Message | None:
        """None for what no person said to us just now: edits, joins, what bots say, what is said in
        a channel without a mention. Raises ``BadPayload``."""
        event = _value(body, "event")
        kind = _text(event, "type")
        is_direct = kind == "message" and _value(event, "channel_type") == "im"
        if not is_direct and kind != "app_mention":
            return None
        # An edited message keeps its ts; it said what it had to say when it was new.
        if any(_value(event, name) for name in ("bot_id", "bot_profile", "edited", "hidden")):
            return None
        if _value(event, "subtype") not in _SAID:
            return None
        return cls(
            actor=Actor(_id(_USER, event, "user"), _team_of_speaker(event)),
            team=_id(_TEAM, body, "team_id"),
            channel=_id(_CHANNEL, event, "channel"),
            ts=_id(_TS, event, "ts"),
            thread_ts=_id(_TS, event, "thread_ts") if _value(event, "thread_ts") else None,
            raw=_optional(event, "text") or "",
            is_direct=is_direct,
        )


@dataclass(frozen=True, slots=True)
class Click:
    """A click on a button. ``value`` is opaque here; ``approval_id`` reads it as an approval's id."""

    actor: Actor
    action_id: str
    value: str
    trigger_id: str = field(repr=False)
    response_url: str | None = field(repr=False)
    channel: str | None = None
    thread_ts: str | None = None

    @property
    def approval_id(self) -> ApprovalId:
        """Raises ``BadPayload``."""
        return read_approval_id(self.value)

    @classmethod
    def parse(cls, body: object) -> Click:
        """Raises ``BadPayload``."""
        actions = _value(body, "actions")
        if not isinstance(actions, list) or not actions:
            raise BadPayload("actions")
        thread_ts = _value(body, "container", "thread_ts") or _value(body, "message", "thread_ts")
        return cls(
            actor=_actor(body),
            action_id=_text(actions[0], "action_id"),
            value=_optional(actions[0], "value") or "",
            trigger_id=_optional(body, "trigger_id") or "",
            response_url=_optional(body, "response_url"),
            channel=_string(
                _value(body, "container", "channel_id") or _value(body, "channel", "id")
            ),
            thread_ts=_string(thread_ts),
        )


@dataclass(frozen=True, slots=True)
class Submission:
    """A modal that was sent off. ``values`` are what its inputs hold: block id → action id → state."""

    actor: Actor
    callback_id: str
    view_id: str
    private_metadata: str
    values: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @classmethod
    def parse(cls, body: object) -> Submission:
        """Raises ``BadPayload``."""
        return cls(
            actor=_actor(body),
            callback_id=_text(body, "view", "callback_id"),
            view_id=_text(body, "view", "id"),
            private_metadata=_text(body, "view", "private_metadata"),
            values=_state_values(_value(body, "view", "state", "values")),
        )


def read_approval_id(text: str) -> ApprovalId:
    """The whole text as an approval's id. Raises ``BadPayload``."""
    if not _APPROVAL.fullmatch(text):
        raise BadPayload("approval id")
    return ApprovalId(text)


def actor_of(body: object) -> Actor | None:
    """Whoever is behind a payload of any kind, to be answered; None when it does not say."""
    for path in (("user", "id"), ("user_id",), ("event", "user")):
        user = _value(body, *path)
        if isinstance(user, str) and _USER.fullmatch(user):
            return Actor(user)
    return None


def kind_of(body: object) -> str:
    """What sort of payload it is, in words that are safe to log."""
    kind = "command" if _value(body, "command") is not None else _value(body, "type")
    return kind if isinstance(kind, str) and kind in _KINDS else "unknown"


_KINDS: Final = frozenset(
    {"command", "event_callback", "block_actions", "view_submission", "view_closed", "shortcut"}
)


def response_url_of(body: object) -> str | None:
    """Where a payload of any kind may be answered, if anywhere."""
    return _string(_value(body, "response_url"))


def _actor(body: object) -> Actor:
    return Actor(_id(_USER, body, "user", "id"), _team(_value(body, "user", "team_id")))


def _team_of_speaker(event: object) -> str | None:
    """The speaker's workspace. An event may name their organisation instead, which does not tell."""
    for name in ("user_team", "source_team", "team"):
        team = _team(_value(event, name))
        if team and team.startswith("T"):
            return team
    return None


def _team(value: object) -> str | None:
    """A workspace's or an organisation's id; None where there is none. Raises ``BadPayload``."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not _TEAM.fullmatch(value):
        raise BadPayload("team id")
    return value


def _value(body: object, *path: str) -> object:
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def _state_values(values: object) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    if not isinstance(values, Mapping):
        raise BadPayload("view.state.values")
    for block in values.values():
        if not isinstance(block, Mapping) or not all(
            isinstance(element, Mapping) for element in block.values()
        ):
            raise BadPayload("view.state.values")
    return values


def _id(pattern: re.Pattern[str], body: object, *path: str) -> str:
    value = _value(body, *path)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BadPayload(".".join(path))
    return value


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _optional(body: object, *path: str) -> str | None:
    value = _value(body, *path)
    if value is not None and not isinstance(value, str):
        raise BadPayload(".".join(path))
    return value


def _text(body: object, *path: str) -> str:
    value = _value(body, *path)
    if not isinstance(value, str) or not value:
        raise BadPayload(".".join(path))
    return value
