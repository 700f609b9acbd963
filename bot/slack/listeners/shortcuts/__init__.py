"""What is chosen from the menu of a message."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.ids import ASK_MODAL
from bot.slack.listeners.shortcuts.ask import ask


def register(app: AsyncApp) -> None:
    app.message_shortcut(ASK_MODAL)(ask)
