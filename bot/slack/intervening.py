"""From a button of the status message, or a command, to a run that is paused, goes on or is stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import Blocked, NotFound, RunEnded, StoreError, StoreUnavailable
from agent.rules.ids import Principal, RunId
from agent.rules.state import RunState
from agent.runtime import Runtime
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.refusals import store_unavailable_text
from bot.slack.cards.status import status_message
from bot.slack.cards.text import escape, quoted
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.thread.desired import STATUS_KEY
from bot.slack.words import Interruption

#: What is done to the run; the run after it.
Act = Callable[[Runtime, RunId, Principal], Awaitable[RunState]]

_SAVING: Final = "Still at it. You'll be told here. ({run})"
_NO_SUCH_RUN: Final = "Nothing was done: we know of no such run."
_NO_RUN: Final = "Nothing was done: you have no run that has not ended."
_UNREADABLE: Final = (
    "Nothing was done: this run can't be read by the version that runs now. ({run})"
)
_HAS_ENDED: Final = {
    "finished": "this run has finished",
    "failed": "this run has failed",
    "cancelled": "this run was stopped",
}


async def act_by_click(
    services: Services, ack: AsyncAck, body: dict[str, Any], how: Interruption
) -> None:
    """Do it as whoever clicked; the status message redraws itself, and nothing more is said unless they had
    to wait. Raises ``BadPayload``."""
    click = Click.parse(body)
    run_id = click.run_id
    person = Clicker(services, ack, click, _SAVING.format(run=quoted(run_id, 90)))
    await services.answering.answer(person, _act(services, run_id, click.actor, how), run_id)


async def act_in_words(
    services: Services, actor: Actor, how: Interruption, run_id: RunId | None
) -> Answer:
    """Do it, and say so: to this run, or to the newest of theirs that has not ended."""
    answer = await _act(services, run_id, actor, how)
    return Answer(text=answer.text or answer.if_late)


async def _hold(runtime: Runtime, run_id: RunId, by: Principal) -> RunState:
    """Nothing new begins until somebody resumes it."""
    return await runtime.hold(run_id, by)


async def _resume(runtime: Runtime, run_id: RunId, by: Principal) -> RunState:
    """Lift the hold. One that is not held is left to whoever works it. Raises ``RunEnded``."""
    state = await runtime.state(run_id)
    if state.is_ended or state.stop is not None:
        raise RunEnded(run_id, state.ending or "being stopped")
    return (await runtime.resume(run_id, by) if state.held else None) or state


async def _stop(runtime: Runtime, run_id: RunId, by: Principal) -> RunState:
    """It ends, when what has begun has been heard out."""
    return await runtime.stop(run_id, by)


_ACTS: Final[Mapping[Interruption, tuple[Act, str]]] = {
    "pause": (_hold, "Paused: nothing new begins until somebody resumes it."),
    "resume": (_resume, "It goes on."),
    "stop": (_stop, "Stopped: what had begun is waited for, and nothing new begins."),
}


async def _act(services: Services, run_id: RunId | None, actor: Actor, how: Interruption) -> Answer:
    act, done = _ACTS[how]
    try:
        member = await services.people.member(actor.user, actor.team)
        run_id = run_id or await _newest(services, member.principal)
        if run_id is None:
            return Answer(text=_NO_RUN)
        state = await act(services.runtime, run_id, member.principal)
    except NotEligible as error:
        return Answer(text=f"Nothing was done: {error.why}.")
    except NotFound:
        return Answer(text=_NO_SUCH_RUN)
    except RunEnded as error:
        why = _HAS_ENDED.get(error.status, "this run is being stopped")
        return Answer(text=f"Nothing was done: {why}. ({quoted(error.run_id, 90)})")
    except Blocked as error:
        return Answer(text=f"It can't go on here: {escape(str(error))} {escape(error.fix)}".strip())
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(run_id, what="done"))
    except StoreError:
        return Answer(text=_UNREADABLE.format(run=quoted(run_id or "?", 90)))
    told = f"{done} ({quoted(state.prompt, 80)} · {quoted(run_id, 90)})"
    return Answer(card=Redrawn(run_id, STATUS_KEY, status_message(state)), if_late=told)


async def _newest(services: Services, requester: Principal) -> RunId | None:
    lists = services.runtime.store.lists
    rows = await lists.runs(limit=1, requester=requester, active_only=True)
    return rows[0].run_id if rows else None
