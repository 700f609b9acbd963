"""Events: what is said to us."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners.events.said import said


def register(app: AsyncApp) -> None:
    # A mention comes as both; what is said in a channel without one is nothing to us.
    app.event("app_mention")(said)
    app.event("message")(said)
