"""What a pause or a stop finds, told to whoever says it: what runs on and for how long, what had happened before, and
what nobody knows. Nothing is said to have begun that had not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.rules.calls import Call
from agent.rules.ids import Principal
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.deciding import title_in_words
from bot.slack.cards.interrupted import is_closed_by_stop, paused_words, stopped_words
from bot.slack.cards.outcome import fate_of
from bot.slack.cards.running import running, running_words
from bot.slack.cards.status import what_it_waits_for
from bot.slack.cards.text import quoted

_NAMED = 5


def paused_answer(state: RunState, by: Principal) -> str:
    """To whoever wanted it paused, which somebody else may have done before."""
    is_theirs = state.held is None or state.held.by == by
    how = "Paused" if state.held is None or is_theirs else _already(paused_words(state.held))
    said = [f"{how}: nothing new begins until somebody resumes it.", *_running(state)]
    said += _not_known(state)
    if any(one.kind != "review" for one in state.open_approvals):
        said.append("What it asks can be decided meanwhile.")
    return " ".join(said)


def resumed_answer(state: RunState) -> str:
    """To whoever has resumed it."""
    waits = what_it_waits_for(state)
    return f"It goes on: {waits}." if waits else "It goes on."


def stopped_answer(state: RunState, by: Principal) -> str:
    """To whoever wanted it stopped, which somebody else, or a rule, may have done before."""
    is_theirs = state.stop is None or state.stop.by == by
    how = "Stopped" if state.stop is None or is_theirs else _already(stopped_words(state.stop))
    done = [
        _receipt(call, state) for call in state.own_calls if _counts(call) and _is(call, "done")
    ]
    found = [*_running(state, "It is waited for."), *_not_known(state)]
    found += [f"Done before: {_listed(done)}."] if done else []
    if not found:
        is_begun = any(call.attempts for call in state.own_calls)
        found = ["Nothing had been changed." if is_begun else "Nothing had been done."]
    head = f"{how}: nothing new begins." if is_theirs else f"{how}. Nothing new begins."
    return " ".join([head, *found, *_closed(state)])


def retried_answer(state: RunState) -> str:
    """To whoever has it go on after it had failed."""
    is_done = any(_counts(call) and _is(call, "done") for call in state.own_calls)
    again = " What was done is not done again." if is_done else ""
    return f"It goes on from where it had failed.{again}"


def _already(how: str) -> str:
    return f"Already {how[:1].lower()}{how[1:]}"


def _running(state: RunState, then: str = "") -> list[str]:
    words = running_words(state)
    return [f"Still {words}. {then}".strip()] if words else []


def _not_known(state: RunState) -> list[str]:
    """Of what nobody can be running any more."""
    on = {call.id for call in running(state)}
    lost = [call for call in state.own_calls if _counts(call) and call.id not in on]
    titles = [_title(call, state) for call in lost if _is(call, "not_known")]
    if not titles:
        return []
    is_asked = any(one.kind == "review" for one in state.open_approvals)
    asked = "; people are asked in its thread" if is_asked else ""
    return [f"Nobody knows whether this happened: {_listed(titles)}{asked}."]


def _closed(state: RunState) -> list[str]:
    """What was asked when it was stopped: it is decided by nobody any more."""
    closed = [one for one in state.approvals.values() if is_closed_by_stop(one, state)]
    titles = [f"*{title_in_words(one)}*" for one in closed if _is_of_nothing_begun(one, state)]
    said = [f"Asked, and not done: {_listed(titles)}."] if titles else []
    return said + (["Its question is closed."] if any(map(_is_question, closed)) else [])


def _is_of_nothing_begun(approval: Approval, state: RunState) -> bool:
    """Something that might have been done, and was not: what had been begun before is not known."""
    return approval.kind == "call" and _is(state.call(approval.requested.of_call), "not_done")


def _is_question(approval: Approval) -> bool:
    return approval.kind in ("question", "budget")


def _counts(call: Call) -> bool:
    """Would one have to know of it?"""
    return call.effect != "read" and not call.is_question


def _is(call: Call, fate: str) -> bool:
    return fate_of(call) == fate


def _title(call: Call, state: RunState) -> str:
    return f"*{quoted(title_of_call(call, state), 80)}*"


def _receipt(call: Call, state: RunState) -> str:
    external_id = call.receipt.external_id if call.receipt else None
    title = _title(call, state)
    return f"{title} ({quoted(external_id, 80)})" if external_id else title


def _listed(names: Iterable[str]) -> str:
    each: Sequence[str] = list(names)
    more = len(each) - _NAMED
    return join_words([*each[:_NAMED], *([f"{more} more"] if more > 0 else [])])
