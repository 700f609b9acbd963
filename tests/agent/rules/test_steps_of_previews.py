"""What comes next where a tool can say what would happen."""

from __future__ import annotations

import pytest

from agent.rules.ids import CallId
from agent.rules.steps import (
    PARALLEL_LIMIT,
    PREVIEW_FRESH,
    AwaitCalls,
    JudgeCalls,
    PreviewCalls,
    RequestApprovals,
    StartCalls,
    Suspend,
    next_step,
)
from tests.agent.rules.histories import (
    REFUND,
    SECOND,
    TERM,
    History,
    approved,
    asked,
    begun,
    call_started,
    judged,
    left_unknown,
    previewed,
    replied,
    settled,
    steered,
)
from tests.agent.rules.stepping import Row, follow

C1, C2 = CallId("call_1"), CallId("call_2")
SMALLER = {**REFUND, "amount": 90}

TABLES: dict[str, list[Row]] = {
    "previewed before people are asked": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), RequestApprovals((C1,))),
        (asked(1, preview="to card 42"), Suspend("approvals")),
        (approved(1), StartCalls((C1,))),
    ],
    "asked without a preview when there is none to be had": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True), PreviewCalls((C1,))),
        (previewed(1, None, "it timed out"), RequestApprovals((C1,))),
    ],
    "what runs unasked is not previewed": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, can_preview=True, preview_must_match=True), StartCalls((C1,))),
    ],
    "previewed again at its start, and it is the same": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True, preview_must_match=True), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), RequestApprovals((C1,))),
        (asked(1, preview="to card 42"), Suspend("approvals")),
        (approved(1), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), StartCalls((C1,))),
    ],
    "previewed again at its start, and it is another": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True, preview_must_match=True), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), RequestApprovals((C1,))),
        (asked(1, preview="to card 42"), Suspend("approvals")),
        (approved(1), PreviewCalls((C1,))),
        (previewed(1, "to card 43"), RequestApprovals((C1,))),
        (asked(1, approval=2, preview="to card 43", supersedes=1), Suspend("approvals")),
        (approved(2), PreviewCalls((C1,))),
        (previewed(1, "to card 43"), StartCalls((C1,))),
    ],
    "steered to what is allowed, its preview need not match any more": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True, preview_must_match=True), PreviewCalls((C1,))),
        (previewed(1, "180 to card 42"), RequestApprovals((C1,))),
        (asked(1, preview="180 to card 42"), Suspend("approvals")),
        (steered(1, SMALLER), StartCalls((C1,))),
        (judged(1, args=SMALLER, can_preview=True, preview_must_match=True), StartCalls((C1,))),
    ],
    "some are previewed while others start": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1, "ask", can_preview=True), JudgeCalls((C2,))),
        (judged(2), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), StartCalls((C2,))),
    ],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
def test_every_prefix_has_its_step(rows: list[Row]) -> None:
    follow(rows)


def must_match() -> History:
    """Approved by looking at a preview that has to be the same when it starts."""
    history = begun().then(replied(1))
    history = history.then(judged(1, "ask", can_preview=True, preview_must_match=True))
    history = history.then(previewed(1, "to card 42")).then(asked(1, preview="to card 42"))
    return history.then(approved(1))


def test_a_preview_that_was_made_again_holds_for_half_a_minute() -> None:
    history = must_match().then(previewed(1, "to card 42"))
    assert next_step(history.state, history.now + PREVIEW_FRESH) == StartCalls((C1,))
    assert next_step(history.state, history.now + PREVIEW_FRESH + SECOND) == PreviewCalls((C1,))


def test_after_a_review_the_preview_is_still_compared_with_what_was_approved() -> None:
    """The review is the newest approval, and nobody said yes to a preview there."""
    history = must_match().then(previewed(1, "to card 42"))
    history = history.then(call_started(1, history.now)).then(left_unknown(1))
    history = history.then(asked(1, approval=2, kind="review", supersedes=1))
    history = history.then(settled(2, "not_happened"), after=TERM)
    assert next_step(history.state, history.now) == PreviewCalls((C1,))
    history = history.then(previewed(1, "to card 42"))
    assert next_step(history.state, history.now) == StartCalls((C1,))


def test_what_ran_unasked_has_no_preview_to_match_after_its_review() -> None:
    history = begun().then(replied(1))
    history = history.then(judged(1, effect="once", can_preview=True, preview_must_match=True))
    history = history.then(call_started(1, history.now)).then(left_unknown(1))
    history = history.then(asked(1, approval=2, kind="review"))
    history = history.then(settled(2, "not_happened"))
    assert next_step(history.state, history.now) == StartCalls((C1,))


def test_previews_and_starts_together_are_bounded() -> None:
    numbers = range(1, PARALLEL_LIMIT + 3)
    history = begun().then(replied(*numbers))
    history = history.then(*(judged(n, "ask", can_preview=True) for n in numbers))
    ids = tuple(CallId(f"call_{n}") for n in numbers)
    assert next_step(history.state, history.now) == PreviewCalls(ids[:PARALLEL_LIMIT])
    assert next_step(history.state, history.now, set(ids[:3])) == PreviewCalls(
        ids[3:PARALLEL_LIMIT]
    )
    assert next_step(history.state, history.now, set(ids[:PARALLEL_LIMIT])) == AwaitCalls()
    history = begun().then(replied(*numbers)).then(*(judged(n) for n in numbers))
    assert next_step(history.state, history.now) == StartCalls(ids[:PARALLEL_LIMIT])


def test_those_whose_preview_is_there_are_asked_while_others_are_being_made() -> None:
    history = begun().then(replied(1, 2))
    history = history.then(*(judged(n, "ask", can_preview=True) for n in (1, 2)))
    history = history.then(previewed(1, "to card 42"))
    assert next_step(history.state, history.now, {C2}) == RequestApprovals((C1,))
