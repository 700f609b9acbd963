"""Events: what is said to us, where we may speak again, who opens our tabs, and who presses Slack's Stop."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners.events.opened import opened
from bot.slack.listeners.events.returned import returned
from bot.slack.listeners.events.said import said
from bot.slack.listeners.events.stopped import stopped
from bot.slack.messages import RETURNS


def register(app: AsyncApp) -> None:
    # A mention comes as both; without one, what is said in a thread may answer what its run asks.
    app.event("app_mention")(said)
    app.event("message")(said)
    app.event("app_home_opened")(opened)
    app.event("agent_session_stopped")(stopped)
    for kind in RETURNS:
        app.event(kind)(returned)
