"""Slack's JSON as values. Only this module, ``messages``, ``commands``, ``home.visits``, ``native`` and
``shortcut.payload`` look inside a payload.

Who did something is what the payload says of its ``user``; what Bolt derives from it (its
``actor_team_id``) names this workspace even for a stranger from a shared channel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agent.rules.ids import ApprovalId, GrantId, GroupId, RunId
from bot.slack import fields
from bot.slack.cards.all_of import Listed
from bot.slack.cards.modals import approval_of, is_from_home
from bot.slack.fields import BadPayload
from bot.slack.ids import APPROVAL_ID, GRANT_ID, GROUP_ID, RUN_ID

_APPROVAL: Final = re.compile(APPROVAL_ID)
_RUN: Final = re.compile(RUN_ID)
_GRANT: Final = re.compile(GRANT_ID)
_GROUP: Final = re.compile(GROUP_ID)


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
    #: Does that message offer what they did? Otherwise it is about something else, and stays as it is.
    is_its_own: bool = True
    #: Does it offer to decide something, but nothing of what they did it to? False where it did not come.
    shows_others: bool = False

    @property
    def redrawn_at(self) -> str | None:
        """Where the message stands that they acted on, if it can be redrawn through ``response_url``."""
        if None in (self.response_url, self.channel, self.message_ts) or not self.is_its_own:
            return None
        return f"{self.channel}/{self.message_ts}"


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
    #: Was it made in their Home tab? Then ``view_hash`` says which state of that was seen.
    is_in_home: bool = False
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
    def is_of_group(self) -> bool:
        """Is it about all calls of one reply?"""
        return _GROUP.fullmatch(self.value) is not None

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
        view = fields.value(body, "view", "type")
        is_in_modal, is_in_home = view == "modal", view == "home"
        return cls(
            actor=_actor(body),
            action_id=fields.text(actions[0], "action_id"),
            value=value,
            chosen=chosen,
            block_id=fields.optional_text(actions[0], "block_id"),
            trigger_id=fields.optional_text(body, "trigger_id"),
            spot=replace(
                spot_of(body),
                is_its_own=_is_offered(body, actions[0]),
                shows_others=_shows_others(body, value),
            ),
            view_id=fields.text(body, "view", "id") if is_in_modal else None,
            view_hash=(fields.optional_text(body, "view", "hash") or None)
            if is_in_modal or is_in_home
            else None,
            is_in_home=is_in_home,
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
    def is_from_home(self) -> bool:
        """Was the modal opened in their Home tab?"""
        return is_from_home(self.private_metadata)

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
    {
        "command",
        "event_callback",
        "block_actions",
        "message_action",
        "shortcut",
        "view_submission",
        "view_closed",
    }
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
_BLOCKS: Final = ("message", "blocks")
_THREADS: Final = (("container", "thread_ts"), ("message", "thread_ts"))


def _is_offered(body: object, action: object) -> bool:
    """By the message that came with it; of a message that did not come it is believed."""
    blocks = fields.value(body, *_BLOCKS)
    if not isinstance(blocks, list):
        return True
    option = fields.value(action, "selected_option", "value")
    value = fields.value(action, "value") if option is None else option
    return (fields.value(action, "action_id"), value) in _offered(blocks)


def _shows_others(body: object, value: str) -> bool:
    # A Home tab comes whole, as the message does.
    path = ("view", "blocks") if fields.value(body, "view", "type") == "home" else _BLOCKS
    offered = _offered(fields.value(body, *path))
    # The value of a menu's option says first what is chosen.
    named = {one.rpartition("|")[2] for _, one in offered if isinstance(one, str)}
    approvals = {one for one in named if _APPROVAL.fullmatch(one)}
    return bool(approvals) and value not in approvals


def _offered(part: object, action_id: object = None) -> Iterator[tuple[object, object]]:
    """Each control's action id with each value that it can have."""
    if isinstance(part, Mapping):
        action_id = part.get("action_id", action_id)
        yield action_id, part.get("value")
    inner = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    for one in inner:
        yield from _offered(one, action_id)


def _actor(body: object) -> Actor:
    team = fields.optional_id(body, "user", "team_id")
    return Actor(fields.slack_id(body, "user", "id"), team)


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
