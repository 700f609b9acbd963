"""Slack's word that somebody opened a tab of ours, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.slack import fields
from bot.slack.payloads import Actor


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody opened a tab of ours."""

    actor: Actor
    #: Which state of their Home tab they see; None: there is none yet.
    view_hash: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, body: object) -> Visit | None:
        """None for another tab than the Home. Raises ``BadPayload``."""
        if fields.value(body, "event", "tab") != "home":
            return None
        user = fields.slack_id(body, "event", "user")
        return cls(Actor(user), fields.optional_text(body, "event", "view", "hash") or None)
