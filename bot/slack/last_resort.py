"""The last resort, for what no listener acknowledged: told to the person in a plain sentence, and to
the log by its kind and error only."""

from __future__ import annotations

import logging
from typing import Final

from slack_bolt.response import BoltResponse

from agent.errors import StoreError
from bot.slack.answering import SendAgain
from bot.slack.cards.modals import notice_modal
from bot.slack.clients import SLACK_ERRORS, error_name
from bot.slack.help import UNREADABLE
from bot.slack.payloads import actor_of, kind_of, spot_of
from bot.slack.services import Services
from bot.slack.telling import whisper

#: What is answered privately where it was done.
_OF_A_MESSAGE: Final = ("block_actions", "message_action", "shortcut")
_log = logging.getLogger(__name__)


class HomeUnknown(Exception):
    """Slack has not told yet who we are."""


def last_resort(services: Services, body: object, error: Exception) -> BoltResponse:
    """What Slack is answered to ``body``, whatever it is, where ``error`` kept us from it."""
    kind = kind_of(body)
    _log.warning("Could not take a payload of kind %s: %s", kind, error_name(error))
    if isinstance(error, (StoreError, HomeUnknown, SendAgain, *SLACK_ERRORS)):
        # Not acknowledged: an event is sent again, and to a click Slack itself shows an error.
        return BoltResponse(status=503, body="")
    if kind == "command":
        return BoltResponse(status=200, body=UNREADABLE)
    if kind == "view_submission":
        shown = {"response_action": "update", "view": notice_modal("Not read", UNREADABLE)}
        return BoltResponse(status=200, body=shown)
    if kind in _OF_A_MESSAGE and (actor := actor_of(body)):
        services.answering.keep(whisper(services, spot_of(body), actor, UNREADABLE))
    return BoltResponse(status=200, body="")
