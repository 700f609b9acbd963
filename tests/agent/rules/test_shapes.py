"""Runs and approvals as other programs see them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from agent.rules.events import ModelFailed, RunFailed, RunFinished
from agent.rules.interventions import RunCancelled, StopRequested
from agent.rules.parts import Usage
from agent.rules.shapes import approval_shape, run_shape, show_time, status_of
from tests.agent.rules.histories import (
    BEGAN,
    BOB,
    FRANK,
    REFUND,
    SECOND,
    STAGES,
    TERM,
    TWO_OF_FINANCE,
    History,
    answered,
    approved,
    asked,
    begun,
    denied,
    in_review,
    judged,
    questioned,
    reopened,
    replied,
    returned,
    settled,
    started,
    steered,
    voted,
    waiting,
)
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally

RUN_KEYS = (
    "id agent session prompt requester status waiting_for blocked next_step state_version holder "
    "answer error approvals calls usage started_at updated_at ended_at waited_seconds thread"
)
APPROVAL_KEYS = (
    "id group run_id call_id kind tool title args preview reason rule policy_version hash status "
    "may_decide votes requested_at expires_at again_because decision"
)
#: ``claimed_by``, ``text``, ``outcome`` and ``grant`` are ours beyond the contract's.
DECISION_KEYS = "action by claimed_by at reason note args guidance text outcome grant"
VOTE_KEYS = "by claimed_by at note"
RUN_STATUSES = {"running", "waiting", "blocked", "finished", "failed", "cancelled"}
APPROVAL_STATUSES = {
    *("pending", "approved", "denied", "steered", "answered", "settled"),
    *("expired", "cancelled", "superseded"),
}


@legally
@given(legal_histories())
def test_every_run_and_approval_has_the_agreed_keys_and_is_json(history: History) -> None:
    run = run_shape(history.state, now=history.now)
    assert list(run) == RUN_KEYS.split()
    assert list(run["usage"]) == ["model_calls", "input_tokens", "output_tokens", "cost_usd"]
    assert run["status"] in RUN_STATUSES
    for call in run["calls"]:
        assert list(call) == ["call_id", "operation_id", "tool", "status", "attempts", "receipt"]
    for approval in history.state.approvals.values():
        shape = approval_shape(approval, history.state)
        assert list(shape) == APPROVAL_KEYS.split()
        assert shape["status"] in APPROVAL_STATUSES
        assert all(list(vote) == VOTE_KEYS.split() for vote in shape["votes"])
        if shape["decision"] is not None:
            assert list(shape["decision"]) == DECISION_KEYS.split()
        json.dumps(shape, allow_nan=False)
    json.dumps(run, allow_nan=False)


def test_a_waiting_run_says_what_it_waits_for() -> None:
    shape = run_shape(waiting().state, now=waiting().now, holder="bot-1")
    assert shape["status"] == "waiting"
    assert shape["waiting_for"] == "approvals"
    assert shape["next_step"] == "suspend"
    assert shape["approvals"] == ["apr_1"]
    assert shape["holder"] == "bot-1"
    assert shape["state_version"] == 4
    assert shape["calls"] == [
        {
            "call_id": "call_1",
            "operation_id": "op_1",
            "tool": "process_refund",
            "status": "waiting",
            "attempts": 0,
            "receipt": None,
        }
    ]


@pytest.mark.parametrize(
    ("history", "status", "waiting_for", "next_step"),
    [
        (begun(), "running", None, "ask_model"),
        (begun().then(replied(1)), "running", None, "judge_calls"),
        (waiting().then(approved(1)), "running", None, "start_calls"),
        # Whoever looks on can't see it run, and must not take it for a pause.
        (started("once"), "running", None, "await_calls"),
        (started("read"), "running", None, "await_calls"),
        (in_review(), "waiting", "approvals", "suspend"),
        (questioned(), "waiting", "approvals", "suspend"),
        (waiting(TWO_OF_FINANCE).then(voted(1)), "waiting", "approvals", "suspend"),
        (
            begun().then(replied(1)).then(judged(1, "ask", can_preview=True)),
            "running",
            None,
            "preview_calls",
        ),
        (
            waiting().then(RunFailed(error="x")).then(reopened()),
            "running",
            None,
            "request_approvals",
        ),
        (in_review().then(settled(2, "check")), "running", None, "recover_call"),
        (
            begun().then(ModelFailed(error="busy", retry_at=BEGAN + 60 * SECOND)),
            "waiting",
            "retry",
            "suspend",
        ),
        (begun().then(RunFinished(answer="Done.")), "finished", None, None),
        (waiting().then(RunFailed(error="x")), "failed", None, None),
    ],
)
def test_the_status_follows_from_the_next_step(
    history: History, status: str, waiting_for: str | None, next_step: str | None
) -> None:
    shape = run_shape(history.state, now=history.now)
    assert (shape["status"], shape["waiting_for"], shape["next_step"]) == (
        status,
        waiting_for,
        next_step,
    )
    assert status_of(history.state, history.now) == status


def test_a_started_call_is_recovered_in_the_open_after_its_deadline() -> None:
    history = started("once")
    assert run_shape(history.state, now=history.now + TERM)["next_step"] == "recover_call"


def test_a_blocked_run_says_why_unless_it_has_ended() -> None:
    why = {"code": "missing_tool", "message": "no such tool", "fix": "bring it back"}
    shape = run_shape(waiting().state, now=BEGAN, blocked=why)
    assert (shape["status"], shape["blocked"]) == ("blocked", why)
    over = run_shape(begun().then(RunFailed(error="x")).state, now=BEGAN, blocked=why)
    assert (over["status"], over["blocked"]) == ("failed", None)


def test_a_result_stands_as_the_status_of_its_call() -> None:
    state = started().then(returned(1)).state
    (call,) = run_shape(state, now=BEGAN)["calls"]
    assert (call["status"], call["attempts"]) == ("ok", 1)
    assert call["receipt"] == {"status": "committed", "external_id": None}


def test_a_decided_approval_says_who_what_and_when() -> None:
    history = waiting().then(steered(1, {**REFUND, "amount": 90}))
    (approval,) = history.state.approvals.values()
    shape = approval_shape(approval, history.state)
    assert shape["status"] == "steered"
    assert shape["may_decide"] == {
        "users": [],
        "groups": ["S0FINANCE"],
        "requester": False,
        "count": 1,
        "one_from_each": [],
        "members": False,
    }
    assert shape["decision"]["by"] == BOB
    assert shape["decision"]["args"] == {"order": "ORD-3300", "amount": 90}
    assert shape["decision"]["at"] == "2026-11-29T12:00:04.000Z"


def test_every_yes_is_a_vote_also_the_one_that_decided() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1, note="fine", claimed_by="cli:root"))
    bobs = {"by": BOB, "claimed_by": "cli:root", "at": "2026-11-29T12:00:04.000Z", "note": "fine"}
    assert only_approval(history)["votes"] == [bobs]
    assert only_approval(history)["status"] == "pending"
    franks = {"by": FRANK, "claimed_by": None, "at": "2026-11-29T12:00:05.000Z", "note": None}
    assert only_approval(history.then(approved(1, FRANK)))["votes"] == [bobs, franks]
    assert only_approval(history.then(denied(1, by=FRANK)))["votes"] == [bobs]


def test_an_answered_question_shows_the_question_and_the_answer() -> None:
    history = questioned()
    assert only_approval(history)["kind"] == "question"
    assert only_approval(history)["args"] == STAGES
    shape = only_approval(history.then(answered(1, "staging")))
    assert (shape["status"], shape["decision"]["text"]) == ("answered", "staging")
    (call,) = run_shape(history.then(answered(1, "staging")).state, now=BEGAN)["calls"]
    assert call["status"] == "answered"


def test_what_is_asked_again_says_why() -> None:
    history = waiting().then(RunFailed(error="x")).then(reopened())
    again = asked(1, approval=2, supersedes=1)
    history = history.then(again.model_copy(update={"again_because": "the run had failed"}))
    old, new = (approval_shape(a, history.state) for a in history.state.approvals.values())
    assert (old["status"], old["again_because"]) == ("cancelled", None)
    assert (new["status"], new["again_because"]) == ("pending", "the run had failed")


def only_approval(history: History) -> dict[str, Any]:
    (approval,) = history.state.approvals.values()
    return approval_shape(approval, history.state)


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, None),
        (datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
            "2026-01-02T01:04:05.000Z",
        ),
    ],
)
def test_times_are_shown_in_utc(at: datetime | None, shown: str | None) -> None:
    assert show_time(at) == shown


def test_the_shape_of_a_state_does_not_change_it() -> None:
    state = waiting().state
    kept = replace(state)
    run_shape(state, now=BEGAN)
    assert state == kept


def test_what_a_stopped_run_had_not_begun_is_cancelled_with_it() -> None:
    for history in (waiting(), started("read")):
        history = history.then(StopRequested(by=BOB), RunCancelled())
        (call,) = run_shape(history.state, now=history.now)["calls"]
        assert call["status"] == "cancelled"
    history = started("once").then(StopRequested(by=BOB), RunCancelled())
    (call,) = run_shape(history.state, now=history.now)["calls"]
    assert call["status"] == "started", "it may have happened"


def test_a_cost_that_is_not_known_is_not_nothing() -> None:
    history = begun().then(replied(text="hi").model_copy(update={"usage": Usage(is_priced=False)}))
    assert run_shape(history.state, now=history.now)["usage"]["cost_usd"] is None
