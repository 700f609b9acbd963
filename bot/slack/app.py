"""The Bolt app: what comes from Slack, to the listener for it, and never unanswered."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from agent.blocked import why_not_taken
from agent.engine.agents import schemas_of
from agent.runtime import Runtime
from bot.slack.answering import PATIENCE_SECONDS, Answering
from bot.slack.clients import SLACK_ERRORS, ResponseUrls, error_name, without_proxy
from bot.slack.conversation.apart import Apart
from bot.slack.conversation.turns import Turns
from bot.slack.incoming import Incoming
from bot.slack.last_resort import HomeUnknown, last_resort
from bot.slack.limiter import Limiter
from bot.slack.listeners import register
from bot.slack.people import People
from bot.slack.quiet import slack_logger
from bot.slack.roots.abandoned import Abandoned
from bot.slack.roots.known import KnownRoots
from bot.slack.services import Services
from bot.slack.thread.draw import ThreadDrawer
from bot.slack.thread.edge import SlackThreads

_log = logging.getLogger(__name__)


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
        response_urls=ResponseUrls(slack.base_url, session=slack.session),
        limiter=Limiter(runtime.store.allowances, time.monotonic),
        answering=Answering(patience),
        roots=KnownRoots(),
        turns=Turns(),
        apart=Apart(),
    )


def make_drawer(
    runtime: Runtime,
    slack: AsyncWebClient,
    *,
    people: People,
    process_id: str,
    term: timedelta,
    may_claim: Callable[[], bool] = lambda: True,
) -> ThreadDrawer:
    """What draws the threads of its runs; ``process_id`` holds its leases."""
    return ThreadDrawer(
        runtime.store,
        SlackThreads(slack),
        people=people,
        # That what it waits for can't be asked is no news in the thread itself.
        why_blocked=partial(why_not_taken, runtime.store, runtime.agents),
        process_id=process_id,
        term=term,
        names_agents=len(runtime.agents) > 1,
        may_claim=may_claim,
        schemas=schemas_of(runtime.agents),
    )


def make_abandoned(services: Services) -> Abandoned:
    """What sees to the threads of runs that did not begin."""
    return Abandoned(services.runtime.store, SlackThreads(services.slack), services.limiter)


def make_incoming(services: Services, *, signing_secret: str | None = None) -> Incoming:
    """The way in for both transports. Without ``signing_secret`` it takes no HTTP request."""
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
    return Incoming(app, services)


def _authorize_by(people: People) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Who we are, asked once: Bolt's own way would acknowledge an event when it can't find out."""

    async def authorize() -> AuthorizeResult:
        try:
            home = await people.home()
        except SLACK_ERRORS as error:
            _log.warning("Slack does not say who we are: %s", error_name(error))
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
    async def answer(error: Exception, body: dict[str, Any]) -> BoltResponse:
        return last_resort(services, body, error)

    return answer
