"""The messages of all channels, their threads, and what only one person sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bot.sandbox.wire import Json, SlackError, copied

EPHEMERALS_KEPT = 500
#: In microseconds: so far behind the last message a clock was set back. One that stands still, or is
#: mended a little, is behind it by less.
SET_BACK = 1_000_000


class Messages:
    """Messages as Slack returns them. Those handed out are copies."""

    def __init__(self, clock: Callable[[], float], touch: Callable[[], int]) -> None:
        self._clock = clock
        self._touch = touch
        self._last_microsecond = 0
        self._channels: dict[str, dict[str, Json]] = {}
        self._replies: dict[tuple[str, str], list[str]] = {}
        self._controls: dict[tuple[str, str], dict[str, Json]] = {}
        #: Oldest change first, so that what changed since a version is a short walk from the end.
        self._changes: dict[tuple[str, str], int] = {}
        self.ephemerals: list[Json] = []

    def next_ts(self) -> str:
        """The time as Slack writes it, and never that of a message that is there.

        It moves even where the clock stands still; where that is set back, it goes back, too.
        """
        now = int(self._clock() * 1_000_000)
        is_set_back = now < self._last_microsecond - SET_BACK
        last = now if is_set_back else max(self._last_microsecond + 1, now)
        while any(_written(last) in found for found in self._channels.values()):
            last += 1
        self._last_microsecond = last
        return _written(last)

    def add(self, channel: str, message: Json) -> Json:
        ts = self.next_ts()
        stored = {**copied(message), "ts": ts}
        self._channels.setdefault(channel, {})[ts] = stored
        parent = stored.get("thread_ts")
        if parent is not None:
            self._replies.setdefault((channel, parent), []).append(ts)
            self._changed(channel, parent)
        self._changed(channel, ts)
        return self.read(channel, ts)

    def add_ephemeral(self, user: str, channel: str, message: Json) -> Json:
        """A message for one person only; gone with the process, as Slack promises nothing more."""
        shown = {**copied(message), "ts": self.next_ts(), "channel": channel}
        shown |= {"user_seeing": user, "is_ephemeral": True}
        self.ephemerals.append(shown)
        for oldest in self.ephemerals[:-EPHEMERALS_KEPT]:
            self.remove_ephemeral(oldest["channel"], oldest["ts"])
        self._touch()
        return shown

    def change(self, channel: str, ts: str, **fields: Any) -> Json:
        """Set fields, or take them away where the value is None."""
        message = self._stored(channel, ts)
        for name, value in fields.items():
            if value is None:
                message.pop(name, None)
            else:
                message[name] = copied(value)
        self._changed(channel, ts)
        return self.read(channel, ts)

    def remove(self, channel: str, ts: str) -> None:
        """A parent with replies leaves a tombstone, any other message goes."""
        message = self._stored(channel, ts)
        parent = message.get("thread_ts")
        if self._replies.get((channel, ts)):
            tomb = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": ts}
            message.clear()
            message.update(tomb, text="This message was deleted.", hidden=True)
        else:
            del self._channels[channel][ts]
            self._controls.pop((channel, ts), None)
        if parent is not None:
            self._replies[(channel, parent)].remove(ts)
            self._changed(channel, parent)
        self._changed(channel, ts)

    def read(self, channel: str, ts: str, *, metadata: bool = True) -> Json:
        """One message; a parent comes with the sum of its thread. Or `message_not_found`."""
        message = copied(self._stored(channel, ts))
        if not metadata:
            message.pop("metadata", None)
        replies = self._replies.get((channel, ts))
        if replies:
            authors = {self._channels[channel][reply].get("user", "") for reply in replies}
            message |= {
                "thread_ts": ts,
                "reply_count": len(replies),
                "reply_users_count": len(authors),
                "reply_users": sorted(authors),
                "latest_reply": max(replies),
                "is_locked": False,
                "subscribed": True,
            }
        return message

    def exists(self, channel: str, ts: str) -> bool:
        return ts in self._channels.get(channel, {})

    def stands(self, channel: str, ts: str) -> bool:
        """Is it there, and not only what a deleted parent leaves?"""
        message = self._channels.get(channel, {}).get(ts)
        return message is not None and message.get("subtype") != "tombstone"

    def top_level(self, channel: str, *, metadata: bool = True) -> list[Json]:
        """Oldest first."""
        found = self._channels.get(channel, {})
        return [
            self.read(channel, ts, metadata=metadata)
            for ts, message in sorted(found.items())
            if "thread_ts" not in message or message.get("subtype") == "thread_broadcast"
        ]

    def thread(self, channel: str, ts: str, *, metadata: bool = True) -> list[Json]:
        """The parent, then its replies, oldest first."""
        every = [ts, *sorted(self._replies.get((channel, ts), []))]
        return [self.read(channel, one, metadata=metadata) for one in every]

    def ephemeral(self, channel: str, ts: str) -> Json | None:
        for message in self.ephemerals:
            if (message["channel"], message["ts"]) == (channel, ts):
                return message
        return None

    def change_ephemeral(self, channel: str, ts: str, fields: Json) -> None:
        message = self.ephemeral(channel, ts)
        if message is not None:
            message |= copied(fields)
            self._touch()

    def remove_ephemeral(self, channel: str, ts: str) -> None:
        message = self.ephemeral(channel, ts)
        if message is not None:
            self.ephemerals.remove(message)
            self._controls.pop((channel, ts), None)
            self._touch()

    def remember_controls(self, channel: str, ts: str, controls: dict[str, Json]) -> None:
        """What can be clicked now stays known: someone may still have the old picture open."""
        self._controls.setdefault((channel, ts), {}).update(copied(controls))

    def controls(self, channel: str, ts: str) -> dict[str, Json]:
        """By action id: each control this message has or has had, as last seen."""
        return copied(self._controls.get((channel, ts), {}))

    def changed_since(self, version: int) -> Iterator[tuple[str, str]]:
        for place, changed in reversed(self._changes.items()):
            if changed <= version:
                return
            yield place

    def dump(self) -> Json:
        controls = [
            [channel, ts, found]
            for (channel, ts), found in self._controls.items()
            if self.exists(channel, ts)
        ]
        return {
            "channels": {name: list(found.values()) for name, found in self._channels.items()},
            "controls": controls,
            "last_microsecond": self._last_microsecond,
        }

    def restore(self, dumped: Json) -> None:
        self._last_microsecond = dumped["last_microsecond"]
        for channel, found in dumped["channels"].items():
            self._channels[channel] = {message["ts"]: message for message in found}
            for message in found:
                if "thread_ts" in message:
                    place = (channel, message["thread_ts"])
                    self._replies.setdefault(place, []).append(message["ts"])
                self._changed(channel, message["ts"])
        for channel, ts, controls in dumped["controls"]:
            self._controls[(channel, ts)] = controls

    def _stored(self, channel: str, ts: str) -> Json:
        try:
            return self._channels[channel][ts]
        except KeyError:
            raise SlackError("message_not_found") from None

    def _changed(self, channel: str, ts: str) -> None:
        self._changes.pop((channel, ts), None)
        self._changes[(channel, ts)] = self._touch()


def _written(microsecond: int) -> str:
    seconds, micros = divmod(microsecond, 1_000_000)
    return f"{seconds}.{micros:06d}"
