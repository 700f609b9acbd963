"""Modals that are sent off."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.ids import ANSWER_MODAL, APPROVE_MODAL, DENY_MODAL, GRANT_MODAL, STEER_MODAL
from bot.slack.listeners.views.answer import answer
from bot.slack.listeners.views.decide import decide
from bot.slack.listeners.views.steer import steer


def register(app: AsyncApp) -> None:
    app.view(STEER_MODAL)(steer)
    app.view(ANSWER_MODAL)(answer)
    for modal in (APPROVE_MODAL, DENY_MODAL, GRANT_MODAL):
        app.view(modal)(decide)
