"""What became of a call that was approved: its card never leaves it at "Approved"."""

from __future__ import annotations

import pytest

from agent.rules.events import CallLeftUnknown, CallRefused, CallReturned, RunFailed
from agent.rules.ids import CallId, GrantId
from agent.rules.parts import Effect, Receipt, ReceiptStatus
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    left_unknown,
    looked_up,
    reopened,
    replied,
    returned,
    settled,
    waiting,
)
from tests.bot.cards.checking import shown

GIVEN_UP = RunFailed(error="It was taken up 5 times without any progress (a fault of ours).")
CALL = CallId("call_1")


def card(history: History, key: str = "approval:apr_1") -> str:
    return shown(next(one.message.blocks for one in desired(history.state) if one.key == key))


def yes(effect: Effect = "idempotent") -> History:
    """Bob has approved it, and it has not been started."""
    history = begun().then(replied(1)).then(judged(1, "ask", effect=effect))
    return history.then(asked(1)).then(approved(1))


def running(effect: Effect = "idempotent", attempt: int = 1) -> History:
    return yes(effect).then(call_started(1, yes().now, attempt))


def came(receipt: ReceiptStatus | None, output: str) -> CallReturned:
    known = Receipt(status=receipt) if receipt else None
    return CallReturned(call_id=CALL, is_error=True, output=output, receipt=known)


REFUSED = CallRefused(call_id=CALL, code="policy", message="The policy does not allow it: frozen")
FIVE_TIMES = "It was begun 5 times and never came to an end; it is not begun again."
LEFT = "The run was given up before it was heard what became of this."
AGAIN = judged(1, "ask", again_because="the tool has changed since it was approved")


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (yes().then(GIVEN_UP), ("It has not happened: its run has failed.",)),
        (
            yes().then(GIVEN_UP).then(reopened()),
            ("It has not happened yet. It is taken on again.",),
        ),
        (
            yes().then(AGAIN),
            (
                "It has not happened. It is to be asked again, because:"
                " the tool has changed since it was approved",
            ),
        ),
        (yes().then(AGAIN).then(GIVEN_UP), ("It has not happened: its run has failed.",)),
        (yes().then(REFUSED), ("It did not happen.", "Why not\nThe policy does not allow it")),
        (
            running().then(came("unknown", LEFT), GIVEN_UP),
            ("Nobody knows whether it happened.", f"What is known\n{LEFT}"),
        ),
        (
            running("once").then(left_unknown(1)).then(GIVEN_UP),
            ("We can't tell whether it happened. People are asked below.",),
        ),
        (
            running().then(GIVEN_UP),
            ("It had been started. Nobody knows whether it happened.",),
        ),
        (
            running(attempt=5).then(came("unknown", FIVE_TIMES)),
            ("Nobody knows whether it happened.", f"What is known\n{FIVE_TIMES}"),
        ),
        (
            running(attempt=5).then(came("rejected", FIVE_TIMES)),
            ("Nothing was done.", f"What it said\n{FIVE_TIMES}"),
        ),
        (running(attempt=2), ("It was started again.",)),
        (
            running().then(looked_up(1)).then(GIVEN_UP),
            ("It has not happened: its run has failed.",),
        ),
        (
            in_review().then(settled(2, "not_happened")),
            ("It has not happened yet. It is taken on again.",),
        ),
        (
            running("once").then(came("rejected", "It did not happen.")),
            ("It did not happen: looked up <!date",),
        ),
    ],
)
def test_an_approved_card_says_what_became_of_the_call(
    history: History, words: tuple[str, ...]
) -> None:
    read = card(history)
    assert "✅ *Approved* by <@U0BOB>" in read
    for one in words:
        assert one in read


def test_a_call_that_simply_goes_on_adds_nothing_to_its_card() -> None:
    assert card(yes()) == card(running())


@pytest.mark.parametrize(
    ("history", "key"),
    [
        (running().then(came("unknown", LEFT), GIVEN_UP).then(returned(1)), "approval:apr_1"),
        (in_review().then(settled(2, "give_up")).then(returned(1)), "approval:apr_1"),
    ],
)
def test_an_answer_that_came_late_is_told_after_all(history: History, key: str) -> None:
    assert "It did happen: its answer came late." in card(history, key)
    assert "Nobody" not in card(history, key)
    assert "✓ Refund an order · done: its answer came late" in card(history, "status")
    failed = history if history.state.is_ended else history.then(GIVEN_UP)
    assert "Done: \nRefund an order" in card(failed, "answer")


def test_a_failure_in_the_outside_systems_own_words_is_no_success_that_came_late() -> None:
    history = running("once").then(came("committed", "no room for it"))
    assert "Failed <!date" in card(history)
    assert "no room for it" in card(history)
    status = card(history, "status")
    assert "✗ Refund an order · failed: no room for it" in status
    assert "came late" not in status + card(history)
    assert "Done: " not in card(history.then(GIVEN_UP), "answer")


def test_a_review_that_a_late_answer_closed_says_so_and_does_not_end_the_run() -> None:
    history = in_review().then(returned(1))
    read = card(history, "approval:apr_2")
    assert "⏹ *No longer asked: what became of it is known*" in read
    assert "Done <!date" in read
    assert "Its run" not in read
    assert "Replaced" not in read


def test_a_question_that_a_late_answer_closed_does_not_say_that_nothing_happened() -> None:
    lost = running().then(AGAIN).then(asked(1, approval=2, supersedes=1))
    read = card(lost.then(returned(1)), "approval:apr_2")
    assert "⏹ *No longer asked: what became of it is known*" in read
    assert "Done <!date" in read
    assert "not happen" not in read


def test_what_was_started_and_lost_before_a_denial_is_not_called_undone() -> None:
    lost = running().then(AGAIN).then(asked(1, approval=2, supersedes=1)).then(denied(2))
    assert "it may have happened" in card(lost, "approval:apr_2")
    assert "Not known: \nRefund an order" in card(lost.then(GIVEN_UP), "answer")
    known = lost.then(returned(1))
    assert "It had been started before, and did happen." in card(known, "approval:apr_2")
    ended = running().then(AGAIN).then(asked(1, approval=2, supersedes=1)).then(GIVEN_UP)
    assert "it may have happened" in card(ended, "approval:apr_2")


def test_what_is_asked_again_below_is_not_called_undone_for_good() -> None:
    again = asked(1, approval=2, supersedes=1)
    history = waiting().then(GIVEN_UP).then(reopened()).then(again).then(approved(2))
    done = history.then(call_started(1, history.now)).then(returned(1))
    read = card(done)
    assert "↪︎ *Its run had failed: asked again below*" in read
    assert "It had not happened until then." in read
    assert "did not happen" not in read


def test_a_tool_that_is_gone_at_the_start_leaves_it_unknown_only_if_it_was_started() -> None:
    detail = "It was started, its answer was lost, and it may not run again."
    lost = running().then(CallLeftUnknown(call_id=CALL, detail=detail))
    assert "We can't tell whether it happened." in card(lost)
    assert "It did not happen." not in card(lost)


def test_a_yes_that_spares_the_next_question_says_so() -> None:
    yes = approved(1).model_copy(update={"grant": GrantId("grt_1")})
    assert "Others like it need no asking for a while: grt_1" in card(waiting().then(yes))
    assert "need no asking" not in card(waiting().then(approved(1)))


def test_what_nobody_was_asked_about_because_of_it_says_so() -> None:
    verdict = judged(1, "allow")
    allowed = verdict.verdict.model_copy(update={"grant": GrantId("grt_1")})
    history = begun().then(replied(1)).then(verdict.model_copy(update={"verdict": allowed}))
    assert "allowed beforehand" not in card(history, "status")
    history = history.then(call_started(1, history.now)).then(returned(1))
    assert "✓ Refund an order · 1.0 s · allowed beforehand" in card(history, "status")


def test_beside_the_buttons_of_a_review_stands_what_giving_up_means() -> None:
    asks = next(w.message for w in desired(in_review().state) if w.key == "approval:apr_2")
    assert "Give up: nobody can tell, and the agent is told so" in shown(asks.blocks)
