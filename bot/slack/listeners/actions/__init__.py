"""Buttons."""

from __future__ import annotations

import re

from slack_bolt.async_app import AsyncApp

from bot.slack.ids import (
    ANSWER,
    APPROVE,
    APPROVE_ALL,
    ASK_AGAIN,
    BUDGET_CONTINUE,
    BUDGET_STOP,
    DENY,
    DENY_ALL,
    GRANT_REVOKE,
    GUIDANCE_USE,
    MORE,
    REVIEW_CHECK,
    REVIEW_GIVE_UP,
    REVIEW_HAPPENED,
    REVIEW_NOT_HAPPENED,
    RUN_HOLD,
    RUN_RESUME,
    RUN_RETRY,
    RUN_STOP,
    STEER,
    SWITCH_OFF,
    SWITCH_ON,
    VIEW,
)
from bot.slack.listeners.actions import run, switch
from bot.slack.listeners.actions.answer import answer
from bot.slack.listeners.actions.approve import approve
from bot.slack.listeners.actions.ask_again import ask_again
from bot.slack.listeners.actions.budget import end, go_on
from bot.slack.listeners.actions.choose import choose
from bot.slack.listeners.actions.decide_all import approve_all, deny_all
from bot.slack.listeners.actions.deny import deny
from bot.slack.listeners.actions.guide import guide
from bot.slack.listeners.actions.more import more
from bot.slack.listeners.actions.review import check, give_up, happened, not_happened
from bot.slack.listeners.actions.revoke import revoke
from bot.slack.listeners.actions.steer import steer
from bot.slack.listeners.actions.view import view


def register(app: AsyncApp) -> None:
    app.action(_one_of_several(APPROVE))(approve)
    app.action(_one_of_several(DENY))(deny)
    app.action(_one_of_several(STEER))(steer)
    app.action(_one_of_several(MORE))(more)
    app.action(_one_of_several(VIEW))(view)
    app.action(_one_of_several(APPROVE_ALL))(approve_all)
    app.action(_one_of_several(DENY_ALL))(deny_all)
    # Option 0 of the Home tab's N-th question is to write an answer, K an option.
    app.action(re.compile(rf"^{re.escape(ANSWER)}(:0:\d+)?$"))(answer)
    app.action(re.compile(rf"^{re.escape(ANSWER)}:\d+(:\d+)?$"))(choose)
    app.action(_one_of_several(REVIEW_CHECK))(check)
    app.action(_one_of_several(REVIEW_HAPPENED))(happened)
    app.action(_one_of_several(REVIEW_NOT_HAPPENED))(not_happened)
    app.action(_one_of_several(REVIEW_GIVE_UP))(give_up)
    app.action(_one_of_several(BUDGET_CONTINUE))(go_on)
    app.action(_one_of_several(BUDGET_STOP))(end)
    app.action(_one_of_several(ASK_AGAIN))(ask_again)
    app.action(_one_of_several(GUIDANCE_USE))(guide)
    app.action(_one_of_several(RUN_HOLD))(run.hold)
    app.action(_one_of_several(RUN_RESUME))(run.resume)
    app.action(_one_of_several(RUN_STOP))(run.stop)
    app.action(_one_of_several(RUN_RETRY))(run.retry)
    app.action(_one_of_several(GRANT_REVOKE))(revoke)
    app.action(_one_of_several(SWITCH_ON))(switch.on)
    app.action(_one_of_several(SWITCH_OFF))(switch.off)


def _one_of_several(action_id: str) -> re.Pattern[str]:
    """The action id, with ``:`` and a number where one message holds several."""
    return re.compile(rf"^{re.escape(action_id)}(:\d+)?$")
