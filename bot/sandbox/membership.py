"""Who is in a channel, and whether it still lives; with the events that come of a change."""

from __future__ import annotations

from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.wire import Json
from bot.sandbox.workspace import BOT_USER, Channel, User, Workspace

#: Who archives channels and removes apps.
ADMIN = "U0ALICE"


class Membership:
    """The lines that Slack's client shows of this ("… joined the channel") aren't made here."""

    def __init__(self, workspace: Workspace, events: EventPayloads, outbox: Outbox) -> None:
        self._workspace = workspace
        self._events = events
        self._outbox = outbox

    def join(self, channel: Channel) -> bool:
        """The app becomes a member; False if it was one."""
        if channel.has_bot:
            return False
        channel.members.append(BOT_USER)
        self._outbox.publish(self._events.membership("joined", self._bot, channel))
        return True

    def leave(self, channel: Channel) -> bool:
        """The app is no member any more; False if it was none."""
        if not channel.has_bot:
            return False
        channel.members.remove(BOT_USER)
        # That the app is told of both, though it is gone, is not verified.
        self._outbox.publish(self._events.membership("left", self._bot, channel))
        left = "channel_left" if channel.kind == "public" else "group_left"
        self._tell(channel, left, {"channel": channel.id, "actor_id": BOT_USER})
        return True

    def archive(self, channel: Channel) -> None:
        self._set_archived(channel, True)

    def unarchive(self, channel: Channel) -> None:
        self._set_archived(channel, False)

    def _set_archived(self, channel: Channel, archived: bool) -> None:
        if channel.archived is archived:
            return
        channel.archived = archived
        kind = "channel" if channel.kind == "public" else "group"
        what = "archive" if archived else "unarchive"
        if channel.has_bot or channel.kind == "public":
            self._tell(channel, f"{kind}_{what}", {"channel": channel.id, "user": ADMIN})

    @property
    def _bot(self) -> User:
        return self._workspace.users[BOT_USER]

    def _tell(self, channel: Channel, kind: str, fields: Json) -> None:
        self._outbox.publish(self._events.happened(kind, channel, fields))
