"""What an engine and tools may make of the calls of a legal history."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from agent.rules.asking import ask_about, ask_what_happened
from agent.rules.calls import Call
from agent.rules.consent import DENIALS_LIMIT, denials_of, why_again
from agent.rules.events import (
    ApprovalRequested,
    CallLeftUnknown,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
)
from agent.rules.grants import under_grant
from agent.rules.ids import ApprovalId
from agent.rules.parts import Receipt
from agent.rules.replacing import replace
from agent.rules.steering import carried_vote
from tests.agent.rules.histories import REFUND, TERM, judged, looked_up, previewed, progressed
from tests.agent.rules.legal_choices import OUTPUTS, PREVIEWS, QUESTION
from tests.agent.rules.legal_world import World


def judge_call(world: World, call: Call) -> Event:
    if world.seldom(12):
        return CallRefused(call_id=call.id, code="malformed", message="not JSON")
    if call.tool == "ask_user":
        patience = world.judge().patience
        return judged(
            _number(call), "ask", args=QUESTION, effect="read", is_question=True, patience=patience
        )
    amount = int(call.proposed.arguments.rpartition(":")[2].rstrip("}"))
    judgement = world.judge()(call.tool, {**REFUND, "amount": amount})
    judgement = under_grant(judgement, world.grants, world.state, world.now)
    if judgement.verdict.action == "deny":
        return CallRefused(call_id=call.id, code="policy", message=judgement.verdict.reason)
    denials = denials_of(world.state, judgement.tool, judgement.args)
    if judgement.verdict.action == "ask" and denials >= DENIALS_LIMIT:
        return CallRefused(call_id=call.id, code="denied_before", message="not again")
    return judgement.of(call.id)


def preview_call(world: World, call: Call) -> Event:
    preview = world.draw(PREVIEWS)
    return previewed(_number(call), preview, None if preview else "it could not say")


def put_to_people(world: World, call: Call) -> tuple[Event, ...]:
    if call.preview_changes > 3:
        return (CallRefused(call_id=call.id, code="preview_changed", message="it changed"),)
    asked_now = question(world, call)
    carried = carried_vote(world.state, call, asked_now, world.now)
    return (asked_now, carried) if carried else (asked_now,)


def question(world: World, call: Call, *, is_review: bool = False) -> ApprovalRequested:
    approval_id = ApprovalId(f"apr_{next(world.numbers)}")
    group = world.state.replies[-1].group
    if is_review:
        return ask_what_happened(call, call.detail, approval_id, group)
    return ask_about(call, approval_id, group, world.now)


def start(world: World, call: Call) -> Event:
    judgement = world.judge(call.effect)(call.tool, call.args)
    judgement = under_grant(judgement, world.grants, world.state, world.now)
    if judgement.verdict.action == "deny":
        if call.status == "started" and call.effect == "idempotent":
            return CallLeftUnknown(call_id=call.id, detail="it may not run again")
        return CallRefused(call_id=call.id, code="policy", message="not any more")
    why = why_again(world.state, call, judgement, world.now)
    if judgement.verdict.action == "ask" and why:
        return judgement.of(call.id, again_because=why)
    if world.seldom(12):
        return _in_a_dry_run(call)
    world.in_flight.add(call.id)
    return CallStarted(
        call_id=call.id,
        attempt=call.attempts + 1,
        deadline=world.now + TERM,
        grant=None if call.approved_id else judgement.verdict.grant,
    )


def _in_a_dry_run(call: Call) -> Event:
    """Its agent's file says so by now."""
    if call.may_have_happened:
        return CallLeftUnknown(call_id=call.id, detail="it is not run again")
    return CallRefused(call_id=call.id, code="dry_run", message="not carried out")


def recover(world: World, call: Call) -> Event:
    if call.effect != "once":
        return start(world, call)
    found = world.draw(st.sampled_from(["committed", "nothing", "unknown"]))
    if found == "nothing":
        return looked_up(_number(call))
    if found == "unknown":
        can_be_checked = world.draw(st.booleans())
        return CallLeftUnknown(
            call_id=call.id, detail="nobody could say", can_be_checked=can_be_checked
        )
    receipt = Receipt(status="committed", external_id="re_1")
    return CallReturned(call_id=call.id, output="found", receipt=receipt, is_found=True)


def land(world: World, call: Call) -> tuple[Event, ...]:
    """It says how far it is, returns, or is interrupted, which leaves no event."""
    if call.status == "started" and world.seldom(4):
        return (progressed(_number(call), "half of it", call.attempts),)
    world.in_flight.discard(call.id)
    end = world.draw(st.sampled_from(["returned", "returned", "unknown", "interrupted"]))
    if end == "interrupted":
        return ()
    if end == "unknown" and call.effect == "once":
        return (CallLeftUnknown(call_id=call.id, detail="it did not answer"),)
    return (come_back(world, call),)


def come_back(world: World, call: Call) -> CallReturned:
    is_error = world.draw(st.booleans())
    receipt = world.draw(st.sampled_from([None, Receipt(status="committed")]))
    return CallReturned(
        call_id=call.id, output=world.draw(OUTPUTS), is_error=is_error, receipt=receipt
    )


def may_come_late(world: World, call: Call) -> bool:
    """An answer was given up, and may be here yet; each attempt has but one."""
    heard = sum(
        isinstance(event, CallReturned) and event.call_id == call.id and not event.is_found
        for event in (one.event for one in world.history.recorded)
    )
    return heard < call.attempts and call.status != "started" and call.told is None


def leave_open(world: World) -> Iterator[Event]:
    """The last word on what a stopped run has begun and not heard of: people are asked."""
    for call in world.state.open_calls:
        if call.is_lost:
            can_be_checked = call.effect == "once" and world.draw(st.booleans())
            yield CallLeftUnknown(
                call_id=call.id, detail="it was stopped", can_be_checked=can_be_checked
            )
            yield question(world, replace(call, detail="it was stopped"), is_review=True)


def _number(call: Call) -> int:
    return int(call.id.removeprefix("call_"))
