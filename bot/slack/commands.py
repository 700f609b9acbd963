"""Slash commands as values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from bot.slack import fields
from bot.slack.payloads import Actor, Spot, spot_of
from bot.slack.typed import unescape


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
