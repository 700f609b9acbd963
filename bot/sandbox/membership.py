"""Who is in a channel, and whether it still lives; with the events that come of a change."""

from __future__ import annotations

from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.posting import Posting
from bot.sandbox.wire import Json
from bot.sandbox.workspace import BOT_USER, Channel, User, Workspace

#: Who archives channels and removes apps.
ADMIN = "U0ALICE"


class Membership:
    """Slack writes a line into the channel of whoever comes or goes, which is a message of its own."""

    def __init__(
        self, workspace: Workspace, events: EventPayloads, posting: Posting, outbox: Outbox
    ) -> None:
        self._workspace = workspace
        self._events = events
        self._posting = posting
        self._outbox = outbox

    def enter(self, user: User, channel: Channel, inviter: str | None = None) -> list[Json]:
        """Somebody becomes a member; the events of it, which the caller publishes."""
        channel.members.append(user.id)
        invited = {"inviter": inviter} if inviter else {}
        more = {"team": user.team_id, **invited}
        words = f"<@{user.id}> has joined the channel"
        return [
            self._events.membership("joined", user, channel, inviter),
            self._posting.line(channel, "channel_join", user.id, words, **more),
        ]

    def exit(self, user: User, channel: Channel) -> list[Json]:
        """Somebody is no member any more; the events of it, which the caller publishes."""
        channel.members.remove(user.id)
        words = f"<@{user.id}> has left the channel"
        return [
            self._events.membership("left", user, channel),
            self._posting.line(channel, "channel_leave", user.id, words, team=user.team_id),
        ]

    def join(self, channel: Channel) -> bool:
        """The app becomes a member; False if it was one."""
        if channel.has_bot:
            return False
        for event in self.enter(self._bot, channel):
            self._outbox.publish(event)
        return True

    def leave(self, channel: Channel) -> bool:
        """The app is no member any more; False if it was none."""
        if not channel.has_bot:
            return False
        # That the app is told of both, though it is gone, is not verified; of the line it isn't.
        departure, _ = self.exit(self._bot, channel)
        self._outbox.publish(departure)
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
            fields = {"channel": channel.id, "user": ADMIN}
            self._tell(channel, f"{kind}_{what}", fields | ({"is_moved": 0} if archived else {}))

    @property
    def _bot(self) -> User:
        return self._workspace.users[BOT_USER]

    def _tell(self, channel: Channel, kind: str, fields: Json) -> None:
        self._outbox.publish(self._events.happened(kind, channel, fields))
