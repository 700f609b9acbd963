"""Which calls are streamed in which message, and what Slack is sent of them."""

from __future__ import annotations

import pytest

from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from agent.rules.interventions import RunHeld, RunResumed, StopRequested
from bot.slack.cards.blocks import plain_section
from bot.slack.cards.live import Page, Task, is_at_work, newest_page, pages, read_mark
from bot.slack.ids import Address
from bot.slack.thread.edge import posted_in
from bot.slack.thread.native import native_status
from tests.agent.rules.histories import (
    ALICE,
    History,
    approved,
    asked,
    begun,
    call_started,
    judged,
    replied,
    returned,
    waiting,
)

RUN = RunId("run_1")


def running(history: History, number: int) -> History:
    history = history.then(replied(number), judged(number))
    return history.then(call_started(number, history.now))


def done(history: History, number: int) -> History:
    return running(history, number).then(returned(number))


def test_calls_between_two_questions_share_a_message() -> None:
    history = running(done(begun(), 1), 2)
    (page,) = pages(history.state).values()
    assert (page.key, page.letters) == ("live:1", "ci")
    assert newest_page(history.state) == page
    history = history.then(returned(2)).then(replied(3), judged(3, "ask"), asked(3, approval=1))
    assert newest_page(history.state) == Page("live:2", ())
    history = history.then(approved(1))
    history = history.then(call_started(3, history.now)).then(returned(3, is_error=True))
    assert [(one.key, one.letters) for one in pages(history.state).values()] == [
        ("live:1", "cc"),
        ("live:2", "e"),
    ]


def test_what_was_not_begun_is_no_task() -> None:
    assert pages(waiting().state) == {}


def test_a_long_stretch_takes_several_messages_and_only_the_last_one_changes() -> None:
    history = begun()
    for number in range(1, 42):
        history = done(history, number)
    found = pages(history.state)
    assert [(key, len(page.tasks)) for key, page in found.items()] == [
        ("live:1", 20),
        ("live:1.2", 20),
        ("live:1.3", 1),
    ]
    assert newest_page(history.state).key == "live:1.3"


def test_only_what_has_changed_is_sent_and_it_can_be_sent_again() -> None:
    page = Page("live:1", (Task("call_1", "One", "complete"), Task("call_2", "Two", "in_progress")))
    assert [one["title"] for one in page.chunks(RUN)] == ["One", "Two"]
    assert [one["title"] for one in page.chunks(RUN, "i")] == ["One", "Two"]
    assert [one["title"] for one in page.chunks(RUN, "c")] == ["Two"]
    assert page.chunks(RUN, "ci") == []


def test_a_stream_whose_start_was_not_heard_of_is_found_by_what_stands_in_it() -> None:
    page = Page("live:2", (Task("call_1", "One", "complete"),))
    (chunk,) = page.chunks(RUN)
    block = {"type": "task_card", "task_id": chunk["id"]}
    found = posted_in("D0ALICE", {"ts": "1.5", "blocks": [block]})
    assert (found.address, found.run_id, found.key) == (Address("D0ALICE", "1.5"), RUN, "live:2")


@pytest.mark.parametrize("found", [None, 7, "", "run_1", "run_1|status|x", "run_1|live:1"])
def test_what_is_no_mark_names_no_run(found: object) -> None:
    assert read_mark(found) is None


def test_what_slack_would_refuse_for_its_size_is_not_put_in() -> None:
    page = Page("live:1", (Task("call_1", "One", "complete"),))
    assert page.holds([plain_section("é" * 2900)])
    assert not page.holds([plain_section("é" * 2900)] * 2)
    assert not page.holds([plain_section("x")] * 45)


def test_slack_shows_its_stop_only_while_nobody_is_waited_for() -> None:
    history = running(begun(), 1)
    assert native_status(history.state) == "processing"
    assert native_status(history.state, is_blocked=True) == "suspended"
    held = history.then(RunHeld(by=ALICE))
    stopped = history.then(StopRequested(by=ALICE))
    for one in (held, stopped, waiting()):
        assert not is_at_work(one.state)
        assert native_status(one.state) == "suspended"
    assert native_status(held.then(RunResumed(by=ALICE)).state) == "processing"
    ended = history.then(returned(1)).then(replied(text="Done."), RunFinished(answer="Done."))
    assert native_status(ended.state) == "active"
