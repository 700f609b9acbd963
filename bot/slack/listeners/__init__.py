"""What Bolt calls: acknowledge, parse, call. One file a callback."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.listeners import actions, commands, events, shortcuts, unknown, views


def register(app: AsyncApp) -> None:
    """Register all listeners; those that catch everything else stand last."""
    for folder in (commands, shortcuts, actions, views, events):
        folder.register(app)
    unknown.register(app)
