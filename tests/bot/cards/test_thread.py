"""What people read in the thread beside the cards: in the status and at the end."""

from __future__ import annotations

import pytest

from agent.rules.events import CallRefused, RunFailed, RunFinished
from agent.rules.ids import CallId
from agent.rules.interventions import RunCancelled, StopRequested
from bot.slack.cards import answer, answer_file
from bot.slack.cards.answer import answer_in_file
from bot.slack.cards.message import Message
from bot.slack.thread.desired import Priority, Wanted, desired
from tests.agent.rules.histories import (
    BOB,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    proposed_call,
    replied,
    returned,
    waiting,
)
from tests.bot.cards.checking import shown


def message(history: History, key: str) -> Message:
    return next(one.message for one in desired(history.state) if one.key == key)


def done(history: History) -> History:
    return history.then(call_started(1, history.now))


def test_the_status_tells_how_far_the_run_is() -> None:
    read = shown(message(waiting(), "status").blocks)
    assert "⏸ refund ORD-3300 180" in read
    assert "for <@U0ALICE> · started <!date" in read
    assert "⏸ Refund an order · waiting for a decision · card below" in read
    finished = done(waiting().then(approved(1))).then(returned(1)).then(replied(text="Done."))
    read = shown(message(finished.then(RunFinished(answer="Done.")), "status").blocks)
    assert "✓ Refund an order · 1.0 s" in read
    assert "*Done* · <!date" in read
    assert "waited 1.0 s for <@U0BOB> · 2 model calls" in read
    failed = shown(message(waiting().then(RunFailed(error="gone")), "status").blocks)
    assert "*Failed*" in failed


def test_the_answer_is_the_answer_and_nothing_more() -> None:
    words = "Refund of $180.00 for ORD-3300 is complete."
    answer = message(begun().then(replied(text=words)).then(RunFinished(answer=words)), "answer")
    assert answer.text == words
    assert shown(answer.blocks) == words


def test_a_long_answer_without_a_file_takes_several_messages_and_says_when_it_is_cut() -> None:
    def answers(words: str) -> list[Message]:
        history = begun().then(replied(text=words)).then(RunFinished(answer=words))
        wanted = desired(history.state, is_answer_split=True)
        return [one.message for one in wanted if one.key.startswith("answer")]

    words = "".join(f"line {n}\n" for n in range(3000))
    pieces = [text["text"]["text"] for one in answers(words) for text in one.blocks]
    assert "".join(pieces) == words
    assert len(answers("x" * 100_000)) == 12
    whole = answers("x" * 100_000)
    assert sum(shown(one.blocks).count("x") for one in whole) == 100_000
    *_, last = answers("x" * 300_000)
    assert "… [shortened]" in shown(last.blocks)
    assert shown(last.blocks).endswith("All of it, on the command line: pilothouse show run_1")


def test_what_is_too_long_for_two_messages_begins_in_one_and_is_whole_in_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def finished(words: str) -> History:
        return begun().then(replied(text=words)).then(RunFinished(answer=words))

    def wanted(words: str) -> list[Wanted]:
        return [one for one in desired(finished(words).state) if "answer" in one.key]

    assert [one.key for one in wanted("x" * 18_000)] == ["answer", "answer:2"]
    words = "password=hunter2 \u202e\n" + "".join(f"line {n}\n" for n in range(3000))
    first, whole = wanted(words)
    assert (first.key, whole.key, first.leads) == ("answer", "file:answer", True)
    read = shown(first.message.blocks)
    begins, is_in = read.split("… [shortened]")
    assert "line 100\n" in begins
    assert begins.endswith("\n")
    assert f"All of its {len(words):,} characters are in the file `answer.md` below." in is_in
    assert first.message.text.endswith("… [shortened]")
    assert whole.file is not None
    held = whole.file.content().decode()
    assert held.startswith("password=••••••••(7 characters) ⟦U+202E⟧\nline 0\n")
    assert held.endswith("line 2999\n")
    assert "hunter2" not in read
    (_, other) = wanted(words + ".")
    assert other.file is not None
    assert other.file.binding != whole.file.binding
    for module in (answer, answer_file):
        monkeypatch.setattr(module, "LONGEST", 20_000)
    long = finished("line\n" * 6_000)
    assert "The first 20,000 of its 30,000 characters" in shown(message(long, "answer").blocks)
    endless = answer_in_file(long.state)
    assert endless is not None
    assert endless.content().decode().endswith("pilothouse show run_1\n")


def test_a_failure_says_what_was_done_and_what_was_not() -> None:
    history = (
        done(waiting().then(approved(1))).then(returned(1)).then(RunFailed(error="model gone"))
    )
    answer = message(history, "answer")
    assert answer.text == "✗ <@U0ALICE>'s run failed. model gone"
    read = shown(answer.blocks)
    assert "Done: \nRefund an order" in read
    assert "run_1" in read
    assert "Not done: \nRefund an order" in shown(
        message(waiting().then(RunFailed(error="model gone")), "answer").blocks
    )
    assert "Not known: " in shown(message(in_review().then(RunFailed(error="x")), "answer").blocks)


def test_what_was_not_done_is_called_by_its_title_and_never_by_a_machines_name() -> None:
    proposed = (
        begun()
        .then(replied(1, 2, proposed_call(3, "send_mail")))
        .then(judged(1, "ask"))
        .then(asked(1))
    )
    read = shown(message(proposed.then(StopRequested(by=BOB), RunCancelled()), "answer").blocks)
    assert read.count("Not done: \nRefund an order") == 2
    assert "Not done: \nSend mail" in read
    assert "process_refund" not in read
    assert "send_mail" not in read


def test_the_thread_is_posted_in_the_order_of_what_happened() -> None:
    keys = [(one.key, one.priority) for one in desired(in_review().state)]
    assert keys == [
        ("status", Priority.WAITING),
        ("approval:apr_1", Priority.APPROVAL),
        ("approval:apr_2", Priority.APPROVAL),
    ]
    ended = in_review().then(RunFailed(error="x"))
    assert desired(ended.state)[-1].key == "answer"
    assert desired(ended.state)[0].priority == Priority.ANSWER


def test_a_digest_changes_with_what_is_shown_and_only_with_that() -> None:
    def digest(history: History) -> str:
        return next(one.digest for one in desired(history.state) if one.key == "approval:apr_1")

    assert digest(waiting()) == digest(waiting())
    assert digest(waiting()) != digest(waiting().then(approved(1)))


def test_a_run_in_which_nothing_was_done_does_not_say_done() -> None:
    over = waiting().then(denied(1)).then(RunFinished(answer="It was denied."))
    assert message(over, "status").text.endswith("Ended: nothing was done")


def test_a_call_that_was_not_understood_says_why() -> None:
    wrong = (
        begun()
        .then(replied(1))
        .then(
            CallRefused(
                call_id=CallId("call_1"), code="invalid_args", message="amount: more than 0"
            )
        )
    )
    assert "✗ Process refund · not done: amount: more than 0" in str(
        message(wrong, "status").blocks
    )
