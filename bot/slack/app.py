"""The Bolt app: what comes from Slack, to the listener for it, and never unanswered."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from agent.errors import StoreError
from agent.runtime import Runtime
from bot.slack.answering import PATIENCE_SECONDS, Answering
from bot.slack.cards.modals import notice_modal
from bot.slack.clients import ResponseUrls, without_proxy
from bot.slack.help import UNREADABLE
from bot.slack.listeners import register
from bot.slack.payloads import actor_of, kind_of, response_url_of
from bot.slack.people import SLACK_ERRORS, People
from bot.slack.persons import whisper
from bot.slack.quiet import slack_logger
from bot.slack.services import Services

_log = logging.getLogger(__name__)


class HomeUnknown(Exception):
    """Slack has not told yet who we are."""


def make_services(
    runtime: Runtime,
    slack: AsyncWebClient,
    *,
    people: People | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Services:
    """What the listeners need. ``patience``: seconds until a person is told to wait."""
    return Services(
        runtime=runtime,
        people=people or People(slack),
        slack=slack,
        response_urls=ResponseUrls(slack.base_url),
        answering=Answering(patience),
    )


def make_app(services: Services, *, signing_secret: str | None = None) -> AsyncApp:
    """The app for both transports. Without ``signing_secret`` it answers no HTTP request."""
    app = AsyncApp(
        name="pilothouse",
        logger=slack_logger(),
        client=services.slack,
        signing_secret=signing_secret or "",
        authorize=_authorize_by(services.people),
        before_authorize=without_proxy,
        # A listener returns where it acknowledges, and what it raises before that is not lost; see
        # ``answering``.
        process_before_response=True,
        # What no listener takes is answered by the handler of errors.
        raise_error_for_unhandled_request=True,
        # Slack's own check of certificates comes unsigned.
        ssl_check_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    app.use(_handing_out(services))
    app.error(_answering_for(services))
    register(app)
    return app


def _authorize_by(people: People) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Who we are, asked once: Bolt's own way would acknowledge an event when it can't find out."""

    async def authorize() -> AuthorizeResult:
        try:
            home = await people.home()
        except SLACK_ERRORS as error:
            # Under its own name Bolt would take it for a missing installation, and acknowledge.
            raise HomeUnknown from error
        return AuthorizeResult(
            enterprise_id=None,
            team_id=home.team,
            bot_user_id=home.bot_user,
            bot_id=home.bot_id,
        )

    return authorize


def _handing_out(services: Services) -> Callable[..., Awaitable[None]]:
    async def hand_out(context: AsyncBoltContext, next: Callable[[], Awaitable[None]]) -> None:
        context["services"] = services
        await next()

    return hand_out


def _answering_for(services: Services) -> Callable[..., Awaitable[BoltResponse]]:
    """The last resort, for what was not acknowledged: it says so in the log, by kind and error only,
    and to the person in a plain sentence."""

    async def answer(error: Exception, body: dict[str, Any]) -> BoltResponse:
        kind = kind_of(body)
        _log.warning("Could not take a payload of kind %s: %s", kind, type(error).__name__)
        if isinstance(error, (StoreError, HomeUnknown, *SLACK_ERRORS)):
            # Not acknowledged: an event is sent again, and to a click Slack itself shows an error.
            return BoltResponse(status=503, body="")
        if kind == "command":
            return BoltResponse(status=200, body=UNREADABLE)
        if kind == "view_submission":
            shown = {"response_action": "update", "view": notice_modal("Not read", UNREADABLE)}
            return BoltResponse(status=200, body=shown)
        if kind == "block_actions" and (actor := actor_of(body)):
            url = response_url_of(body)
            services.answering.keep(whisper(services, url, actor, UNREADABLE))
        return BoltResponse(status=200, body="")

    return answer
