"""What people want of a run: what follows, what is so already, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.errors import (
    AlreadyDecided,
    ApprovalCancelled,
    InvalidArgs,
    KeyReused,
    NotAllowed,
    NotFound,
    NothingToDo,
    PilothouseError,
    RunEnded,
    StillOpen,
    Superseded,
    TooLong,
)
from agent.rules.decisions import Approve, Decider, Settle
from agent.rules.events import Event, RunFailed, RunFinished
from agent.rules.ids import ApprovalId
from agent.rules.interventions import (
    ApprovalAskedAgain,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.parts import Patience
from agent.rules.people import ask_again, hold, resume, say, stop
from agent.rules.state import RunState
from agent.rules.words import MESSAGE_LIMIT, WORDS_LIMIT
from tests.agent.rules.deciding import A1, A2, take
from tests.agent.rules.happenings import (
    HOUR,
    LEGAL,
    asked_again,
    escalated,
    expired,
    held,
    out_of_calls,
    resumed,
    said,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import (
    ALICE,
    AS_ALICE,
    AS_BOB,
    AS_CAROL,
    BOB,
    History,
    approved,
    asked,
    begun,
    denied,
    in_review,
    left_unknown,
    started,
    waiting,
)

ENDED = [
    (begun().then(RunFinished(answer="Done.")), "finished"),
    (begun().then(RunFailed(error="no")), "failed"),
    (begun().then(stop_wanted(), RunCancelled()), "cancelled"),
]
STOPPING = (started().then(stop_wanted()), "being stopped")
WISHES: dict[str, Callable[[RunState], tuple[Event, ...]]] = {
    "say": lambda state: say(state, ALICE, "wait"),
    "hold": lambda state: hold(state, ALICE),
    "resume": lambda state: resume(state, ALICE),
    "stop": lambda state: stop(state, ALICE),
}


def test_what_is_said_is_kept_as_it_was_said() -> None:
    assert say(begun().state, ALICE, " and ORD-1 ", "C0/1.2") == (
        MessageReceived(by=ALICE, text=" and ORD-1 ", ref="C0/1.2"),
    )


def test_the_same_message_again_is_the_same_message() -> None:
    state = begun().then(said(ref="1")).state
    assert say(state, ALICE, "wait", "1") == ()
    assert say(state, ALICE, "wait", "2") != ()
    assert say(state, ALICE, "wait") != ()


def test_the_same_message_again_is_no_fault_after_the_end() -> None:
    state = begun().then(said(ref="1")).then(RunFinished(answer="Done.")).state
    assert say(state, ALICE, "wait", "1") == ()


def test_nothing_but_blanks_is_nothing_said() -> None:
    with pytest.raises(NothingToDo):
        say(begun().state, ALICE, " \n ")


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize(("history", "status"), ENDED)
def test_of_an_ended_run_nothing_can_be_wanted(wish: str, history: History, status: str) -> None:
    with pytest.raises(RunEnded) as refused:
        WISHES[wish](history.state)
    assert (refused.value.run_id, refused.value.status) == ("run_1", status)


@pytest.mark.parametrize("wish", ["say", "hold", "resume"])
def test_of_a_run_that_is_being_stopped_nothing_else_can_be_wanted(wish: str) -> None:
    history, status = STOPPING
    with pytest.raises(RunEnded, match=f"Nothing was done: run_1 is {status}."):
        WISHES[wish](history.state)


def test_a_hold_says_who_and_why() -> None:
    assert hold(begun().state, BOB, " lunch ") == (RunHeld(by=BOB, reason="lunch"),)
    assert hold(begun().state, BOB, "  ") == (RunHeld(by=BOB),)
    assert hold(begun().state, BOB) == (RunHeld(by=BOB),)
    assert hold(begun().state, BOB, "x" * WORDS_LIMIT) == (
        RunHeld(by=BOB, reason="x" * WORDS_LIMIT),
    )


@pytest.mark.parametrize("wish", [hold, stop])
def test_a_reason_is_kept_whole_or_refused(wish: Callable[..., object]) -> None:
    with pytest.raises(TooLong, match="at most 10,000"):
        wish(begun().state, BOB, "x" * (WORDS_LIMIT + 1))


def test_a_message_is_heard_whole_or_refused() -> None:
    (message,) = say(begun().state, BOB, "x" * MESSAGE_LIMIT)
    assert isinstance(message, MessageReceived)
    assert len(message.text) == MESSAGE_LIMIT
    with pytest.raises(TooLong, match="at most 40,000"):
        say(begun().state, BOB, "x" * (MESSAGE_LIMIT + 1))


def test_the_same_place_with_other_words_is_refused() -> None:
    state = begun().then(said("wait", BOB, "ts-1")).state
    assert say(state, BOB, "wait", "ts-1") == ()
    with pytest.raises(KeyReused):
        say(state, BOB, "go", "ts-1")


def test_what_is_held_need_not_be_held_and_what_goes_on_need_not_be_resumed() -> None:
    history = begun().then(held())
    assert hold(history.state, ALICE) == ()
    assert resume(history.state, ALICE) == (RunResumed(by=ALICE),)
    assert resume(history.then(resumed()).state, ALICE) == ()


def test_a_run_of_which_nothing_has_begun_is_stopped_at_once() -> None:
    for history in (begun(), waiting(), begun().then(held()), in_review()):
        assert stop(history.state, BOB, " enough ") == (
            StopRequested(by=BOB, reason="enough"),
            RunCancelled(),
        )


def test_a_run_of_which_something_has_begun_is_heard_out_first() -> None:
    for history in (started(), started("read"), started("once").then(left_unknown(1))):
        assert stop(history.state, BOB) == (StopRequested(by=BOB),)


def test_one_stop_is_enough() -> None:
    history, _ = STOPPING
    assert stop(history.state, ALICE) == ()


def test_what_nobody_decided_is_asked_again_by_whoever_might_or_asked_for_the_run() -> None:
    history = waiting().then(expired(1))
    for decider in (AS_BOB, AS_ALICE):
        assert ask_again(history.state, A1, decider) == (
            ApprovalAskedAgain(approval_id=A1, by=decider.principal),
        )
    with pytest.raises(NotAllowed, match="you are not among those who may decide this") as refused:
        ask_again(history.state, A1, AS_CAROL)
    assert refused.value.approval_id == A1


def test_whoever_was_asked_as_well_may_ask_again() -> None:
    grace = Decider(AS_CAROL.principal, user="U0GRACE", groups=frozenset({"S0LEGAL"}))
    history = waits(Patience(expires=2 * HOUR, escalate=(LEGAL,)))
    with pytest.raises(NotAllowed):
        ask_again(history.then(expired(1)).state, A1, grace)
    assert ask_again(history.then(escalated(1)).then(expired(1)).state, A1, grace)


@pytest.mark.parametrize(
    ("history", "approval", "error"),
    [
        (begun(), A1, NotFound),
        (waiting(), A1, StillOpen),
        (waiting().then(approved(1)), A1, AlreadyDecided),
        (waiting().then(denied(1)), A1, AlreadyDecided),
        (waiting().then(expired(1)).then(asked(1, approval=2, supersedes=1)), A1, Superseded),
        (waiting().then(stop_wanted()), A1, ApprovalCancelled),
        (waiting().then(expired(1)).then(stop_wanted()), A1, RunEnded),
        (waiting().then(expired(1)).then(RunFailed(error="no")), A1, RunEnded),
    ],
)
def test_only_what_nobody_decided_is_asked_again(
    history: History, approval: ApprovalId, error: type[PilothouseError]
) -> None:
    with pytest.raises(error) as refused:
        ask_again(history.state, approval, AS_BOB)
    # Each says what it is about.
    about = "run_1" if error is RunEnded else approval
    assert about in vars(refused.value).values()
    if isinstance(refused.value, NotFound):
        assert refused.value.what == "approval"


def test_the_loser_learns_who_decided_and_when_and_what_took_its_place() -> None:
    history = waiting().then(approved(1))
    with pytest.raises(AlreadyDecided) as decided:
        ask_again(history.state, A1, AS_BOB)
    assert (decided.value.by, decided.value.at) == (BOB, history.now)
    assert decided.value.action == "approved"
    with pytest.raises(Superseded) as superseded:
        ask_again(
            waiting().then(expired(1)).then(asked(1, approval=2, supersedes=1)).state, A1, AS_BOB
        )
    assert superseded.value.superseded_by == A2


def test_what_is_already_to_be_asked_again_is_not_asked_twice() -> None:
    """Two people press Ask again at the same time: one question follows."""
    history = waiting().then(expired(1)).then(asked_again(1))
    assert ask_again(history.state, A1, AS_BOB) == ()


def test_a_call_that_nobody_decided_in_time_and_that_ended_so_is_not_asked_again() -> None:
    history = waiting().then(expired(1, "deny"))
    with pytest.raises(ApprovalCancelled) as refused:
        ask_again(history.state, A1, AS_BOB)
    assert refused.value.approval_id == A1


def test_a_budget_is_asked_again_as_a_call_is() -> None:
    history = out_of_calls().then(expired(1))
    assert ask_again(history.state, A1, AS_CAROL) != ()
    assert ask_again(history.then(asked_again(1)).state, A1, AS_CAROL) == ()


def test_once_the_run_is_to_be_stopped_nothing_is_run_again() -> None:
    """A review outlives the stop, but it starts nothing."""
    history = in_review().then(stop_wanted())
    with pytest.raises(InvalidArgs) as refused:
        take(history, Settle("not_happened"), approval=A2)
    assert refused.value.errors == {
        "outcome": "Nothing of this run is run any more; say that it happened, or give up."
    }
    assert take(history, Settle("happened"), approval=A2)


def test_once_the_run_is_to_be_stopped_nothing_is_approved() -> None:
    history = waiting().then(stop_wanted())
    with pytest.raises(ApprovalCancelled):
        take(history, Approve())
