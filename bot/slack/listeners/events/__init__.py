"""Events: what is said to us, and where we may speak again."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners.events.returned import returned
from bot.slack.listeners.events.said import said
from bot.slack.messages import RETURNS


def register(app: AsyncApp) -> None:
    # A mention comes as both; without one, what is said in a thread may answer what its run asks.
    app.event("app_mention")(said)
    app.event("message")(said)
    for kind in RETURNS:
        app.event(kind)(returned)
