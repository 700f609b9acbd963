"""Modals that are sent off."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.ids import ANSWER_MODAL, STEER_MODAL
from bot.slack.listeners.views.answer import answer
from bot.slack.listeners.views.steer import steer


def register(app: AsyncApp) -> None:
    app.view(STEER_MODAL)(steer)
    app.view(ANSWER_MODAL)(answer)
