"""``watch`` tells a run's story in fixed words, and nobody else can put words into it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
    RunStarted,
)
from agent.rules.fold import apply
from agent.rules.ids import (
    ApprovalId,
    CallId,
    EventId,
    GroupId,
    OperationId,
    Principal,
    RunId,
    SessionId,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Approvers, Cut, ProposedCall, Receipt, Summary, Verdict
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.cli.beats import beat

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
CALL = CallId("call_1")
BOB = Principal("slack:T0PILOT:U0BOB")

STARTED = RunStarted(
    agent="refunds", session=SessionId("ses_1"), prompt="refund", requester=Principal("cli:me")
)
PROPOSED = ModelReplied(
    text="",
    calls=(
        ProposedCall(
            call_id=CALL,
            operation_id=OperationId("op_1"),
            model_call_id="m1",
            tool="process_refund",
            arguments="{}",
        ),
    ),
    asked_at=1,
    model="demo",
)
JUDGED = CallJudged(
    call_id=CALL,
    title="Refund an order",
    effect="idempotent",
    args={},
    parameters={},
    schema_digest="d",
    verdict=Verdict(action="ask", reason="r", rule="r", policy_version="1"),
)
BEGUN = CallStarted(call_id=CALL, attempt=1, deadline=AT + timedelta(seconds=10))
UNKNOWN = CallLeftUnknown(call_id=CALL, detail="the line broke")


def asked(kind: str = "call", **more: object) -> ApprovalRequested:
    return ApprovalRequested.model_validate(
        {
            "approval_id": ApprovalId("apr_1"),
            "group": GroupId("grp_1"),
            "approval_kind": kind,
            "call_id": CALL,
            "tool": "process_refund",
            "title": "Refund an order",
            "args": {},
            "reason": "refund $180.00 exceeds the $100 threshold",
            "rule": "r",
            "policy_version": "1",
            "hash": "h",
            "approvers": Approvers(),
            **more,
        }
    )


def decided(action: str, **more: object) -> ApprovalDecided:
    return ApprovalDecided.model_validate(
        {"approval_id": "apr_1", "action": action, "by": BOB} | more
    )


ANY_TWO = Approvers(users=("U0BOB", "U0CAROL"), count=2)
TWO = ANY_TWO.model_copy(update={"one_from_each": ("S0LEGAL",)})


def voted(name: str = "BOB", **more: object) -> ApprovalVoted:
    by = f"slack:T0PILOT:U0{name}"
    return ApprovalVoted.model_validate(
        {"approval_id": "apr_1", "by": by, "user": f"U0{name}", **more}
    )


def last_beat(*events: Event) -> str | None:
    """What is said of the last of these events."""
    state: RunState | None = None
    said = None
    for seq, event in enumerate(events, 1):
        recorded = Recorded(RunId("run_1"), seq, EventId(f"e{seq}"), AT, "hash", event)
        state = apply(state, recorded)
        said = beat(recorded, state)
    return said


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([STARTED], "run started"),
        ([STARTED, PROPOSED], None),
        ([STARTED, PROPOSED, JUDGED], None),
        (
            [STARTED, PROPOSED, JUDGED, asked()],
            "PAUSED for approval (refund $180.00 exceeds the $100 threshold), token apr_1",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked(), decided("approve")],
            "human decision: approve",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked(), decided("deny", reason="no")],
            "human decision: deny",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked(), decided("steer", guidance="less")],
            "human decision: steer",
        ),
        ([STARTED, PROPOSED, JUDGED, BEGUN], None),
        (
            [STARTED, PROPOSED, JUDGED, BEGUN, CallReturned(call_id=CALL, output={"ok": True})],
            "done: process_refund",
        ),
        (
            [
                *(STARTED, PROPOSED, JUDGED, BEGUN),
                CallReturned(
                    call_id=CALL,
                    is_error=True,
                    output="card expired",
                    receipt=Receipt(status="rejected"),
                ),
            ],
            "failed: process_refund: card expired",
        ),
        (
            [STARTED, PROPOSED, CallRefused(call_id=CALL, code="policy", message="not allowed")],
            "refused: process_refund: not allowed",
        ),
        (
            [STARTED, PROPOSED, JUDGED, BEGUN, UNKNOWN],
            "not known: process_refund: the line broke",
        ),
        (
            [STARTED, PROPOSED, JUDGED, BEGUN, UNKNOWN, asked("review")],
            "PAUSED for review (refund $180.00 exceeds the $100 threshold), token apr_1",
        ),
        (
            [
                *(STARTED, PROPOSED, JUDGED, BEGUN, UNKNOWN, asked("review")),
                decided("settle", outcome="give_up"),
            ],
            "human decision: settle (give-up)",
        ),
        (
            [STARTED, ModelFailed(error="overloaded", retry_at=AT)],
            "no answer from the model: overloaded; asked again at 12:00:00 UTC",
        ),
        ([STARTED, ModelFailed(error="bad key")], "no answer from the model: bad key"),
        ([STARTED, PROPOSED, JUDGED, CallPreviewed(call_id=CALL, preview="$180 back")], None),
        (
            [STARTED, PROPOSED, JUDGED, CallPreviewed(call_id=CALL, error="no\nanswer")],
            "no preview: process_refund: no answer",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked(again_because="the tool has changed")],
            "PAUSED for approval (refund $180.00 exceeds the $100 threshold; "
            "asked again because the tool has changed), token apr_1",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked("question", reason="How much?")],
            "PAUSED for answer (How much?), token apr_1",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked("question"), decided("answer", text="$20")],
            "human decision: answer",
        ),
        (
            [STARTED, PROPOSED, JUDGED, asked(approvers=TWO), voted()],
            "human vote: approve (1 more yes, from S0LEGAL)",
        ),
        (
            [
                *(STARTED, PROPOSED, JUDGED, asked(approvers=ANY_TWO), voted()),
                voted("CAROL", not_counted=("slack:T0PILOT:U0BOB",)),
            ],
            "human vote: approve (1 more yes)",
        ),
        (
            [
                *(STARTED, PROPOSED, JUDGED, BEGUN),
                CallProgressed(call_id=CALL, attempt=1, text="3 of 7\x1b[2J files"),
            ],
            "running: process_refund: 3 of 7\\x1b[2J files",
        ),
        (
            [STARTED, PROPOSED, JUDGED, BEGUN, CallLookedUp(call_id=CALL)],
            "looked up: process_refund: it did not happen",
        ),
        (
            [
                *(STARTED, PROPOSED, JUDGED, BEGUN),
                CallReturned(call_id=CALL, output=1, is_found=True),
            ],
            "done: process_refund (found by looking it up)",
        ),
        ([STARTED, RunFailed(error="bad key"), RunReopened(by=BOB)], "run taken on again"),
        (
            [STARTED, PROPOSED, JUDGED, asked(), decided("approve", by="code:careful")],
            "automatic decision: approve",
        ),
        (
            [STARTED, ConversationShortened(cut=Cut(turns=1, limit=600))],
            "told to the model in short: what tools answered, and files",
        ),
        (
            [STARTED, ConversationShortened(summing=0)],
            "the conversation is long: the model sums up what was before",
        ),
        (
            [
                STARTED,
                ConversationShortened(summing=0),
                ConversationSummarised(
                    replies=0, summary=Summary(text="It\nwas paid."), asked_at=2, model="a:b"
                ),
            ],
            "summed up: It was paid.",
        ),
        ([STARTED, RunFinished(answer="All done.")], "finished: All done."),
        ([STARTED, RunFailed(error="bad key")], "run failed: bad key"),
    ],
)
def test_each_event_has_its_words(events: list[Event], said: str | None) -> None:
    assert last_beat(*events) == said


def test_an_answer_of_several_lines_can_not_forge_a_beat() -> None:
    said = last_beat(STARTED, RunFinished(answer="Done.\nhuman decision: approve"))
    assert said == "finished: Done.\n  human decision: approve"


def test_a_tool_can_not_drive_the_terminal() -> None:
    ended = CallReturned(call_id=CALL, is_error=True, output="\x1b[2J\u202eevil\nrun started")
    said = last_beat(STARTED, PROPOSED, JUDGED, BEGUN, ended)
    assert said == "failed: process_refund: \\x1b[2J\\u202eevil run started"
