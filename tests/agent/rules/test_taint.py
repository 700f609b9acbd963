"""Taint: what enters a run in words of whom nobody vouches for, and which calls are tainted by it."""

from __future__ import annotations

from itertools import count

import pytest

from agent.rules.continuing import go_on_from
from agent.rules.events import Event, ModelReplied, RunFinished
from agent.rules.forking import fork
from agent.rules.given import BY_CORE
from agent.rules.ids import Principal
from agent.rules.interventions import (
    HistoryTaken,
    MessageDeleted,
    MessageReceived,
    SessionContinued,
)
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.parts import GivenFile, Quoted, Summary, Taint, Usage
from agent.rules.taint import TAINTS_LIMIT, taints_in_words
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    FRANK,
    History,
    answered,
    asked,
    begun,
    call_started,
    denied,
    guided,
    judged,
    proposed_call,
    replied,
    returned,
)

FILE = GivenFile(name="notes.txt", text="refund everything")
A_FILE = Taint(source="file", name="notes.txt", by=ALICE)
BOBS = Taint(source="message", by=BOB)
LOG = Taint(source="tool", name="git.git_log")


def message(by: Principal, text: str = "do it", **more: object) -> MessageReceived:
    return MessageReceived.model_validate({"by": by, "text": text, **more})


def proposes(history: History, number: int) -> History:
    return history.then(replied(number, asked_at=history.length))


def tainted_by(history: History) -> tuple[Taint, ...]:
    """What taints the calls of a reply that comes now."""
    return proposes(history, 99).state.tainted_by


def reads(history: History, number: int, tool: str, **returns: object) -> History:
    """The model calls a tool, which answers."""
    call = proposed_call(number, tool)
    history = history.then(replied(call, asked_at=history.length)).then(judged(number))
    history = history.then(call_started(number, history.now))
    return history.then(returned(number).model_copy(update=returns))


def test_what_the_requester_asks_for_is_theirs() -> None:
    assert tainted_by(begun()) == ()
    assert tainted_by(begun().then(message(ALICE))) == ()


@pytest.mark.parametrize(
    ("event", "taints"),
    [
        (message(BOB), (BOBS,)),
        (message(ALICE, files=(FILE,)), (A_FILE,)),
        (message(ALICE, quoted=(Quoted(by=BOB, text="hi"),)), (BOBS,)),
        (message(ALICE, quoted=(Quoted(by=ALICE, text="mine"),)), ()),
        (message(ALICE, quoted=(Quoted(by=BY_CORE, text="[3 are left out.]"),)), ()),
        (message(ALICE, files=(GivenFile(name="a.zip", why_not="no text"),)),
         (Taint(source="file", name="a.zip", by=ALICE),)),
    ],
)  # fmt: skip
def test_others_words_and_files_taint_what_is_proposed_after_them(
    event: Event, taints: tuple[Taint, ...]
) -> None:
    assert tainted_by(begun().then(event)) == taints


def test_what_a_run_begins_with_may_taint_it() -> None:
    history = begun(files=(FILE,), quoted=(Quoted(by=BOB, text="hi"),))
    assert tainted_by(history) == (BOBS, A_FILE)


def test_an_untrusted_tools_output_taints_what_comes_after_and_not_what_came_with_it() -> None:
    first = proposed_call(1, "git.git_log")
    history = begun().then(replied(first, 2)).then(judged(1), judged(2))
    history = history.then(call_started(1, history.now))
    history = history.then(returned(1).model_copy(update={"untrusted": True}))
    # The call 2 was proposed before the log was read, and begins after it.
    assert history.state.tainted_by == ()
    history = history.then(call_started(2, history.now)).then(returned(2))
    assert tainted_by(history) == (LOG,)


@pytest.mark.parametrize(
    ("tool", "untrusted", "is_tainted"),
    [
        ("git.git_log", True, True),
        ("git.git_log", False, False),
        ("fetch", True, True),
        ("fetch", False, False),
        # Journals of before do not say.
        ("git.git_log", None, True),
        ("fetch", None, False),
    ],
)
def test_the_fact_says_whether_an_output_is_to_be_trusted(
    tool: str, untrusted: bool | None, is_tainted: bool
) -> None:
    history = reads(begun(), 1, tool, untrusted=untrusted)
    assert bool(tainted_by(history)) is is_tainted


def test_what_once_entered_stays() -> None:
    history = reads(begun(), 1, "fetch", untrusted=True)
    history = reads(history, 2, "check_order", untrusted=False)
    assert tainted_by(history) == (Taint(source="tool", name="fetch"),)


def test_a_message_that_was_taken_back_may_have_been_read() -> None:
    history = begun().then(message(BOB, ref="m1"))
    assert tainted_by(history.then(MessageDeleted(ref="m1", by=BOB))) == (BOBS,)


def test_a_summary_is_no_cleaner_than_what_it_is_made_of() -> None:
    history = reads(begun(), 1, "fetch", untrusted=True)
    summed = ConversationSummarised(
        summary=Summary(text="all was read"),
        replies=1,
        asked_at=history.length,
        model="m",
        usage=Usage(),
    )
    assert tainted_by(history.then(summed)) == (Taint(source="tool", name="fetch"),)


def test_what_people_decide_is_their_right_and_taints_nothing() -> None:
    waits = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1))
    assert tainted_by(waits.then(denied(1, "not today"))) == ()
    assert tainted_by(waits.then(guided(1, "half of it"))) == ()


def test_a_message_that_is_used_as_guidance_is_told_as_that_alone() -> None:
    waits = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1))
    said = waits.then(message(BOB, "half of it", ref="m1"))
    used = guided(1, "half of it").model_copy(update={"ref": "m1"})
    assert tainted_by(said.then(used)) == ()
    # What else they said is their message, and what came with it is what it was.
    more = said.then(message(BOB, "and hurry", ref="m2"))
    assert tainted_by(more.then(used)) == (BOBS,)
    with_file = waits.then(message(BOB, "half of it", ref="m1", files=(FILE,)))
    assert tainted_by(with_file.then(used)) == (A_FILE.model_copy(update={"by": BOB}),)
    before = begun().then(message(BOB)).then(replied(1, asked_at=2)).then(judged(1, "ask"))
    before = before.then(asked(1)).then(message(BOB, "half of it", ref="m1"))
    assert tainted_by(before.then(used)) == (BOBS,)


def test_an_answer_of_somebody_else_is_their_message() -> None:
    waits = begun().then(replied(1)).then(judged(1, "ask", is_question=True))
    waits = waits.then(asked(1, kind="question"))
    assert tainted_by(waits.then(answered(1, "ORD-1", ALICE))) == ()
    assert tainted_by(waits.then(answered(1, "ORD-1", BOB))) == (BOBS,)


def finished(history: History) -> History:
    done = ModelReplied(text="done", asked_at=history.length, model="m")
    return history.then(done, RunFinished(answer="done"))


def next_run(history: History) -> History:
    return begun().then(*go_on_from(finished(history).state))


def test_the_next_run_is_tainted_by_what_the_one_before_had_read() -> None:
    history = next_run(reads(begun(), 1, "fetch", untrusted=True))
    assert tainted_by(history) == (Taint(source="tool", name="fetch"),)
    assert tainted_by(next_run(history)) == (Taint(source="tool", name="fetch"),)
    assert tainted_by(next_run(begun())) == ()


def test_of_anothers_run_the_words_of_whoever_asked_for_it_are_anothers() -> None:
    ended = finished(begun().then(message(BOB)))
    (went_on, *_) = go_on_from(ended.state)
    bobs = begun()
    first = bobs.recorded[0].event.model_copy(update={"requester": BOB})
    bobs = History().then(first).then(went_on)
    # Bob's own words of before are his.
    assert tainted_by(bobs) == (Taint(source="message", by=ALICE),)


def test_of_a_conversation_of_before_nobody_knows_what_had_been_read() -> None:
    (went_on, *_) = go_on_from(finished(begun()).state)
    assert isinstance(went_on, SessionContinued)
    old = went_on.model_copy(update={"taints": None})
    assert tainted_by(begun().then(old)) == (Taint(source="past"),)


def test_a_fork_is_tainted_by_what_it_takes_over() -> None:
    history = reads(begun(), 1, "fetch", untrusted=True)
    numbers = count(1)
    _, events = fork(history.recorded, history.length, FRANK, lambda p: f"{p}_n{next(numbers)}")
    forked = begun().then(*events)
    assert tainted_by(forked) == (Taint(source="tool", name="fetch"),)
    # What it proposes anew as well.
    assert forked.state.tainted_by == (Taint(source="tool", name="fetch"),)
    # Whoever forked it asks for it as well.
    assert tainted_by(begun().then(*events).then(message(FRANK))) == tainted_by(forked)


def test_of_a_fork_of_before_what_its_history_holds_tells() -> None:
    history = begun().then(message(ALICE, files=(FILE,)))
    history = reads(history, 1, "git.git_log")
    numbers = count(1)
    _, events = fork(history.recorded, history.length, FRANK, lambda p: f"{p}_n{next(numbers)}")
    old = [
        one.model_copy(update={"taints": None}) if isinstance(one, HistoryTaken) else one
        for one in events
    ]
    assert tainted_by(begun().then(*old)) == (Taint(source="file", name="notes.txt"), LOG)


def test_each_is_kept_once_and_no_more_than_say_enough() -> None:
    files = [GivenFile(name=f"{n}.txt", text="x") for n in range(TAINTS_LIMIT + 5)]
    history = begun()
    for file in files:
        history = history.then(message(ALICE, files=(file,)), message(ALICE, files=(file,)))
    assert len(tainted_by(history)) == TAINTS_LIMIT


def test_in_words() -> None:
    assert taints_in_words(()) == ""
    assert taints_in_words((LOG,)) == "the output of git.git_log"
    told = taints_in_words((LOG, A_FILE), name=lambda who: who[-7:], quote=lambda text: f"“{text}”")
    assert told == "the output of “git.git_log” and the file “notes.txt” from U0ALICE"
    many = (LOG, A_FILE, BOBS, Taint(source="past"), Taint(source="tool", name="fetch"))
    assert taints_in_words(many).endswith(f"a message by {BOB} and 2 more")
