"""From a button of the status message, or a command, to a run that is paused, goes on or is stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.blocked import why_not_taken
from agent.errors import (
    Blocked,
    CommitInDoubt,
    GoneOn,
    NotFailed,
    NotFound,
    RunEnded,
    SessionBusy,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from agent.rules.ids import Principal, RunId
from agent.rules.state import RunState
from agent.runtime import Runtime
from bot.slack.allowed import who_may
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.refusals import store_unavailable_text
from bot.slack.cards.text import escape, quoted
from bot.slack.cards.under_way import (
    paused_answer,
    resumed_answer,
    retried_answer,
    stopped_answer,
)
from bot.slack.interruptions import Interruption
from bot.slack.own_runs import own_runs
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.sight import NOT_SEEN, is_seen, may_be_quoted
from bot.slack.since import is_done_by
from bot.slack.thread.as_drawn import status_as_drawn

How = Interruption | Literal["retry"]
#: What is done to the run; the run after it, and what is said of it.
Act = Callable[[Runtime, RunId, Principal], Awaitable[tuple[RunState, str]]]

_SAVING: Final = "Still at it. You'll be told here. ({run})"
_NO_SUCH_RUN: Final = f"Nothing was done: {NOT_SEEN}."
_NO_RUN: Final = (
    "Nothing was done: you have no run that has not ended. Of somebody else's say it in its thread."
)
_WHICH: Final = "Nothing was done: it isn't clear which of your runs is meant."
_DONE_SINCE: Final[Mapping[How, str]] = {
    "pause": "Nothing more was done: since you wrote this, a run of yours was paused.",
    "resume": "Nothing more was done: since you wrote this, a run of yours went on.",
    "stop": "Nothing more was done: since you wrote this, a run of yours was stopped.",
}
_OF_A_NEWER: Final = (
    "Nothing was done: this run can't be read by the version that runs now; a newer one wrote it. Ask whoever operates"
    " the bot to start the newer one, and say it again then. ({run})"
)
_UNREADABLE: Final = (
    "Nothing was done: this run can't be read by the version that runs now. Ask whoever operates the bot to look at it:"
    " `pilothouse verify {run}`. ({run})"
)
_NOT_PAUSED: Final = "It was not paused."
_IS_TRIED: Final = (
    "What it waits for could not be asked in its thread; it is tried there again now."
)
_NOT_FAILED: Final = "Nothing was done: this run has not failed, or goes on already. ({run})"
_ENDED_OTHERWISE: Final = (
    "Nothing was done: {why}, and only one that failed can be tried again. ({run})"
)
_HAS_GONE_ON: Final = (
    "Nothing was done: this conversation has gone on since. Say in it what is left to do. ({run})"
)
_IS_BUSY: Final = "Nothing was done: another run of this conversation is at work; try again once it has ended. ({run})"
_HAS_ENDED: Final = {
    "finished": "this run has finished",
    "failed": "this run has failed",
    "cancelled": "this run was stopped",
}


async def act_by_click(services: Services, ack: AsyncAck, body: dict[str, Any], how: How) -> None:
    """Do it as whoever clicked; the status message redraws itself, and nothing more is said unless they had
    to wait. Raises ``BadPayload``."""
    click = Click.parse(body)
    run_id = click.run_id
    person = Clicker(services, ack, click, _SAVING.format(run=quoted(run_id, 90)))
    acting = _act(services, run_id, click.actor, how, click.spot.channel)
    await services.answering.answer(person, acting, run_id)


async def act_in_words(
    services: Services,
    actor: Actor,
    how: How,
    run_id: RunId | None,
    channel: str | None = None,
    *,
    said_at: datetime | None = None,
) -> Answer:
    """Do it, and say so: to this run, or to the one of theirs that they mean in ``channel``, where they said so.
    ``said_at``: in a message, which may be delivered more than once."""
    answer = await _act(services, run_id, actor, how, channel, said_at)
    return Answer(text=answer.text or answer.if_late)


async def _hold(runtime: Runtime, run_id: RunId, by: Principal) -> tuple[RunState, str]:
    """Nothing new begins until somebody resumes it."""
    state = await runtime.hold(run_id, by)
    return state, paused_answer(state, by)


async def _resume(runtime: Runtime, run_id: RunId, by: Principal) -> tuple[RunState, str]:
    """Lift the hold. One that is not held is left to whoever works it, and what it waits for is asked in its
    thread at once where it could not be. Raises ``RunEnded``."""
    state, threads = await runtime.state(run_id), runtime.store.threads
    if state.is_ended or state.stop is not None:
        raise RunEnded(run_id, state.ending or "being stopped")
    if state.held:
        state = await runtime.resume(run_id, by) or state
        return state, resumed_answer(state)
    trouble = await threads.trouble(run_id)
    await threads.try_now(run_id)
    return state, _NOT_PAUSED if trouble is None else _IS_TRIED


async def _stop(runtime: Runtime, run_id: RunId, by: Principal) -> tuple[RunState, str]:
    """It ends, when what has begun has been heard out."""
    state = await runtime.stop(run_id, by)
    return state, stopped_answer(state, by)


async def _retry(runtime: Runtime, run_id: RunId, by: Principal) -> tuple[RunState, str]:
    """It goes on from where it failed."""
    state = await runtime.retry(run_id, by)
    return state, retried_answer(state)


_ACTS: Final[Mapping[How, Act]] = {
    "pause": _hold,
    "resume": _resume,
    "stop": _stop,
    "retry": _retry,
}


#: What keeps it from being done.
_REFUSALS: Final = (
    NotEligible,
    NotFound,
    RunEnded,
    NotFailed,
    GoneOn,
    SessionBusy,
    Blocked,
    StoreError,
)


async def _act(
    services: Services,
    run_id: RunId | None,
    actor: Actor,
    how: How,
    channel: str | None,
    said_at: datetime | None = None,
) -> Answer:
    others, is_named = "", run_id is not None
    try:
        member = await services.people.member(actor.user, actor.team)
        by = member.principal
        if run_id is None and how != "retry":
            own = await own_runs(services, by, how, channel, said_at)
            run_id, others = own.meant, own.told(how)
            if own.done is not None:
                return Answer(text=_done_since(own.done, how, others))
        if run_id is None:
            return Answer(text=f"{_WHICH}\n{others}" if others else _NO_RUN)
        state = await services.runtime.state(run_id)
        # Of a run that they don't see they learn nothing, also not who may do it.
        if not await is_seen(services, state, member, channel):
            raise NotFound("run", run_id)
        await who_may(services, actor, state.agent, "start" if how == "retry" else "stop")
        if (acted := await _do(services, run_id, how, by, said_at)) is None:
            # One thread's run is stopped once; a run of theirs was named by nobody.
            return (
                Answer()
                if is_named
                else Answer(text=_done_since(services.shown(state), how, others))
            )
        state, done = acted
    except CommitInDoubt:
        raise
    except _REFUSALS as error:
        return Answer(text=_why_not(error, run_id))
    words = (
        f"{quoted(services.shown(state).prompt, 80)} · "
        if may_be_quoted(state, by, channel)
        else ""
    )
    told = "\n".join(filter(None, (f"{done} ({words}{quoted(run_id, 90)})", others)))
    return Answer(card=await _redrawn(services, state), if_late=told)


async def _do(
    services: Services, run_id: RunId, how: How, by: Principal, said_at: datetime | None
) -> tuple[RunState, str] | None:
    """None for what was said in a message, and has been done since, by the same person. Raises ``_REFUSALS``."""
    try:
        return await _ACTS[how](services.runtime, run_id, by)
    except RunEnded:
        now = await services.runtime.state(run_id)
        if (
            said_at
            and how != "retry"
            and is_done_by(now, how, services.apart.by_store(said_at), by)
        ):
            return None
        raise


def _done_since(state: RunState, how: How, others: str) -> str:
    """To one of theirs, so that it may be told to them wherever they are."""
    done = f"{_DONE_SINCE[how]} ({quoted(state.prompt, 80)} · {quoted(state.run_id, 90)})"
    return "\n".join(filter(None, (done, others)))


def _why_not(error: Exception, run_id: RunId | None) -> str:
    """``error`` is one of ``_REFUSALS``."""
    match error:
        case NotEligible(why=why):
            return f"Nothing was done: {why}."
        case NotFound():
            return _NO_SUCH_RUN
        case RunEnded(run_id=ended, status=status):
            why = _HAS_ENDED.get(status, "this run is being stopped")
            return f"Nothing was done: {why}. ({quoted(ended, 90)})"
        case NotFailed(run_id=ended, status=status) if status in _HAS_ENDED:
            return _ENDED_OTHERWISE.format(why=_HAS_ENDED[status], run=quoted(ended, 90))
        case NotFailed(run_id=going):
            return _NOT_FAILED.format(run=quoted(going, 90))
        case GoneOn(run_id=before):
            return _HAS_GONE_ON.format(run=quoted(before, 90))
        case SessionBusy(run_id=busy):
            return _IS_BUSY.format(run=quoted(busy, 90))
        case Blocked(fix=fix):
            return f"It can't go on here: {escape(str(error))} {escape(fix)}".strip()
        case StoreUnavailable():
            return store_unavailable_text(run_id, what="done")
        case UnknownEvent():
            return _OF_A_NEWER.format(run=quoted(run_id or "?", 90))
        case _:
            return _UNREADABLE.format(run=quoted(run_id or "?", 90))


async def _redrawn(services: Services, state: RunState) -> Redrawn | None:
    """None: whoever draws the thread shows it a little later."""
    runtime = services.runtime
    why_blocked = partial(why_not_taken, runtime.store, runtime.agents)
    try:
        message = await status_as_drawn(
            runtime.store,
            services.shown(state),
            why_blocked,
            names_agent=len(runtime.agents) > 1,
        )
    except StoreError:
        return None  # It is done all the same.
    return Redrawn(state.run_id, message)
