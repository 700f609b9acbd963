"""Which events an app is told of: those that it subscribed to."""

from __future__ import annotations

from collections.abc import Collection

from bot.sandbox.wire import Json

_OF_A_CHANNEL = {
    "channel": "message.channels",
    "group": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}


class Subscriptions:
    """`names` as in `bot_events` of an app's manifest; None: everything there is."""

    def __init__(self, names: Collection[str] | None = None) -> None:
        self._names = names

    def include(self, name: str) -> bool:
        return self._names is None or name in self._names

    def want(self, payload: Json) -> bool:
        event = payload["event"]
        name = event["type"]
        if name == "message":
            name = _OF_A_CHANNEL[event["channel_type"]]
        return self.include(name)
