"""Opening a modal by a click: within three seconds, for no longer lives its trigger.

Where it takes too long to find out whether this person may see it, a modal opens that shows nothing of the
question yet; what belongs into it follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

from slack_sdk.errors import SlackApiError

from agent.rules.calls import Call
from agent.rules.ids import ApprovalId
from agent.rules.parts import ApprovalKind
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.modals import View, from_home, notice_modal
from bot.slack.cards.refusals import NOT_FOUND, refusal_text
from bot.slack.clients import SLACK_ERRORS, error_code, error_name, is_passing
from bot.slack.deciding import asked_of, decider_of, why_not_theirs_now
from bot.slack.links import link_to_newer
from bot.slack.outcomes import Done, explain, outcome_of
from bot.slack.payloads import Actor, Click
from bot.slack.services import Services

_log = logging.getLogger(__name__)
#: How long is waited for what belongs into the modal, in seconds; a trigger lives three.
PATIENCE_SECONDS: Final = 1.0
_NOT_IN_TIME = (
    "Nothing was {undone}: the form could not be opened in time. Please click {button} again."
)
_NOT_OPENED = "Nothing was {undone}: the form could not be opened. Please click {button} again."
_NOT_TAKEN = (
    "Nothing was {undone}: the form could not be opened, as Slack does not take it ({code}). Please tell "
    "whoever runs this bot."
)
_MAY_BE_OPEN = (
    "Nothing was {undone}, and Slack did not say whether the form opened. If you don't see it, please "
    "click {button} again."
)
_NOT_FILLED = "Nothing was {undone}: the form could not be filled in. Please click {button} again."
_WENT_WRONG = "Nothing was {undone}: something went wrong on our side. Please click {button} again."
_ONE_MOMENT = "One moment: what you asked for is being looked up. Nothing is {undone}."
#: Somebody closed it, or it is another by now: there is nothing to fill in any more.
_CLOSED: Final = frozenset({"not_found", "view_not_found", "hash_conflict"})
#: What the click allowed has been used, or its three seconds are over.
_TOO_LATE: Final = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})

Draw = Callable[[Approval, Call, RunState], View]
#: Why this person does not get the modal; None when they do.
WhyNot = Callable[[Services, Approval, RunState, Actor], Awaitable[str | None]]


async def open_modal(
    services: Services, click: Click, draw: Draw, *, kind: ApprovalKind, button: str
) -> Answer:
    """Open what ``draw`` makes of an approval of this kind, for somebody who may decide it and while
    it is open. ``draw`` may raise one of ``REFUSALS``. ``button`` is what they clicked, in words. Raises
    ``BadPayload``."""
    why_not_them = partial(why_not_now, kind=kind)
    return await open_for(services, click, draw, why_not_them, button=button)


async def open_for(
    services: Services, click: Click, draw: Draw, why_not_them: WhyNot, *, button: str
) -> Answer:
    """The same for whoever ``why_not_them`` has nothing against. Raises ``BadPayload``."""
    drawn = _drawn(services, click, click.approval_id, draw, why_not_them)
    return await open_when_drawn(services, click, drawn, button=button)


async def open_when_drawn(
    services: Services,
    click: Click,
    drawing: Coroutine[Any, Any, View | str],
    *,
    button: str,
    undone: str = "decided",
) -> Answer:
    """Open what is being drawn, or say why there is nothing to open. Nothing is ``undone`` by it."""
    opening = _Opening(services, click, button, undone)
    drawn = asyncio.create_task(opening.drawn(drawing))
    try:
        done, _ = await asyncio.wait({drawn}, timeout=PATIENCE_SECONDS)
        if not done:
            return await opening.at_once(drawn)
        view = drawn.result()
    finally:
        drawn.cancel()
    if isinstance(view, str):
        return Answer(text=view)
    _, answer = await opening.open(view)
    return answer


async def redraw_for(
    services: Services, click: Click, draw: Draw, why_not_them: WhyNot, *, button: str
) -> Answer:
    """Show what ``draw`` makes of it in the modal that was clicked in. Raises ``BadPayload``."""
    opening = _Opening(services, click, button)
    view = await opening.drawn(_drawn(services, click, click.approval_id, draw, why_not_them))
    told = view if isinstance(view, str) else None
    shown = {"id": click.view_id, "hash": click.view_hash}
    instead = notice_modal(button, view) if isinstance(view, str) else view
    return await opening.fill(shown, instead, told)


class _Opening:
    """One modal, for one click."""

    def __init__(
        self, services: Services, click: Click, button: str, undone: str = "decided"
    ) -> None:
        self._services = services
        self._click = click
        self._button = button
        self._undone = undone

    async def drawn(self, drawing: Awaitable[View | str]) -> View | str:
        """Whatever happens, they are told of it: nothing is decided here."""
        told = self._words(_WENT_WRONG)
        return await self._services.answering.ended(drawing, self._click.value, told)

    async def at_once(self, drawn: asyncio.Task[View | str]) -> Answer:
        """Open one that tells nothing, and show in it what is drawn, or why there is nothing to show."""
        shown, answer = await self.open(notice_modal(self._button, self._words(_ONE_MOMENT)))
        if shown is None:
            return answer
        view = await drawn
        if isinstance(view, str):
            return await self.fill(shown, notice_modal(self._button, view), view)
        return await self.fill(shown, view, None)

    async def open(self, view: View) -> tuple[dict[str, Any] | None, Answer]:
        """The view as Slack has it; None, and what to say of it, where it is not known to be open."""
        try:
            said = await self._services.slack.views_open(
                trigger_id=self._click.trigger_id, view=self._marked(view)
            )
        except SLACK_ERRORS as error:
            self._warn("open", error)
            return None, Answer(text=self._why_not_open(error))
        return dict(said.get("view") or {}), Answer()

    async def fill(self, shown: dict[str, Any], view: View, told: str | None) -> Answer:
        """Replace what is shown, if it is that still. ``told``: what is said where it can't be."""
        try:
            await self._services.slack.views_update(
                view_id=shown.get("id"), hash=shown.get("hash"), view=self._marked(view)
            )
        except SLACK_ERRORS as error:
            self._warn("fill in", error)
            is_closed = isinstance(error, SlackApiError) and error_code(error) in _CLOSED
            if is_closed and told is None:
                return Answer()
            return Answer(text=told or self._words(_NOT_FILLED))
        return Answer()

    def _marked(self, view: View) -> View:
        """What is sent off from it is shown where it was opened."""
        return from_home(view) if self._click.is_in_home else view

    def _why_not_open(self, error: Exception) -> str:
        if not isinstance(error, SlackApiError):
            return self._words(_MAY_BE_OPEN)
        if (code := error_code(error)) in _TOO_LATE:
            return self._words(_NOT_IN_TIME)
        return self._words(_NOT_OPENED if is_passing(error) else _NOT_TAKEN, code)

    def _words(self, told: str, code: str | None = None) -> str:
        return told.format(button=self._button, undone=self._undone, code=code)

    def _warn(self, what: str, error: Exception) -> None:
        about, button = self._click.value, self._button
        _log.warning("Could not %s %s for %s: %s", what, button, about, error_name(error))


async def _drawn(
    services: Services, click: Click, approval_id: ApprovalId, draw: Draw, why_not_them: WhyNot
) -> View | str:
    """The modal; else why this person does not get it now."""
    actor = click.actor

    async def drawing() -> View | str:
        approval, state = await asked_of(services, approval_id, actor)
        if refusal := await why_not_them(services, approval, state, actor):
            return refusal
        return draw(approval, state.call(approval.requested.of_call), state)

    return await drawn_or_why(services, approval_id, drawing())


async def drawn_or_why(
    services: Services, approval_id: ApprovalId, drawing: Awaitable[View | str]
) -> View | str:
    """What is drawn; why not, where that raises one of ``REFUSALS`` or ``StoreUnavailable``."""
    match await outcome_of(services, approval_id, drawing):
        case Done(value=view):
            return view
        case undone:
            return await explain(services, undone)


async def why_not_now(
    services: Services, approval: Approval, state: RunState, actor: Actor, kind: ApprovalKind
) -> str | None:
    """Why this person can't do it now; None when they can."""
    decider = await decider_of(services, approval, state, actor)
    if why := why_not_theirs_now(approval, state, decider):
        return refusal_text(why, state) + await link_to_newer(services, approval.id, state)
    return None if approval.kind == kind else NOT_FOUND
