"""A request to act, read with plain words for what is wrong with it."""

from __future__ import annotations

from typing import Any

from bot.sandbox.reading import channel, person
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal
from bot.sandbox.workspace import Channel, User


class Asked:
    """Raises `Refusal` where the request names what isn't there."""

    def __init__(self, sandbox: Sandbox, body: Json) -> None:
        self._sandbox = sandbox
        self._body = body

    @property
    def user(self) -> User:
        """Who acts. Whoever made another app or Slack itself do something isn't asked for."""
        return person(self._sandbox, self.text("as"))

    def text(self, name: str) -> str:
        value = self._body.get(name)
        if not isinstance(value, str) or not value:
            raise Refusal(f"`{name}` is missing.", 400)
        return value

    def optional(self, name: str) -> str | None:
        value = self._body.get(name)
        return None if value is None else str(value)

    def anything(self, name: str) -> Any:
        return self._body.get(name)

    def flag(self, name: str) -> bool:
        value = self._body.get(name, False)
        if not isinstance(value, bool):
            raise Refusal(f"`{name}` is true or false.", 400)
        return value

    def values(self) -> dict[str, Any]:
        values = self._body.get("values") or {}
        if not isinstance(values, dict):
            raise Refusal("`values` maps block ids to values.", 400)
        return values

    def channel(self) -> Channel:
        return channel(self._sandbox, self.text("channel"))
