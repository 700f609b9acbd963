"""The shortcut of a message as a value."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack import fields
from bot.slack.cards.ask_about import About
from bot.slack.payloads import Actor, Click, spot_of


@dataclass(frozen=True, slots=True)
class MessageShortcut:
    """Somebody has chosen it from the menu of a message, which need not be in a place where we are."""

    click: Click
    about: About

    @classmethod
    def parse(cls, body: object) -> MessageShortcut:
        """Raises ``BadPayload``."""
        channel, ts = (
            fields.slack_id(body, "channel", "id"),
            fields.timestamp(body, "message", "ts"),
        )
        about = About(channel, ts, fields.optional_timestamp(body, "message", "thread_ts") or ts)
        user, team = (
            fields.slack_id(body, "user", "id"),
            fields.optional_id(body, "user", "team_id"),
        )
        click = Click(
            actor=Actor(user, team),
            action_id=fields.text(body, "callback_id"),
            value=str(about.address),
            trigger_id=fields.optional_text(body, "trigger_id"),
            spot=spot_of(body),
        )
        return cls(click, about)
