"""Modals that are sent off."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.slack.ids import (
    ANSWER_MODAL,
    APPROVE_ALL,
    APPROVE_MODAL,
    ASK_MODAL,
    DENY_ALL,
    DENY_MODAL,
    GRANT_MODAL,
    STEER_MODAL,
    SWITCH_MODAL,
)
from bot.slack.listeners.views.answer import answer
from bot.slack.listeners.views.ask import ask
from bot.slack.listeners.views.decide import decide
from bot.slack.listeners.views.decide_all import approve_all, deny_all
from bot.slack.listeners.views.steer import steer
from bot.slack.listeners.views.switch import switch


def register(app: AsyncApp) -> None:
    app.view(STEER_MODAL)(steer)
    app.view(ANSWER_MODAL)(answer)
    app.view(ASK_MODAL)(ask)
    app.view(SWITCH_MODAL)(switch)
    app.view(APPROVE_ALL)(approve_all)
    app.view(DENY_ALL)(deny_all)
    for modal in (APPROVE_MODAL, DENY_MODAL, GRANT_MODAL):
        app.view(modal)(decide)
