"""What a run left open when it ended, or can't go on with, is said alike wherever it is said."""

from __future__ import annotations

import pytest

from agent.rules.events import CallReturned, RunFailed, RunFinished
from agent.rules.ids import CallId
from agent.rules.interventions import RunCancelled, StopRequested
from agent.rules.parts import Receipt, ReceiptStatus
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    BEGAN,
    BOB,
    History,
    approved,
    asked,
    begun,
    call_started,
    in_review,
    judged,
    progressed,
    replied,
    returned,
    settled,
    started,
    waiting,
)
from tests.bot.cards.checking import check_message, shown

GONE = RunFailed(error="the model is gone")
BLOCKED = {"message": "refunds has no tool process_refund any more.", "fix": "Put it back."}
FINANCE = "<!subteam^S0FINANCE>"


def read(history: History, key: str = "status", blocked: dict[str, str] | None = None) -> str:
    wanted = {one.key: one.message for one in desired(history.state, blocked)}
    check_message(wanted[key], ["@U0ALICE", "@U0BOB", "!subteam^S0FINANCE"])
    return shown(wanted[key].blocks)


def failed(receipt: ReceiptStatus | None, said: str = "card expired") -> CallReturned:
    known = Receipt(status=receipt) if receipt else None
    return CallReturned(call_id=CallId("call_1"), is_error=True, output=said, receipt=known)


def test_how_far_a_call_is_stands_in_its_line_while_it_runs() -> None:
    said = started().then(progressed(1, "2 of\n7 <!channel> password=hunter2hunter2"))
    assert "▶︎ Refund an order · running · 2 of 7 <!channel> password=••••••••" in read(said)
    newer = said.then(progressed(1, "3 of 7"))
    assert "▶︎ Refund an order · running · 3 of 7" in read(newer)
    assert "of 7" not in read(newer.then(returned(1)))


def test_what_was_said_of_an_attempt_before_is_not_said_of_the_next() -> None:
    again = started("read").then(progressed(1), call_started(1, BEGAN, attempt=2))
    assert "▶︎ Refund an order · running" in read(again)
    assert "of 7" not in read(again)
    assert "of 7" not in read(again.then(progressed(1, attempt=1)))
    assert "of 7" in read(again.then(progressed(1, attempt=2)))


@pytest.mark.parametrize(
    ("history", "row"),
    [
        (started(), "❓ Refund an order · nobody knows whether it happened"),
        (started("read"), "⏹ Refund an order · did not come to an end"),
        (waiting(), "⏹ Refund an order · not done"),
        (waiting().then(approved(1)), "⏹ Refund an order · not done"),
        (begun().then(replied(1)), "⏹ Process refund · not done"),
    ],
)
def test_a_failed_run_has_nothing_running_and_waits_for_nobody(history: History, row: str) -> None:
    assert row in read(history.then(GONE))


@pytest.mark.parametrize(
    ("end", "row"),
    [
        (failed("rejected"), "✗ Refund an order · failed, nothing was done: card expired"),
        (failed("rejected", "It did not happen."), "✗ Refund an order · failed: it did not happen"),
        (failed("unknown"), "❓ Refund an order · no answer: it is not known whether it happened"),
    ],
)
def test_a_call_that_failed_says_why_and_what_was_done(end: CallReturned, row: str) -> None:
    assert row in read(started().then(end))


def test_a_look_up_that_failed_says_why() -> None:
    assert "✗ Refund an order · failed: card expired" in read(started("read").then(failed(None)))


def test_what_nobody_knows_is_not_said_to_have_failed() -> None:
    stopped = started().then(failed("unknown")).then(StopRequested(by=BOB), RunCancelled())
    assert "Not known: \nRefund an order: it may have happened" in read(stopped, "answer")
    assert "it failed" not in read(stopped, "answer")


def test_of_look_ups_alone_it_is_said_that_nothing_was_changed() -> None:
    looked = started("read").then(returned(1)).then(GONE)
    assert "✓ Refund an order" in read(looked)
    assert "Nothing was changed." in read(looked, "answer")
    assert "Nothing was done." in read(begun().then(GONE), "answer")


class TestBlocked:
    def test_the_message_itself_says_that_it_can_not_go_on(self) -> None:
        assert "Can't go on: refunds has no tool" in read(waiting(), blocked=BLOCKED)

    def test_what_was_allowed_is_not_said_to_begin(self) -> None:
        history = waiting().then(approved(1))
        assert "… Refund an order · waits: its run can't go on" in read(history, blocked=BLOCKED)
        assert "about to start" in read(history)

    def test_nor_is_its_card_left_at_approved(self) -> None:
        history = waiting().then(approved(1))
        words = "It has not happened yet: its run can't go on. Its first message says why."
        assert words in read(history, "approval:apr_1", BLOCKED)
        assert words not in read(history, "approval:apr_1")
        ended = history.then(call_started(1, history.now)).then(returned(1))
        assert words not in read(ended, "approval:apr_1", BLOCKED)


class TestReview:
    def test_the_card_above_it_says_who_is_asked(self) -> None:
        words = f"We can't tell whether it happened. {FINANCE} is asked below."
        assert words in read(in_review(), "approval:apr_1")

    def test_of_what_did_not_happen_it_is_said_who_said_so_and_what_follows(self) -> None:
        card = read(in_review().then(settled(2, "not_happened")), "approval:apr_2")
        assert "↻ *It did not happen: confirmed* by <@U0BOB> · <!date^" in card
        assert "It is to be run again." in card

    def test_run_again_it_is_not_to_be_run_any_more(self) -> None:
        history = in_review().then(settled(2, "not_happened"))
        history = history.then(call_started(1, history.now, 2))
        assert "It is run again." in read(history, "approval:apr_2")
        history = history.then(returned(1)).then(RunFinished(answer="Done."))
        assert "It is" not in read(history, "approval:apr_2")

    def test_its_start_is_the_one_that_was_asked_about(self) -> None:
        asked_about = read(in_review(), "approval:apr_2")
        assert "started <!date^" in asked_about
        history = in_review().then(settled(2, "not_happened"))
        history = history.then(call_started(1, history.now, 2))
        assert "started <!date^" not in read(history, "approval:apr_2")

    def test_after_the_end_nothing_is_run_again(self) -> None:
        history = in_review().then(GONE).then(settled(2, "not_happened"))
        assert "run again" not in read(history, "approval:apr_2")


def test_whom_it_waited_for_are_those_who_decided() -> None:
    later = waiting().then(approved(1)).then(replied(2)).then(judged(2, "ask")).then(asked(2))
    assert "waited 1.0 s for <@U0BOB> · waiting since <!date^" in read(later)
