"""Histories that an engine, people and time could make, for Hypothesis.

``legal_histories`` does what an engine does, without an engine: it obeys ``next_step``, puts in what
people decide through ``decide``, lets time pass, and forgets now and then what is in flight, as a
crash does. Its choices are Hypothesis's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import assert_never

from hypothesis import strategies as st

from agent.errors import DecisionRefused
from agent.rules.consent import DENIALS_LIMIT, denials_of, why_again
from agent.rules.decisions import Decider, decide
from agent.rules.events import (
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
from agent.rules.ids import ApprovalId, CallId, Principal
from agent.rules.judgement import Judgement
from agent.rules.state import Approval, Call
from agent.rules.steering import carried_vote
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Done,
    Fail,
    Finish,
    JudgeCalls,
    PreviewCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    Suspend,
    next_step,
)
from tests.agent.rules.histories import (
    REFUND,
    SECOND,
    TERM,
    History,
    asked,
    begun,
    judged,
    looked_up,
    previewed,
    proposed_call,
    reopened,
    replied,
)
from tests.agent.rules.judges import RefundJudge
from tests.agent.rules.legal_choices import (
    AMOUNTS,
    DECIDERS,
    DECISIONS,
    EFFECTS,
    JUDGES,
    OUTPUTS,
    PREVIEWS,
    QUESTION,
)


@st.composite
def legal_histories(draw: st.DrawFn) -> History:
    """A run from its start on, to its end or to wherever it was looked at."""
    driver = _Driver(draw, draw(st.sampled_from(JUDGES)))
    for _ in range(draw(st.integers(0, 35))):
        driver.advance()
    return driver.history


@dataclass(slots=True)
class _Driver:
    """A history in the making, and what an engine would hold in memory."""

    draw: st.DrawFn
    policy: RefundJudge
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
        if self.in_flight and self._seldom(10):
            self.in_flight.clear()
        decides = bool(state.open_approvals) and self.draw(st.booleans())
        if decides:
            self._add(*self._decide(self.draw(st.sampled_from(state.open_approvals))))
        elif state.ending == "failed" and self.draw(st.booleans()):
            self._add(reopened())
        elif not state.is_ended and self._seldom(30):
            self._add(RunFailed(error="it was tried too often"))
        elif late := [call for call in state.calls.values() if self._can_be_late(call)]:
            self._add(self._returned(self.draw(st.sampled_from(late))))
        else:
            self._add(*self._obey(next_step(state, self.now, self.in_flight)))

    def _seldom(self, times: int) -> bool:
        return self.draw(st.integers(1, times)) == times

    def _can_be_late(self, call: Call) -> bool:
        """Its first answer was given up, and now it is here."""
        was_given_up = call.attempts > 0 and call.status != "started"
        return was_given_up and self._seldom(10)

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
                self.draw(st.sampled_from(DECIDERS)),
                now=self.now,
                judge=self._judge(),
                next_approval_id=ApprovalId(f"apr_{next(self.numbers)}"),
                voters=self._voters(approval),
            )
        except DecisionRefused:
            return ()

    def _voters(self, approval: Approval) -> dict[Principal, Decider | None] | None:
        """Those who voted, as they are found now: as they were, or not at all."""
        if self.draw(st.booleans()):
            return None
        known = {one.principal: one for one in DECIDERS}
        voters = [vote.voted.by for vote in approval.votes]
        return {by: None if self._seldom(4) else known[by] for by in voters}

    def _judge(self, effect: Effect | None = None) -> RefundJudge:
        """The policy, which may have changed since it was last asked."""
        if self._seldom(8):
            self.policy = self.draw(st.sampled_from(JUDGES))
        chosen = self.draw(st.sampled_from(EFFECTS)) if effect is None else effect
        return replace(self.policy, effect=chosen)

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
            case PreviewCalls(call_ids=call_ids):
                return tuple(self._previewed(calls[call_id]) for call_id in call_ids)
            case RequestApprovals(call_ids=call_ids):
                return tuple(e for call_id in call_ids for e in self._asked(calls[call_id]))
            case RequestReview(call_id=call_id):
                return (self._question(calls[call_id], is_review=True),)
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
        calls = [
            proposed_call(next(self.numbers), args={**REFUND, "amount": amount})
            for amount in amounts
        ]
        if self._seldom(4):
            calls.append(proposed_call(next(self.numbers), "ask_user", QUESTION))
        return replied(*calls, text=self.draw(st.text(max_size=5)), asked_at=self.history.length)

    def _judged(self, call: Call) -> Event:
        if self._seldom(6):
            return CallRefused(call_id=call.id, code="malformed", message="not JSON")
        if call.tool == "ask_user":
            return judged(_number(call), "ask", args=QUESTION, effect="read", is_question=True)
        amount = int(call.proposed.arguments.rpartition(":")[2].rstrip("}"))
        judgement = self._judge()(call.tool, {**REFUND, "amount": amount})
        if judgement.verdict.action == "deny":
            return CallRefused(call_id=call.id, code="policy", message=judgement.verdict.reason)
        if self._is_denied(judgement):
            return CallRefused(call_id=call.id, code="denied_before", message="not again")
        return judgement.of(call.id)

    def _is_denied(self, judgement: Judgement) -> bool:
        denials = denials_of(self.history.state, judgement.tool, judgement.args)
        return judgement.verdict.action == "ask" and denials >= DENIALS_LIMIT

    def _previewed(self, call: Call) -> Event:
        preview = self.draw(PREVIEWS)
        return previewed(_number(call), preview, None if preview else "it could not say")

    def _asked(self, call: Call) -> tuple[Event, ...]:
        if call.preview_changes > 3:
            return (CallRefused(call_id=call.id, code="preview_changed", message="it changed"),)
        question = self._question(call)
        carried = carried_vote(self.history.state, call, question, self.now)
        return (question, carried) if carried else (question,)

    def _question(self, call: Call, *, is_review: bool = False) -> ApprovalRequested:
        assert call.verdict is not None
        question = asked(
            _number(call),
            approval=next(self.numbers),
            kind="review" if is_review else "question" if call.is_question else "call",
            args=call.args,
            preview=call.preview,
            approvers=call.verdict.approvers,
        )
        news = {"supersedes": call.approval_id, "again_because": call.again_because}
        return question.model_copy(update={"tool": call.tool, **news})

    def _start(self, call: Call) -> Event:
        judgement = self._judge(call.effect)(call.tool, call.args)
        if judgement.verdict.action == "deny":
            if call.status == "started" and call.effect == "idempotent":
                return CallLeftUnknown(call_id=call.id, detail="it may not run again")
            return CallRefused(call_id=call.id, code="policy", message="not any more")
        why = why_again(self.history.state, call, judgement, self.now)
        if judgement.verdict.action == "ask" and why:
            return judgement.of(call.id, again_because=why)
        self.in_flight.add(call.id)
        return CallStarted(
            call_id=call.id, attempt=call.attempts + 1, deadline=self.now + SECOND + TERM
        )

    def _recovered(self, call: Call) -> Event:
        if call.effect != "once":
            return self._start(call)
        found = self.draw(st.sampled_from(["committed", "nothing", "unknown"]))
        if found == "nothing":
            return looked_up(_number(call))
        if found == "unknown":
            return CallLeftUnknown(
                call_id=call.id, detail="nobody could say", can_be_checked=self.draw(st.booleans())
            )
        receipt = Receipt(status="committed", external_id="re_1")
        return CallReturned(call_id=call.id, output="found", receipt=receipt, is_found=True)

    def _landed(self, call: Call) -> tuple[Event, ...]:
        """It returns, or is interrupted, which leaves no event."""
        self.in_flight.discard(call.id)
        end = self.draw(st.sampled_from(["returned", "returned", "unknown", "interrupted"]))
        if end == "interrupted":
            return ()
        if end == "unknown" and call.effect == "once":
            return (CallLeftUnknown(call_id=call.id, detail="it did not answer"),)
        return (self._returned(call),)

    def _returned(self, call: Call) -> CallReturned:
        is_error = self.draw(st.booleans())
        receipt = self.draw(st.sampled_from([None, Receipt(status="committed")]))
        output = self.draw(OUTPUTS)
        return CallReturned(call_id=call.id, output=output, is_error=is_error, receipt=receipt)


def _number(call: Call) -> int:
    return int(call.id.removeprefix("call_"))
