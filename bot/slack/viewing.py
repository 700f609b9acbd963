"""View all: what a card has no room for, shown to one person. It decides nothing."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.state import Approval, RunState
from bot.slack.cards.refusals import NOT_FOUND, NOT_YOURS_TO_SEE
from bot.slack.cards.view_all import view_all_modal
from bot.slack.deciding import decider_of, may_decide
from bot.slack.opening import open_for, redraw_for
from bot.slack.payloads import Actor, Click
from bot.slack.persons import Clicker
from bot.slack.services import Services

_BUTTON: Final = "View all"
_LONGEST_NUMBER: Final = 4


async def view_by_click(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Open the first page, or show another in the modal that was clicked in. Raises ``BadPayload``."""
    click = Click.parse(body)
    about = click.approval_id
    draw = partial(view_all_modal, page=_page(click))
    show = open_for if click.view_id is None else redraw_for
    work = show(services, click, draw, _why_not_seen, button=_BUTTON)
    await services.answering.answer(Clicker(services, ack, click, saving=""), work, about)


def _page(click: Click) -> int:
    """On a card a number tells its buttons apart, and no pages."""
    _, _, number = click.action_id.partition(":")
    is_one = number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER
    return int(number) if click.view_id is not None and is_one else 1


async def _why_not_seen(
    services: Services, approval: Approval, state: RunState, actor: Actor
) -> str | None:
    """It is for whoever decides it and whoever asked for it, also when it is over: others who see the
    card may not be meant to see more than that."""
    if approval.kind not in ("call", "review"):
        return NOT_FOUND
    decider = await decider_of(services, approval, state, actor, or_requester=True)
    is_theirs = may_decide(approval, state, decider) or decider.principal in state.requesters
    return None if is_theirs else NOT_YOURS_TO_SEE
