"""What people see of a run that is paused, or stopped, or has been told something."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import RunFinished
from agent.rules.ids import BY_BUDGET
from agent.rules.interventions import RunCancelled, RunHeld, RunResumed, StopRequested
from bot.slack.cards.message import Message
from bot.slack.ids import RUN_HOLD, RUN_RESUME, RUN_STOP
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    History,
    approved,
    begun,
    call_started,
    in_review,
    judged,
    replied,
    returned,
    started,
    waiting,
)
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.waits import held, stopped, told

MINUTE = timedelta(minutes=1)


def messages(history: History) -> dict[str, Message]:
    return {one.key: one.message for one in desired(history.state)}


def read(history: History, key: str = "status") -> str:
    return shown(messages(history)[key].blocks)


def buttons(history: History, key: str = "status") -> list[str]:
    blocks = messages(history)[key].blocks
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


class TestPaused:
    def test_it_says_by_whom_and_why(self) -> None:
        paused = messages(held(waiting(), reason="wait for legal"))["status"]
        assert paused.text.startswith("⏸ ")
        assert paused.text.endswith("· Paused by <@U0BOB>")
        assert "*Paused by <@U0BOB>*" in shown(paused.blocks)
        assert "Reason\nwait for legal" in shown(paused.blocks)

    def test_it_can_be_resumed_or_stopped(self) -> None:
        assert buttons(waiting()) == [RUN_HOLD, RUN_STOP]
        assert buttons(held(waiting())) == [RUN_RESUME, RUN_STOP]
        assert buttons(held(waiting()).then(RunResumed(by=ALICE))) == [RUN_HOLD, RUN_STOP]

    def test_its_questions_can_still_be_decided(self) -> None:
        assert buttons(held(waiting()), "approval:apr_1") == buttons(waiting(), "approval:apr_1")

    def test_what_is_approved_meanwhile_is_said_to_wait_for_resume(self) -> None:
        history = held(waiting()).then(approved(1))
        card = read(history, "approval:apr_1")
        assert "✅ *Approved* by <@U0BOB>" in card
        assert "It has not happened yet: its run is paused. It goes on with Resume." in card
        assert "⏸ Refund an order · approved · waits for Resume" in read(history)

    def test_after_resume_nothing_says_so_any_more(self) -> None:
        history = held(waiting()).then(approved(1)).then(RunResumed(by=ALICE))
        assert "Resume" not in read(history, "approval:apr_1")
        assert "Refund an order · about to start" in read(history)

    def test_what_the_model_proposed_last_waits_as_well(self) -> None:
        assert "⏸ Process refund · waits for Resume" in read(held(begun().then(replied(1))))


class TestWaited:
    def test_what_a_pause_took_is_not_said_to_be_the_deciders_waiting(self) -> None:
        history = waiting().then(approved(1), after=2 * MINUTE)
        history = history.then(RunHeld(by=ALICE)).then(RunResumed(by=ALICE), after=30 * MINUTE)
        history = history.then(RunFinished(answer="Done."))
        assert "waited 2 min for <@U0BOB> · paused for 30 min" in read(history)

    def test_what_is_still_going_on_is_said_since_when(self) -> None:
        """A number of seconds would stand still."""
        since = f"<!date^{int(waiting().now.timestamp())}^"
        paused = read(held(waiting()))
        assert f"waiting since {since}" in paused
        assert f"paused since <!date^{int(held(waiting()).now.timestamp())}^" in paused
        assert "paused for" not in paused
        resumed = held(waiting()).then(RunResumed(by=ALICE), after=MINUTE)
        assert "paused for 60 s · waiting since" in read(resumed)
        assert "waiting since" not in read(stopped(waiting()))

    def test_what_nobody_decided_is_nobodys_waiting(self) -> None:
        ended = StopRequested(by=BOB), RunCancelled()
        history = waiting().then(*ended, after=3 * MINUTE)
        assert "waited 3 min while nobody decided" in read(history)


class TestStopped:
    def test_it_says_by_whom_and_has_no_buttons(self) -> None:
        history = stopped(waiting(), reason="the wrong order")
        assert messages(history)["status"].text.endswith("· Stopped by <@U0BOB>")
        assert "*Stopped by <@U0BOB>* · <!date^" in read(history)
        assert buttons(history) == []
        assert "⏹ Refund an order · not done" in read(history)

    def test_its_open_card_closes_with_it(self) -> None:
        history = stopped(waiting())
        assert buttons(history, "approval:apr_1") == []
        card = read(history, "approval:apr_1")
        assert "⏹ *Stopped by <@U0BOB>* · <!date^" in card
        assert "It did not happen." in card

    def test_what_had_happened_already_is_said_in_the_end(self) -> None:
        history = stopped(
            waiting().then(approved(1)).then(call_started(1, waiting().now)).then(returned(1)),
            reason="enough",
        )
        last = read(history, "answer")
        assert last.startswith("⏹ <@U0ALICE>'s run was stopped by <@U0BOB>.")
        assert "Reason\nenough" in last
        assert "Done: \nRefund an order" in last
        assert "Nothing was done." in read(stopped(begun()), "answer")

    def test_what_may_have_happened_is_not_said_to_be_not_done(self) -> None:
        again = judged(1, "ask", again_because="the tool has changed since it was approved")
        history = stopped(started().then(again))
        assert "❓ Refund an order · it may have happened" in read(history)
        assert "Not known: \nRefund an order" in read(history, "answer")

    def test_while_something_is_under_way_it_is_being_stopped(self) -> None:
        history = started().then(StopRequested(by=BOB))
        status = messages(history)["status"]
        assert status.text.endswith("· Stopped by <@U0BOB>; what had begun is waited for")
        assert "▶︎ Refund an order · running" in shown(status.blocks)
        assert buttons(history) == []

    def test_where_no_person_did_it_it_says_why(self) -> None:
        reason = "This run has used its budget: 40 of 40 model calls."
        history = stopped(begun(), by=BY_BUDGET, reason=reason)
        assert "Stopped: its budget was used up" in read(history)
        last = read(history, "answer")
        assert "run was stopped: its budget was used up." in last
        assert reason in last

    def test_what_nobody_knows_of_can_still_be_settled(self) -> None:
        history = in_review().then(StopRequested(by=BOB), RunCancelled())
        assert "review.happened" in buttons(history, "approval:apr_2")
        assert "review.not_happened" not in buttons(history, "approval:apr_2")


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (told(begun()), "1 to be heard next"),
        (told(told(begun())), "2 to be heard next"),
        (told(begun()).then(replied(1, asked_at=2)), "1 message heard"),
        (told(told(begun())).then(replied(1, asked_at=3)), "2 messages heard"),
        (told(told(begun()).then(replied(1, asked_at=2))), "1 message heard · 1 to be heard next"),
        (
            stopped(told(begun())),
            "1 not heard: the next run in this conversation is told",
        ),
    ],
)
def test_messages_are_counted_as_heard(history: History, words: str) -> None:
    assert words in read(history)


def test_what_was_used_without_a_reply_is_said_not_to_be_known() -> None:
    words = "what a model request without a reply used is not known"
    assert words in read(stopped(begun()))
    assert words not in read(stopped(waiting()))


def test_a_read_that_a_stop_cut_off_does_not_run_on_in_the_thread() -> None:
    history = started("read").then(StopRequested(by=BOB)).then(RunCancelled())
    assert "cut off by the stop" in read(history)
    assert "running" not in read(history)


def test_where_nobody_said_anything_nothing_is_counted() -> None:
    assert "heard" not in read(waiting())


def test_what_has_finished_has_no_buttons() -> None:
    assert buttons(begun().then(RunFinished(answer="Done."))) == []


@pytest.mark.parametrize(
    "history",
    [
        held(waiting(), reason="<!channel>" + "&" * 3000),
        stopped(waiting(), reason="<!channel>" + "&" * 3000),
        started().then(StopRequested(by=BOB)),
    ],
)
def test_it_fits_into_slack_and_mentions_nobody_else(history: History) -> None:
    allowed = ["@U0ALICE", "@U0BOB", "!subteam^S0FINANCE"]
    for message in messages(history).values():
        check_message(message, allowed)
