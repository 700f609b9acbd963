"""Changes that somebody who can write a journal might make to it, and that no engine would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallJudged,
    CallProgressed,
    CallReturned,
    CallStarted,
    Event,
    ModelReplied,
    RunFinished,
)
from agent.rules.ids import ApprovalId, CallId, EventId, GrantId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalExpired,
    MessageEdited,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Receipt, Summary
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from tests.agent.rules.histories import ALICE, BOB, History
from tests.agent.rules.legally import states_of

Journal = list[Recorded]
#: A journal, the place to change, and the state before it: the changed one, where it can be changed so.
Forgery = Callable[[Journal, int, RunState], Journal | None]

NOBODY = Principal("slack:T0OTHER:U0DAVE")


def _numbered(changed: Journal) -> Journal:
    """As a forger would: each reply was asked at what it was asked at, wherever that stands now."""
    journal: Journal = []
    now_at: dict[int, int] = {}
    for seq, one in enumerate(changed, 1):
        if not one.id.startswith(_PUT):
            now_at[one.seq] = seq
        event = one.event
        if isinstance(event, ModelReplied | ConversationSummarised):
            asked_at = max(new for old, new in now_at.items() if old <= event.asked_at)
            event = event.model_copy(update={"asked_at": asked_at})
        journal.append(replace(one, seq=seq, event=event))
    return journal


_PUT = "forged-"


def _put(journal: Journal, place: int, *events: Event) -> Journal:
    before = journal[place - 1]
    put = [replace(before, id=EventId(f"{_PUT}{n}"), event=e) for n, e in enumerate(events)]
    return [*journal[:place], *put, *journal[place:]]


def _change(journal: Journal, place: int, **fields: object) -> Journal:
    one = journal[place]
    changed = replace(one, event=one.event.model_copy(update=fields))
    return [*journal[:place], changed, *journal[place + 1 :]]


def second_of_the_same(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    # The same may well be said twice, voted for again when a yes is too old, or fail once more.
    may_be_twice = event.kind in (
        "message_received",
        "model_failed",
        "approval_voted",
        "call_progressed",
    )
    # Two attempts may both be heard of.
    is_late = isinstance(event, CallReturned) and state.call(event.call_id).attempts > 1
    return None if may_be_twice or is_late else _put(journal, place + 1, event)


def a_decision_of_nobody(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ApprovalDecided):
        return None
    nobody = {"by": NOBODY, "user": "U0DAVE", "groups": (), "authority": "listed"}
    return _change(journal, place, **nobody)


def a_decision_in_anothers_name(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    is_listed = isinstance(event, ApprovalDecided) and event.authority == "listed"
    return _change(journal, place, by=NOBODY) if is_listed else None


def another_kind_of_decision(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ApprovalDecided):
        return None
    kind = state.approvals[event.approval_id].kind
    return _change(journal, place, action="settle" if kind != "review" else "approve")


def a_decision_on_what_is_closed(journal: Journal, place: int, state: RunState) -> Journal | None:
    closed = next((a for a in state.approvals.values() if a.status != "pending"), None)
    if closed is None:
        return None
    yes = ApprovalDecided(approval_id=closed.id, by=BOB, action="deny", authority="operator")
    return _put(journal, place, yes)


def a_result_of_what_never_began(journal: Journal, place: int, state: RunState) -> Journal | None:
    call = next((c for c in state.own_calls if c.attempts == 0), None)
    if call is None:
        return None
    receipt = Receipt(status="committed")
    return _put(journal, place, CallReturned(call_id=call.id, output="paid", receipt=receipt))


def a_word_of_what_does_not_run(journal: Journal, place: int, state: RunState) -> Journal | None:
    call = next((c for c in state.own_calls if c.status != "started"), None)
    if call is None:
        return None
    said = CallProgressed(call_id=call.id, attempt=call.attempts, text="all is well")
    return _put(journal, place, said)


def a_start_of_what_has_ended(journal: Journal, place: int, state: RunState) -> Journal | None:
    call = next((c for c in state.own_calls if c.status == "ended"), None)
    if call is None:
        return None
    at = journal[place - 1].at + timedelta(minutes=1)
    started = CallStarted(call_id=call.id, attempt=call.attempts + 1, deadline=at)
    return _put(journal, place, started)


def resumed_though_not_held(journal: Journal, place: int, state: RunState) -> Journal | None:
    return None if state.held else _put(journal, place, RunResumed(by=BOB))


def held_twice_or_after_the_end(journal: Journal, place: int, state: RunState) -> Journal | None:
    may = state.held is None and not state.is_ended and state.stop is None
    return None if may else _put(journal, place, RunHeld(by=BOB))


def stopped_twice_or_after_the_end(journal: Journal, place: int, state: RunState) -> Journal | None:
    may = not state.is_ended and state.stop is None
    return None if may else _put(journal, place, StopRequested(by=BOB))


def cancelled_though_nobody_wanted(journal: Journal, place: int, state: RunState) -> Journal | None:
    return _put(journal, place, RunCancelled()) if state.stop is None else None


def asked_again_though_decided(journal: Journal, place: int, state: RunState) -> Journal | None:
    ones = (a for a in state.approvals.values() if a.status != "expired")
    one = next(ones, None)
    return _put(journal, place, ApprovalAskedAgain(approval_id=one.id, by=ALICE)) if one else None


def silence_of_what_is_closed(journal: Journal, place: int, state: RunState) -> Journal | None:
    ones = (a for a in state.approvals.values() if a.status != "pending")
    one = next(ones, None)
    return _put(journal, place, ApprovalExpired(approval_id=one.id)) if one else None


def another_call(journal: Journal, place: int, state: RunState) -> Journal | None:
    has_call = getattr(journal[place].event, "call_id", None) is not None
    return _change(journal, place, call_id=CallId("call_of_nobody")) if has_call else None


def another_approval(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    is_about_one = hasattr(event, "approval_id") and not isinstance(event, ApprovalRequested)
    return _change(journal, place, approval_id=ApprovalId("apr_no")) if is_about_one else None


def asked_of_others(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ApprovalRequested) or event.approval_kind not in ("call", "review"):
        return None
    others = event.approvers.model_copy(update={"users": ("U0DAVE",)})
    return _change(journal, place, approvers=others)


def asked_about_something_else(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ApprovalRequested) or event.approval_kind not in ("call", "review"):
        return None
    return _change(journal, place, args={**event.args, "amount": 1})


def another_answer(journal: Journal, place: int, state: RunState) -> Journal | None:
    is_end = isinstance(journal[place].event, RunFinished)
    return _change(journal, place, answer="All is well.") if is_end else None


def verdicts_in_another_order(journal: Journal, place: int, state: RunState) -> Journal | None:
    """Of one commit, before anything else happened."""
    two = journal[place : place + 2]
    is_pair = len(two) == 2 and all(isinstance(one.event, CallJudged) for one in two)
    both = {call.id for call in state.open_calls if call.status == "proposed"}
    is_first = is_pair and {getattr(one.event, "call_id", None) for one in two} <= both
    return [*journal[:place], two[1], two[0], *journal[place + 2 :]] if is_first else None


def the_yes_is_missing(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ApprovalDecided) or event.action != "approve":
        return None
    begins = {e.event.call_id for e in journal[place:] if isinstance(e.event, CallStarted)}
    if state.approvals[event.approval_id].requested.call_id not in begins:
        return None
    return [*journal[:place], *journal[place + 1 :]]


def what_another_rests_on_is_missing(
    journal: Journal, place: int, state: RunState
) -> Journal | None:
    """A verdict before its question or its start; the one start before its end."""
    event = journal[place].event
    if not isinstance(event, CallJudged | CallStarted):
        return None
    later = (one.event for one in journal[place + 1 :])
    of_call = next((e for e in later if getattr(e, "call_id", None) == event.call_id), None)
    rests = isinstance(of_call, ApprovalRequested | CallStarted)
    if isinstance(event, CallStarted):
        rests = isinstance(of_call, CallReturned) and state.call(event.call_id).attempts == 0
    return [*journal[:place], *journal[place + 1 :]] if rests else None


def a_consent_of_nobody(journal: Journal, place: int, state: RunState) -> Journal | None:
    is_start = isinstance(journal[place].event, CallStarted)
    return _change(journal, place, grant=GrantId("grt_nobody")) if is_start else None


def a_summary_of_another_part(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ConversationSummarised) or event.replies == 0:
        return None
    return _change(journal, place, replies=event.replies - 1)


def a_summary_that_nobody_wanted(journal: Journal, place: int, state: RunState) -> Journal | None:
    if state.summing is not None:
        return None
    summary = ConversationSummarised(
        replies=0, summary=Summary(text="It was paid."), asked_at=state.seq, model="model"
    )
    return _put(journal, place, summary)


def a_summary_of_more_than_there_is(
    journal: Journal, place: int, state: RunState
) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, ConversationShortened):
        return None
    return _change(journal, place, summing=len(state.replies))


def an_older_edit(journal: Journal, place: int, state: RunState) -> Journal | None:
    event = journal[place].event
    if not isinstance(event, MessageEdited) or event.as_of is None:
        return None
    before = event.as_of - timedelta(seconds=1)
    older = event.model_copy(update={"text": "all of it", "as_of": before})
    return _put(journal, place + 1, older)


FORGERIES: tuple[Forgery, ...] = (
    an_older_edit,
    second_of_the_same,
    a_decision_of_nobody,
    a_decision_in_anothers_name,
    another_kind_of_decision,
    a_decision_on_what_is_closed,
    a_result_of_what_never_began,
    a_word_of_what_does_not_run,
    a_start_of_what_has_ended,
    resumed_though_not_held,
    held_twice_or_after_the_end,
    stopped_twice_or_after_the_end,
    cancelled_though_nobody_wanted,
    asked_again_though_decided,
    silence_of_what_is_closed,
    another_call,
    another_approval,
    asked_of_others,
    asked_about_something_else,
    another_answer,
    verdicts_in_another_order,
    the_yes_is_missing,
    what_another_rests_on_is_missing,
    a_consent_of_nobody,
    a_summary_of_another_part,
    a_summary_that_nobody_wanted,
    a_summary_of_more_than_there_is,
)


def all_forged(history: History) -> Iterator[tuple[str, int, Journal]]:
    """Every forgery at every place where it can be made: its name, and the number of what is changed."""
    for place, state in enumerate(states_of(history)[:-1], 1):
        for forgery in FORGERIES:
            if journal := forgery(list(history.recorded), place, state):
                yield forgery.__name__, place + 1, _numbered(journal)
