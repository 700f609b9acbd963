"""Histories that an engine, people and time could make, for Hypothesis.

``legal_histories`` does what an engine does, without an engine: it obeys ``next_step``, puts in what
people decide through ``decide``, lets time pass, and forgets now and then what is in flight, as a
crash does. Its choices are Hypothesis's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import TypeVar, assert_never

from hypothesis import strategies as st
from pydantic import JsonValue

from agent.errors import DecisionRefused
from agent.rules.decisions import Approve, Decision, Deny, Settle, Steer, decide
from agent.rules.events import (
    ApprovalKind,
    ApprovalRequested,
    CallLeftUnknown,
    CallRefused,
    CallReturned,
    CallStarted,
    Effect,
    Event,
    ModelFailed,
    ModelReplied,
    Receipt,
    RunFailed,
    RunFinished,
)
from agent.rules.ids import ApprovalId, CallId
from agent.rules.judgement import has_consent
from agent.rules.state import Approval, Call
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Done,
    Fail,
    Finish,
    JudgeCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    Suspend,
    next_step,
)
from tests.agent.rules.histories import (
    AS_BOB,
    REFUND,
    SECOND,
    TERM,
    History,
    asked,
    begun,
    proposed_call,
    replied,
)
from tests.agent.rules.judges import RefundJudge

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

EFFECTS: tuple[Effect, ...] = ("read", "idempotent", "once")
JUDGES = (RefundJudge(), RefundJudge(asks_above=500), RefundJudge(asks_above=20))
#: For each kind of approval; the last is of the wrong kind, and is refused.
DECISIONS: dict[ApprovalKind, tuple[Decision, ...]] = {
    "call": (
        Approve(),
        Approve("fine"),
        Deny(),
        Deny("too much"),
        Steer({"amount": 90}),
        Steer({"amount": 450}),
        Steer({"amount": 5_000}),
        Steer({"amount": "abc"}),
        Steer(guidance="ask the customer first"),
        Settle("check"),
    ),
    "review": (
        Settle("happened"),
        Settle("not_happened"),
        Settle("check"),
        Settle("give_up"),
        Approve(),
    ),
}
AMOUNTS = st.sampled_from([10, 90, 180, 600, 5_000])
#: Also what JSON has of its own: non-ASCII, exponents, nothing at all.
OUTPUTS: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@st.composite
def legal_histories(draw: st.DrawFn) -> History:
    """A run from its start on, to its end or to wherever it was looked at."""
    driver = _Driver(draw)
    for _ in range(draw(st.integers(0, 30))):
        driver.advance()
    return driver.history


@dataclass(slots=True)
class _Driver:
    """A history in the making, and what an engine would hold in memory."""

    draw: st.DrawFn
    history: History = field(default_factory=begun)
    in_flight: set[CallId] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    #: Time that passed without an event.
    idle: timedelta = timedelta()

    @property
    def now(self) -> datetime:
        return self.history.now + self.idle

    def advance(self) -> None:
        state = self.history.state
        if self.in_flight and self.draw(st.integers(0, 9)) == 0:
            self.in_flight.clear()
        decides = bool(state.open_approvals) and self.draw(st.booleans())
        if decides:
            self._add(*self._decide(self.draw(st.sampled_from(state.open_approvals))))
            return
        self._add(*self._obey(next_step(state, self.now, self.in_flight)))

    def _add(self, *events: Event) -> None:
        if events:
            self.history = self.history.then(*events, after=self.idle + SECOND)
            self.idle = timedelta()

    def _decide(self, approval: Approval) -> tuple[Event, ...]:
        try:
            return decide(
                self.history.state,
                approval.id,
                self.draw(st.sampled_from(DECISIONS[approval.kind])),
                AS_BOB,
                now=self.now,
                judge=self._judge(),
                next_approval_id=ApprovalId(f"apr_{next(self.numbers)}"),
            )
        except DecisionRefused:
            return ()

    def _judge(self, effect: Effect | None = None) -> RefundJudge:
        """The policy, which may have changed since it was last asked."""
        chosen = self.draw(st.sampled_from(EFFECTS)) if effect is None else effect
        return replace(self.draw(st.sampled_from(JUDGES)), effect=chosen)

    def _obey(self, step: Step) -> tuple[Event, ...]:
        calls = self.history.state.calls
        match step:
            case Done():
                return ()
            case Finish(answer=answer):
                return (RunFinished(answer=answer),)
            case Fail(error=error):
                return (RunFailed(error=error),)
            case AskModel():
                return (self._model(),)
            case JudgeCalls(call_ids=call_ids):
                return tuple(self._judged(calls[call_id]) for call_id in call_ids)
            case RequestApprovals(call_ids=call_ids):
                return tuple(self._asked(calls[call_id]) for call_id in call_ids)
            case RequestReview(call_id=call_id):
                return (self._asked(calls[call_id], is_review=True),)
            case StartCalls(call_ids=call_ids):
                return tuple(self._start(calls[call_id]) for call_id in call_ids)
            case RecoverCall(call_id=call_id):
                return (self._recovered(calls[call_id]),)
            case AwaitCalls():
                return self._landed(calls[self.draw(st.sampled_from(sorted(self.in_flight)))])
            case Suspend(until=until):
                self.idle += timedelta(hours=1) if until is None else until - self.now
                return ()
            case _:
                assert_never(step)

    def _model(self) -> ModelReplied | ModelFailed:
        kind = self.draw(
            st.sampled_from(["calls", "calls", "calls", "text", "empty", "later", "never"])
        )
        if kind == "later":
            return ModelFailed(error="busy", retry_at=self.now + 30 * SECOND)
        if kind == "never":
            return ModelFailed(error="no such model")
        if kind != "calls":
            return replied(text="Done." if kind == "text" else " ", asked_at=self.history.length)
        amounts = self.draw(st.lists(AMOUNTS, min_size=1, max_size=3))
        calls = (
            proposed_call(next(self.numbers), args={**REFUND, "amount": amount})
            for amount in amounts
        )
        return replied(*calls, text=self.draw(st.text(max_size=5)), asked_at=self.history.length)

    def _judged(self, call: Call) -> Event:
        if self.draw(st.integers(0, 5)) == 0:
            return CallRefused(call_id=call.id, code="malformed", message="not JSON")
        amount = int(call.proposed.arguments.rpartition(":")[2].rstrip("}"))
        judgement = self._judge()(call.tool, {**REFUND, "amount": amount})
        if judgement.verdict.action == "deny":
            return CallRefused(call_id=call.id, code="policy", message=judgement.verdict.reason)
        return judgement.of(call.id)

    def _asked(self, call: Call, *, is_review: bool = False) -> ApprovalRequested:
        question = asked(
            int(call.id.removeprefix("call_")),
            approval=next(self.numbers),
            kind="review" if is_review else "call",
            args=call.args,
        )
        return question.model_copy(update={"supersedes": call.approval_id})

    def _start(self, call: Call) -> Event:
        judgement = self._judge(call.effect)(call.tool, call.args)
        if judgement.verdict.action == "deny":
            return CallRefused(call_id=call.id, code="policy", message="not any more")
        consents = has_consent(self.history.state, call, judgement)
        if judgement.verdict.action == "ask" and not consents:
            return judgement.of(call.id)
        return self._take_off(call)

    def _take_off(self, call: Call) -> CallStarted:
        self.in_flight.add(call.id)
        return CallStarted(
            call_id=call.id, attempt=call.attempts + 1, deadline=self.now + SECOND + TERM
        )

    def _recovered(self, call: Call) -> Event:
        if call.effect != "once":
            return self._take_off(call)
        found = self.draw(st.sampled_from(["committed", "nothing", "unknown"]))
        if found == "nothing":
            return self._take_off(call)
        if found == "unknown":
            return CallLeftUnknown(call_id=call.id, detail="nobody could say")
        receipt = Receipt(status="committed", external_id="re_1")
        return CallReturned(call_id=call.id, output="found", receipt=receipt, is_found=True)

    def _landed(self, call: Call) -> tuple[Event, ...]:
        """It returns, or is interrupted, which leaves no event."""
        self.in_flight.discard(call.id)
        end = self.draw(st.sampled_from(["returned", "failed", "unknown", "interrupted"]))
        if end == "interrupted":
            return ()
        if end == "unknown" and call.effect == "once":
            return (CallLeftUnknown(call_id=call.id, detail="it did not answer"),)
        return (CallReturned(call_id=call.id, output=self.draw(OUTPUTS), is_error=end == "failed"),)
