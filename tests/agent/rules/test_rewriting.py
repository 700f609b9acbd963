"""Messages that are edited or deleted: before the model has seen them, while it thinks, and after."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import CorruptJournal, KeyReused, NothingToDo, TooLong
from agent.rules.continuing import go_on_from
from agent.rules.events import Event, ModelFailed, RunFailed, RunFinished
from agent.rules.fold_messages import DELETED
from agent.rules.ids import Principal
from agent.rules.interventions import (
    MessageDeleted,
    MessageEdited,
    RunCancelled,
    StopRequested,
)
from agent.rules.parts import GivenFile, Quoted
from agent.rules.people import delete, edit, may_change, say
from agent.rules.steps import AskModel, DropCalls, Fail, Finish, next_step
from agent.rules.transcript import AssistantMessage, Told, UserMessage, transcript
from agent.rules.words import MESSAGE_LIMIT
from tests.agent.rules.happenings import deleted, edited, said, stop_wanted
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    History,
    begun,
    call_started,
    judged,
    replied,
    waiting,
)

ROOT, REF = "C0/1.0", "C0/1.1"
PROMPT = "refund ORD-3300 180"
FILE = GivenFile(name="order.txt", text="ORD-1")
TOLD = begun(ref=ROOT).then(said("and ORD-1", ref=REF))


def step(history: History) -> object:
    return next_step(history.state, history.now)


def told(history: History) -> list[str]:
    """What the model is told, a cache of before or none."""
    messages = transcript(history.state)
    cached = Told()
    for length in range(1, history.length + 1):
        cached = cached.up_to(history.first(length).state)
    assert cached.messages == messages
    return [one.text for one in messages if isinstance(one, UserMessage | AssistantMessage)]


def test_what_nobody_has_seen_reads_as_it_is_now() -> None:
    history = TOLD.then(*edit(TOLD.state, ALICE, REF, "and ORD-2"))
    assert told(history) == [PROMPT, "and ORD-2"]
    history = TOLD.then(*edit(TOLD.state, ALICE, ROOT, "refund ORD-7 20"))
    assert (history.state.prompt, told(history)) == (
        "refund ORD-7 20",
        ["refund ORD-7 20", "and ORD-1"],
    )


def test_what_nobody_has_seen_is_gone_and_nothing_waits_for_it() -> None:
    history = TOLD.then(replied(text="Done.", asked_at=1))
    assert step(history) == AskModel()
    history = history.then(*delete(history.state, ALICE, REF))
    assert told(history) == [PROMPT, "Done."]
    assert step(history) == Finish("Done.")


@pytest.mark.parametrize(
    ("changed", "ref", "now"),
    [
        (edited(REF), REF, "rather not"),
        (deleted(REF), REF, DELETED),
        (edited(ROOT), ROOT, "rather not"),
        (deleted(ROOT), ROOT, DELETED),
    ],
)
def test_a_reply_that_was_under_way_is_kept_and_never_acted_on(
    changed: MessageEdited | MessageDeleted, ref: str, now: str
) -> None:
    history = TOLD.then(changed)
    calls = history.then(replied(1, asked_at=2))
    assert isinstance(step(calls), DropCalls)
    over = history.then(replied(text="Done.", asked_at=2))
    assert step(over) == AskModel()
    assert told(over)[-2:] == ["Done.", now]
    assert [(one.ref, one.text) for one in over.state.unseen] == [(ref, now)]
    assert step(over.then(replied(text="As you like.", asked_at=4))) == Finish("As you like.")


def test_a_reply_that_never_knew_what_was_deleted_is_acted_on() -> None:
    history = TOLD.then(deleted(REF)).then(replied(text="Done.", asked_at=1))
    assert (step(history), told(history)) == (Finish("Done."), [PROMPT, "Done."])


def test_what_was_deleted_is_not_handed_on_to_the_next_run() -> None:
    history = TOLD.then(deleted(REF)).then(replied(text="Done.", asked_at=2))
    assert [one.text for one in history.state.unseen] == [DELETED]
    assert len(go_on_from(history.then(RunFailed(error="no")).state)) == 1


@pytest.mark.parametrize("changed", [edited(REF), deleted(REF), edited(ROOT), deleted(ROOT)])
def test_a_reply_that_was_asked_for_later_is_acted_on(
    changed: MessageEdited | MessageDeleted,
) -> None:
    history = TOLD.then(changed).then(replied(text="Done.", asked_at=3))
    assert (step(history), history.state.unseen) == (Finish("Done."), ())


def test_what_the_last_reply_saw_otherwise_is_not_forgotten_when_it_is_deleted() -> None:
    history = TOLD.then(edited(REF)).then(replied(text="Done.", asked_at=2))
    history = history.then(*delete(history.state, ALICE, REF))
    assert told(history)[-1] == DELETED
    assert step(history) == AskModel()


def test_the_request_that_the_last_reply_saw_otherwise_is_edited_again() -> None:
    history = begun(ref=ROOT, files=(FILE,)).then(edited(ROOT, "one"))
    history = history.then(replied(text="Done.", asked_at=1))
    history = history.then(*edit(history.state, ALICE, ROOT, "two"))
    *_, request, reply, last = told(history)
    assert (request, reply, last) == ("one", "Done.", "two")
    assert sum("order.txt" in text for text in told(history)) == 1, "what came with it stays"


def test_of_a_request_that_is_deleted_the_model_is_told_nothing_that_it_has_not_seen() -> None:
    history = begun(ref=ROOT).then(edited(ROOT, "and the card number is 4"), said(ref=REF))
    history = history.then(replied(text="Done.", asked_at=1))
    assert told(history)[0] == "and the card number is 4"
    history = history.then(*delete(history.state, ALICE, ROOT))
    assert told(history) == [DELETED, "Done.", "wait", DELETED]
    assert "card number" not in str(go_on_from(history.then(RunFailed(error="no")).state))


@pytest.mark.parametrize(
    ("history", "ref", "by"),
    [
        (TOLD.then(replied(text="Done.", asked_at=2)), REF, ALICE),
        (TOLD.then(replied(text="Done.", asked_at=1)), ROOT, ALICE),
        (TOLD, REF, BOB),
        (TOLD, ROOT, BOB),
        (TOLD, "C0/9.9", ALICE),
        (TOLD.then(deleted(REF)), REF, ALICE),
        (TOLD.then(replied(text="Done.", asked_at=2), RunFinished(answer="Done.")), REF, ALICE),
    ],
)
def test_nothing_is_changed_that_was_seen_or_is_not_theirs(
    history: History, ref: str, by: Principal
) -> None:
    assert edit(history.state, by, ref, "rather not") == ()
    assert delete(history.state, by, ref) == ()
    assert not may_change(history.state, by, ref)


def test_an_edit_is_kept_whole_or_refused_and_once() -> None:
    assert edit(TOLD.state, ALICE, REF, "and ORD-1") == ()
    assert edit(TOLD.state, ALICE, REF, "x" * MESSAGE_LIMIT) != ()
    with pytest.raises(TooLong):
        edit(TOLD.state, ALICE, REF, "x" * (MESSAGE_LIMIT + 1))
    with pytest.raises(NothingToDo):
        edit(TOLD.state, ALICE, REF, " ")


def test_a_run_whose_request_is_taken_back_is_stopped_by_whoever_asked() -> None:
    history = begun(ref=ROOT)
    assert delete(history.state, ALICE, ROOT) == (
        MessageDeleted(ref=ROOT, by=ALICE),
        StopRequested(by=ALICE),
        RunCancelled(),
    )
    for first, last in ((REF, ROOT), (ROOT, REF)):
        again = TOLD.then(deleted(first))
        assert StopRequested(by=ALICE) in delete(again.state, ALICE, last)


def test_a_run_that_was_told_something_else_goes_on_with_that() -> None:
    history = TOLD.then(*delete(TOLD.state, ALICE, ROOT))
    assert told(history) == [DELETED, "and ORD-1"]
    assert step(history) == AskModel()
    other = begun(ref=ROOT).then(said("and ORD-1", BOB))
    assert delete(other.state, ALICE, ROOT) == (MessageDeleted(ref=ROOT, by=ALICE),)


def test_what_is_being_stopped_is_not_stopped_twice() -> None:
    history = begun(ref=ROOT).then(stop_wanted())
    assert delete(history.state, ALICE, ROOT) == (MessageDeleted(ref=ROOT, by=ALICE),)


QUOTES = tuple(
    Quoted(by=BOB, text=text, ref=ref) for text, ref in (("two", "C0/0.1"), ("ten", "C0/0.2"))
)


@pytest.mark.parametrize(
    "history",
    [begun(ref=ROOT, quoted=QUOTES), begun(ref=ROOT).then(said("and?", ref=REF, quoted=QUOTES))],
    ids=["at its beginning", "later"],
)
def test_what_others_said_is_quoted_as_it_is_when_the_model_is_told(history: History) -> None:
    assert (edit(history.state, ALICE, "C0/0.1", "x"), delete(history.state, ALICE, "C0/0.1")) == (
        (),
        (),
    )
    assert edit(history.state, BOB, "C0/0.1", "two") == ()
    changed = history.then(*edit(history.state, BOB, "C0/0.1", "three"))
    changed = changed.then(*delete(changed.state, BOB, "C0/0.2"))
    context = next(text for text in told(changed) if "three" in text)
    assert ("two" in context, "ten" in context) == (False, False)
    assert changed.state.stop is None
    heard = changed.then(replied(text="Done.", asked_at=changed.length))
    assert edit(heard.state, BOB, "C0/0.1", "four") == ()


@pytest.mark.parametrize(
    "history",
    [begun(ref=ROOT, quoted=QUOTES), begun(ref=ROOT).then(said("and?", ref=REF, quoted=QUOTES))],
    ids=["at its beginning", "later"],
)
def test_what_is_said_to_the_run_is_no_longer_quoted_as_what_others_said(history: History) -> None:
    """Messages that come at once are read with what stands before them, and recorded in any order."""
    late = history.then(said("two", ref="C0/0.1"))
    assert told(late)[-1] == "two"
    assert sum("two" in text for text in told(late)) == 1
    assert any("ten" in text for text in told(late))
    replied_to = history.then(replied(text="Done.", asked_at=history.length))
    heard = replied_to.then(said("two", ref="C0/0.1"))
    assert sum("two" in text for text in told(heard)) == 2, "what was heard stays as it was"
    # An older build would quote it all the same.
    events = [say(one.state, BOB, "two", "C0/0.1")[0] for one in (history, replied_to)]
    assert [event.form for event in events] == [6, 3]


@pytest.mark.parametrize("end", [(RunFailed(error="no"),), (stop_wanted(), RunCancelled())])
def test_what_a_run_has_ended_without_having_heard_is_handed_on_as_it_is_now(
    end: tuple[Event, ...],
) -> None:
    ended = TOLD.then(*end)
    changed = ended.then(*edit(ended.state, ALICE, REF, "and ORD-2"))
    changed = changed.then(*edit(changed.state, ALICE, ROOT, "refund ORD-7 20"))
    handed_on = str(go_on_from(changed.state))
    assert ("and ORD-2" in handed_on, "refund ORD-7 20" in handed_on) == (True, True)
    assert not any(text in handed_on for text in (PROMPT, "and ORD-1"))
    gone = changed.then(*delete(changed.state, ALICE, REF))
    gone = gone.then(*delete(gone.state, ALICE, ROOT))
    assert gone.state.ending == ended.state.ending
    assert not any(text in str(go_on_from(gone.state)) for text in ("ORD-2", "ORD-7"))


@pytest.mark.parametrize("changed", [edited(REF), deleted(REF), edited(ROOT), deleted(ROOT)])
def test_the_message_as_it_was_may_be_delivered_again(
    changed: MessageEdited | MessageDeleted,
) -> None:
    texts = {REF: "and ORD-1", ROOT: PROMPT}
    after = TOLD.then(changed).state
    assert say(after, ALICE, texts[changed.ref], changed.ref) == ()
    with pytest.raises(KeyReused):
        say(TOLD.state, ALICE, "other words", changed.ref)


def test_an_approval_is_not_touched() -> None:
    history = waiting().then(said("hm", ref=REF))
    for changed in (edited(REF), deleted(REF)):
        assert history.then(changed).state.open_approvals == history.state.open_approvals


def test_a_call_that_was_begun_is_heard_out() -> None:
    history = begun(ref=ROOT).then(replied(1)).then(judged(1))
    history = history.then(said(ref=REF), call_started(1, history.now))
    assert not isinstance(step(history.then(edited(REF))), DropCalls)


@pytest.mark.parametrize("changed", [edited(ROOT), edited(REF)])
def test_the_model_that_failed_is_asked_with_the_new_words(changed: MessageEdited) -> None:
    failed = TOLD.then(ModelFailed(error="no")).then(ModelFailed(error="no"))
    assert step(failed) == Fail("no")
    assert step(failed.then(changed)) == AskModel()


def test_what_came_with_a_message_stays_with_it_until_it_is_deleted() -> None:
    quote = Quoted(by=BOB, text="mine too")
    history = begun(ref=ROOT).then(said(ref=REF, quoted=(quote,), files=(FILE,)))
    (after,) = history.then(edited(REF)).state.unseen
    assert (after.text, after.quoted, after.files) == ("rather not", (quote,), (FILE,))
    assert after.at == history.now + timedelta(seconds=1)
    assert "mine too" not in str(told(history.then(deleted(REF))))
    root = begun(ref=ROOT, files=(FILE,)).then(said()).then(deleted(ROOT))
    assert "order.txt" not in str(told(root))


@pytest.mark.parametrize(
    "changed", [edited("C0/9.9"), deleted("C0/9.9"), edited(REF), deleted(REF)]
)
def test_a_journal_that_changes_what_was_seen_is_corrupt(
    changed: MessageEdited | MessageDeleted,
) -> None:
    history = TOLD.then(replied(text="Done.", asked_at=2)).then(changed)
    with pytest.raises(CorruptJournal, match="no message that could still be changed"):
        _ = history.state
