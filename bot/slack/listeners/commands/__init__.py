"""Slash commands."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners.commands.agent import agent


def register(app: AsyncApp) -> None:
    app.command("/agent")(agent)
