"""Old and new builds side by side: what an older one would overlook is written so that it leaves it alone,
and everything else as it always was."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from agent.errors import UnknownEvent
from agent.rules import recorded
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallJudged,
    CallRefused,
    CallStarted,
    Event,
    ModelFailed,
)
from agent.rules.ids import CallId, GrantId, OperationId, RunId
from agent.rules.interventions import (
    BudgetReached,
    HistoryTaken,
    RunCancelled,
    SessionContinued,
    TakenCall,
    TakenTurn,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import (
    Approvers,
    Cut,
    Delivery,
    GivenFile,
    LimitUse,
    Patience,
    ProposedCall,
    ProviderState,
    Quoted,
    Summary,
    Usage,
    Words,
)
from agent.rules.recorded import dump_event, load_event
from agent.rules.reservations import Reservation
from tests.agent.rules.happenings import (
    LEGAL,
    asked_again,
    deleted,
    edited,
    escalated,
    expired,
    held,
    reminded,
    resumed,
    said,
    stop_wanted,
)
from tests.agent.rules.histories import (
    BEGAN,
    BOB,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    judged,
    looked_up,
    progressed,
    replied,
    voted,
)

CALL = CallId("call_1")
TWO = Approvers(users=("U0BOB", "U0FRANK"), count=2)
EACH = Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))


def of(event: Event, **changes: object) -> Event:
    return event.model_copy(update=changes)


def judged_by(**verdict: object) -> Event:
    event = judged(1)
    assert isinstance(event, CallJudged)
    return of(event, verdict=event.verdict.model_copy(update=verdict))


#: What came with the second form.
NEW: dict[str, Event] = {
    "several must say yes": of(asked(1), approvers=TWO),
    "one from each group": of(asked(1), approvers=EACH),
    "a rule that asks several": judged_by(approvers=TWO),
    "a yes that is good for an hour": judged_by(valid_for=timedelta(hours=1)),
    "a preview first": of(judged(1), can_preview=True),
    "a question": of(judged(1), is_question=True),
    "a question to people": of(asked(1), approval_kind="question"),
    "an answer": of(denied(1), action="answer", text="yes"),
    "an answer by a message": of(denied(1), action="answer", text="yes", ref="slack:T1:C1:1.2"),
    "a vote": voted(1),
    "a look-up": looked_up(1),
    "a stricter effect": of(call_started(1, BEGAN), effect="once"),
    "asked again": of(asked(1), again_because="the tool has changed"),
    "denied before": CallRefused(call_id=CallId("call_1"), code="denied_before", message="no"),
}
A_LIMIT = Reservation(limit="refunds a day", amount=Decimal(180), max=Decimal(500))
#: What came with the third.
NEWEST: dict[str, Event] = {
    "a rule that waits so long": judged_by(patience=Patience(expires=timedelta(hours=1))),
    "a rule of which silence stops the run": judged_by(patience=Patience(on_expiry="stop")),
    "a grant": judged_by(grant=GrantId("grt_1")),
    "a question that closes": of(asked(1), patience=Patience(expires=timedelta(hours=1))),
    "a question of which people are reminded": of(
        asked(1), patience=Patience(remind=timedelta(hours=1))
    ),
    "a question that others are asked as well": of(asked(1), patience=Patience(escalate=(LEGAL,))),
    "a question about a budget": of(asked(1), approval_kind="budget", call_id=None),
    "dropped for a message": CallRefused(call_id=CALL, code="newer_message", message="no"),
    "a message": said(),
    "a hold": held(),
    "a resume": resumed(),
    "a stop": stop_wanted(),
    "the end of a stop": RunCancelled(),
    "a silence": expired(1),
    "a reminder": reminded(1),
    "an escalation": escalated(1),
    "asked once more": asked_again(1),
    "a budget": BudgetReached(budget="tokens", used="2", limit="1"),
    "a history": HistoryTaken(of_run=RunId("run_0"), up_to=1),
    "a conversation that goes on": SessionContinued(of_run=RunId("run_0")),
    "a start that reserves": of(call_started(1, BEGAN), reserves=(A_LIMIT,)),
    "a start under a grant": of(call_started(1, BEGAN), grant=GrantId("grt_1")),
    "a yes with a grant": of(approved(1), grant=GrantId("grt_1")),
}
STARTED = begun().recorded[0].event
ELSEWHERE = Delivery(card="C0OPS", notify="none")
#: What came with the fourth.
FOURTH: dict[str, Event] = {
    "a rule that asks elsewhere": judged_by(delivery=ELSEWHERE),
    "a question elsewhere": of(asked(1), delivery=ELSEWHERE),
}
QUOTED = Quoted(by=BOB, text="mine too")
EDITED = Quoted(by=BOB, text="mine too", as_of=BEGAN)
PROPOSED = ProposedCall(
    call_id=CALL,
    operation_id=OperationId("op_1"),
    model_call_id="m1",
    tool="pay",
    arguments="{}",
)
FILE = GivenFile(name="order.txt", text="ORD-1")
#: What came with the fifth.
FIFTH: dict[str, Event] = {
    "a start that quotes": of(STARTED, quoted=(QUOTED,)),
    "a start with a file": of(STARTED, files=(FILE,)),
    "a message that quotes": said(quoted=(QUOTED,)),
    "a message with a file": said(files=(FILE,)),
    "a history in which a file was shared": HistoryTaken(
        of_run=RunId("run_0"),
        up_to=1,
        turns=(TakenTurn(words=(Words(text="look", files=(FILE,)),)),),
    ),
}
#: What came with the sixth, and is told by the run's form alone.
IN_SHORT: dict[str, Event] = {
    "a conversation that is told in short": ConversationShortened(cut=Cut(turns=2, limit=600)),
    "a summary": ConversationSummarised(
        replies=1, summary=Summary(text="before"), asked_at=3, model="a:b"
    ),
    "a history with a summary": HistoryTaken(
        of_run=RunId("run_0"), up_to=9, summary=Summary(text="before"), summarised=1
    ),
    "a conversation that goes on from a summary": SessionContinued(
        of_run=RunId("run_0"), summary=Summary(text="before")
    ),
}
USE = LimitUse(key="k", used=Decimal(1), amount=Decimal(1), max=Decimal(2))
#: What came with the sixth.
SIXTH: dict[str, Event] = {
    "a reply of which nobody knows what it cost": of(replied(1), usage=Usage(is_priced=False)),
    "how far a call is": progressed(1),
    "a request that was too long": ModelFailed(error="too long", too_long=9_000),
    "what a failure used": ModelFailed(error="cut off", usage=Usage(output_tokens=7)),
    "a message that is handed on": said(is_handed_on=True),
    "a message that was quoted": said(was_quoted=True),
    "an edit": edited("1"),
    "an edit of a moment": edited("1", as_of=BEGAN),
    "a start with what was edited before": of(STARTED, as_of=BEGAN),
    "a start that quotes what was edited": of(STARTED, quoted=(EDITED,)),
    "a message that was edited before": said(as_of=BEGAN),
    "a message that quotes what was edited": said(quoted=(EDITED,)),
    "a deletion": deleted("1"),
    "guidance by a message": of(guided(1, "60"), ref="slack:T1:C1:1.2"),
    "a start of a dry run": of(STARTED, dry_run=True),
    "judged in a dry run": judged_by(dry_run=True),
    "judged by a limit": judged_by(limit=USE),
    "asked in a dry run": of(asked(1), dry_run=True),
    "not carried out": CallRefused(call_id=CALL, code="dry_run", message="no"),
}
OLD: dict[str, Event] = {
    "a reply with what is to be had back": of(
        replied(1), provider=ProviderState(lib="lib 1", model="a:b", message={})
    ),
    "a failure": ModelFailed(error="away"),
    "a start": of(STARTED, ref="slack:T1:C1:1.2"),
    "judged": judged(1),
    "asked": asked(1),
    "denied": denied(1),
    "started": call_started(1, BEGAN),
    "refused": CallRefused(call_id=CallId("call_1"), code="policy", message="no"),
}


@pytest.mark.parametrize("what", NEW)
def test_what_an_older_build_would_overlook_is_of_the_newer_form(what: str) -> None:
    assert NEW[what].form == 2


@pytest.mark.parametrize("what", NEWEST)
def test_what_both_older_builds_would_overlook_is_of_the_newest_form(what: str) -> None:
    event = NEWEST[what]
    assert event.form == 3
    # A kind that they do not know says so by itself; of others the version does.
    assert dump_event(event)["version"] == (1 if event.UNVERSIONED > 3 else min(3, event.NEWEST))
    assert load_event(dump_event(event)) == event


def changed_with(form: int, events: dict[str, Event]) -> list[str]:
    """Those of a kind that older builds know."""
    return [what for what, event in events.items() if event.NEWEST >= form > event.UNVERSIONED]


@pytest.mark.parametrize("what", changed_with(3, NEWEST))
def test_an_older_build_does_not_know_the_newest_version(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = dump_event(NEWEST[what])
    monkeypatch.setitem(recorded._VERSIONS, NEWEST[what].kind, 2)
    with pytest.raises(UnknownEvent):
        load_event(written)


@pytest.mark.parametrize("what", [w for w, e in NEW.items() if e.NEWEST >= 3])
def test_what_the_build_before_knows_is_written_so_that_it_does(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = dump_event(NEW[what])
    assert written["version"] == 2
    monkeypatch.setitem(recorded._VERSIONS, NEW[what].kind, 2)
    assert load_event(written) == NEW[what]


@pytest.mark.parametrize("what", FOURTH)
def test_a_card_that_goes_elsewhere_is_left_alone_by_who_would_put_it_in_the_thread(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = FOURTH[what]
    written = dump_event(event)
    assert (event.form, written["version"]) == (4, 4)
    assert load_event(written) == event
    monkeypatch.setitem(recorded._VERSIONS, event.kind, 3)
    with pytest.raises(UnknownEvent):
        load_event(written)


@pytest.mark.parametrize("what", FIFTH)
def test_what_an_older_build_would_not_tell_the_model_is_of_the_fifth_form(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = FIFTH[what]
    assert event.form == 5
    # And a build of that form knows it as it is written.
    is_start = event.kind == "run_started"
    monkeypatch.setitem(recorded._VERSIONS, event.kind, 5 if is_start else 1)
    assert load_event(dump_event(event)) == event


@pytest.mark.parametrize("what", IN_SHORT)
def test_what_an_older_build_would_tell_its_model_in_full_is_of_the_sixth_form(what: str) -> None:
    event = IN_SHORT[what]
    assert event.form == 6
    assert load_event(dump_event(event)) == event


@pytest.mark.parametrize("what", SIXTH)
def test_what_an_older_build_would_take_for_something_else_is_left_alone_by_it(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = SIXTH[what]
    written = dump_event(event)
    assert (event.form, written["version"]) == (6, 6)
    assert load_event(written) == event
    monkeypatch.setitem(recorded._VERSIONS, event.kind, 5)
    with pytest.raises(UnknownEvent):
        load_event(written)


def test_a_history_in_which_nothing_was_carried_out_is_of_the_sixth() -> None:
    turns = (TakenTurn(calls=(TakenCall(proposed=PROPOSED, outcome="dry_run"),)),)
    event = HistoryTaken(of_run=RunId("run_0"), up_to=1, turns=turns)
    assert event.form == 6
    assert load_event(dump_event(event)) == event


@pytest.mark.parametrize("what", OLD)
def test_what_says_nothing_new_is_written_as_it_always_was(what: str) -> None:
    assert OLD[what].form == 1
    assert dump_event(OLD[what])["version"] == 1


@pytest.mark.parametrize("what", [w for w, e in NEW.items() if e.NEWEST >= 2])
def test_an_older_build_does_not_know_the_newer_version(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = dump_event(NEW[what])
    assert load_event(written) == NEW[what]
    monkeypatch.setitem(recorded._VERSIONS, NEW[what].kind, 1)
    with pytest.raises(UnknownEvent):
        load_event(written)


def test_the_kinds_that_changed_are_these() -> None:
    changed = {CallJudged, CallRefused, ApprovalRequested, ApprovalDecided, CallStarted}
    assert {type(event) for event in NEW.values() if event.NEWEST > 1} == changed
    assert {type(NEWEST[what]) for what in changed_with(3, NEWEST)} == changed
