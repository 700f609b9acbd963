"""Putting the Home tab where a person sees it: when they open it, and after each click of theirs in it."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from slack_sdk.errors import SlackApiError

from agent.errors import StoreError
from bot.slack.cards.home import home_view, plain_home
from bot.slack.cards.modals import View
from bot.slack.clients import SLACK_ERRORS, error_code, error_name
from bot.slack.home.gathering import gathered
from bot.slack.limiter import showing_home
from bot.slack.looking import STORE_IS_AWAY
from bot.slack.payloads import Actor
from bot.slack.people import NotEligible
from bot.slack.services import Services
from bot.slack.telling import post, sent_in_time

_log = logging.getLogger(__name__)
_CHANGED: Final = "hash_conflict"


async def show_home(
    services: Services, actor: Actor, *, seen: str | None = None, notice: str = ""
) -> None:
    """Publish it anew. ``seen`` is the hash of what they have before them; where somebody has published since,
    all of it is read once more. ``notice`` is what they are told of what they did: on top, or directly where the tab
    can't be published. Never raises for what Slack or the store does."""
    shown = await services.answering.ended(
        _shown(services, actor, seen, notice), f"the Home of {actor.user}", False
    )
    if not shown and notice:
        await post(services, actor.user, None, notice)


async def _shown(services: Services, actor: Actor, seen: str | None, notice: str) -> bool:
    """Is it there?"""
    view = await _drawn(services, actor, notice)
    try:
        return await _publish(services, actor, view, seen)
    except SlackApiError as error:
        if error_code(error) != _CHANGED:
            _warn(actor, error)
            return False
    except SLACK_ERRORS as error:
        _warn(actor, error)
        return False
    try:
        return await _publish(services, actor, await _drawn(services, actor, notice), None)
    except SLACK_ERRORS as error:
        _warn(actor, error)
        return False


async def _drawn(services: Services, actor: Actor, notice: str) -> View:
    try:
        return home_view(await gathered(services, actor), notice)
    except NotEligible as error:
        why = f"{error.why[:1].upper()}{error.why[1:]}."
        return plain_home(f"{notice}\n\n{why}" if notice and why not in notice else why)
    except StoreError:
        return plain_home(f"{notice}\n\n{STORE_IS_AWAY}" if notice else STORE_IS_AWAY)


async def _publish(services: Services, actor: Actor, view: View, seen: str | None) -> bool:
    """False where Slack allows no more for now. Raises one of ``SLACK_ERRORS``."""
    known = {"hash": seen} if seen else {}
    send = partial(services.slack.views_publish, user_id=actor.user, view=view, **known)
    return await sent_in_time(services, showing_home, send)


def _warn(actor: Actor, error: Exception) -> None:
    _log.warning("Could not publish the Home of %s: %s", actor.user, error_name(error))
