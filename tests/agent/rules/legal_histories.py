"""Histories that an engine, people and time could make, for Hypothesis.

``legal_histories`` does what an engine does, without an engine: it obeys ``next_step``, puts in what
people decide, say and want, lets time pass, and forgets now and then what is in flight, as a crash
does. Its choices are Hypothesis's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import assert_never

from hypothesis import strategies as st

from agent.rules.budgets import Budget, ask_for_more
from agent.rules.calls import Call
from agent.rules.compacting import Shorten
from agent.rules.control import RecordedControl
from agent.rules.events import CallRefused, Event, ModelFailed, ModelReplied, RunFailed, RunFinished
from agent.rules.fold import fold
from agent.rules.forking import fork, is_boundary
from agent.rules.given_up import no_progress
from agent.rules.ids import ApprovalId, OperationId
from agent.rules.interventions import RunCancelled
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.recorded import Recorded
from agent.rules.replaying.granted import Consents
from agent.rules.replaying.replay import Difference, replay
from agent.rules.silence import mark
from agent.rules.steps import (
    AskForMore,
    AskModel,
    AwaitCalls,
    Cancel,
    Done,
    DropCalls,
    Fail,
    Finish,
    JudgeCalls,
    MarkTime,
    PreviewCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    Summarise,
    Suspend,
    next_step,
)
from agent.rules.summing_up import summary_of
from tests.agent.rules.histories import BOB, REFUND, SECOND, History, begun, proposed_call, replied
from tests.agent.rules.judges import RefundJudge
from tests.agent.rules.legal_calls import (
    come_back,
    judge_call,
    land,
    leave_open,
    may_come_late,
    preview_call,
    put_to_people,
    question,
    recover,
    start,
)
from tests.agent.rules.legal_choices import (
    AMOUNTS,
    BUDGETS,
    CONTEXTS,
    HOUR,
    JUDGES,
    OWNERS,
    QUESTION,
)
from tests.agent.rules.legal_people import REFS, intervene
from tests.agent.rules.legal_world import World


@dataclass(frozen=True, slots=True)
class Lived:
    """A run from its start on, to its end or to wherever it was looked at, the budget that it had, and the
    grants that people gave and revoked."""

    history: History
    budget: Budget | None
    control: tuple[RecordedControl, ...] = ()

    def replay(self, recorded: Sequence[Recorded] | None = None) -> list[Difference]:
        """Its journal, or another, gone over with all that is known of it."""
        granted = Consents(self.control).instead_of
        return replay(recorded or self.history.recorded, self.budget, granted)


@dataclass(frozen=True, slots=True)
class Forked:
    """A run that began where another had come to, and went on from there."""

    original: History
    history: History


@st.composite
def legal_lives(draw: st.DrawFn, judges: Sequence[RefundJudge] = JUDGES) -> Lived:
    budget = draw(st.sampled_from(BUDGETS))
    context = draw(st.sampled_from(CONTEXTS))
    world = World(draw, begun(ref=REFS[0]), draw(st.sampled_from(judges)), budget, context)
    _live(world, draw(st.integers(5, 60)))
    return Lived(world.history, budget, tuple(world.control))


def legal_histories() -> st.SearchStrategy[History]:
    return legal_lives().map(lambda lived: lived.history)


@st.composite
def legal_forks(draw: st.DrawFn) -> Forked:
    world = World(draw, begun(ref=REFS[0]), draw(st.sampled_from(JUDGES)))
    _live(world, draw(st.integers(2, 30)))
    original = world.history
    boundaries = [n for n in range(1, original.length + 1) if is_boundary(original.first(n).state)]
    forked = begin_at(original.recorded, draw(st.sampled_from(boundaries)), count(1001))
    fresh = World(draw, forked, world.policy, numbers=count(2001))
    _live(fresh, draw(st.integers(0, 20)))
    return Forked(original, fresh.history)


def begin_at(recorded: tuple[Recorded, ...], at: int, numbers: Iterator[int]) -> History:
    """The run that is forked there, as it begins."""
    of_that_time, taken = fork(recorded, at, BOB, lambda prefix: f"{prefix}_{next(numbers)}")
    return begun(of_that_time.prompt).then(*taken, after=0 * SECOND)


def operations_begun(history: History) -> set[OperationId]:
    calls = fold(history.recorded).calls
    begun_ids = (one.event.call_id for one in history.recorded if one.event.kind == "call_started")
    return {calls[call_id].operation_id for call_id in begun_ids}


def _live(world: World, steps: int) -> None:
    for _ in range(steps):
        world.idle += SECOND
        _advance(world)


def _advance(world: World) -> None:
    if world.seldom(10):
        world.crash()
    if wanted := intervene(world):
        world.add(*wanted)
        return
    state = world.state
    late = [call for call in state.calls.values() if may_come_late(world, call)]
    if late and world.seldom(10):
        world.add(come_back(world, world.draw(st.sampled_from(late))))
    elif not state.is_ended and state.stop is None and world.seldom(40):
        # What is to be stopped is cancelled instead.
        world.add(RunFailed(error=no_progress(5, "a fault of ours")))
        world.crash()
    elif world.asked_at is not None:
        _hear_model(world)
    else:
        world.add(*_obey(world, _next_step(world)))


def _next_step(world: World) -> Step:
    return next_step(world.state, world.now, world.in_flight, world.budget, world.context)


def _obey(world: World, step: Step) -> tuple[Event, ...]:
    match step:
        case Done():
            return ()
        case Finish(answer=answer):
            return (RunFinished(answer=answer),)
        case Fail(error=error):
            return (RunFailed(error=error),)
        case Cancel():
            return (*leave_open(world), RunCancelled())
        case Shorten(cut=cut, summing=summing):
            return (ConversationShortened(cut=cut, summing=summing),)
        case AskModel() | Summarise():
            world.asked_at = world.history.length
            return ()
        case DropCalls(call_ids=call_ids):
            return tuple(
                CallRefused(call_id=call_id, code="newer_message", message="a newer message")
                for call_id in call_ids
            )
        case MarkTime(due=due):
            return tuple(mark(world.state, due))
        case AskForMore(reached=reached):
            assert world.budget is not None
            approval_id = ApprovalId(f"apr_{next(world.numbers)}")
            return ask_for_more(world.state, reached, world.budget, OWNERS, approval_id, world.now)
        case (
            JudgeCalls()
            | PreviewCalls()
            | RequestApprovals()
            | RequestReview()
            | StartCalls()
            | RecoverCall()
        ):
            return _work_on(world, step)
        case AwaitCalls():
            return land(world, _one_in_flight(world))
        case Suspend(until=until):
            world.idle += HOUR / 5 if until is None else until - world.now
            return ()
        case _:
            assert_never(step)


_OnCalls = JudgeCalls | PreviewCalls | RequestApprovals | RequestReview | StartCalls | RecoverCall


def _work_on(world: World, step: _OnCalls) -> tuple[Event, ...]:
    calls = world.state.calls
    match step:
        case JudgeCalls(call_ids=call_ids):
            return tuple(judge_call(world, calls[call_id]) for call_id in call_ids)
        case PreviewCalls(call_ids=call_ids):
            return tuple(preview_call(world, calls[call_id]) for call_id in call_ids)
        case RequestApprovals(call_ids=call_ids):
            return tuple(e for call_id in call_ids for e in put_to_people(world, calls[call_id]))
        case RequestReview(call_id=call_id):
            return (question(world, calls[call_id], is_review=True),)
        case StartCalls(call_ids=call_ids):
            return tuple(start(world, calls[call_id]) for call_id in call_ids)
        case RecoverCall(call_id=call_id):
            return (recover(world, calls[call_id]),)
        case _:
            assert_never(step)


def _one_in_flight(world: World) -> Call:
    return world.state.call(world.draw(st.sampled_from(sorted(world.in_flight))))


def _hear_model(world: World) -> None:
    """It says something, unless it is not to be heard any more."""
    asked_at, world.asked_at = world.asked_at, None
    if asked_at is not None and not world.state.is_ended and world.state.stop is None:
        world.add(_word(world, asked_at))


def _word(world: World, asked_at: int) -> ModelReplied | ModelFailed | ConversationSummarised:
    kind = world.draw(
        st.sampled_from(
            ["calls"] * 6 + ["text", "empty", "later", "too long"] + ["never"] * world.seldom(4)
        )
    )
    if kind == "later":
        return ModelFailed(error="busy", retry_at=world.now + 30 * SECOND)
    if kind == "too long":
        is_first = world.state.too_long_in_a_row == 0
        again = world.now if is_first else None
        return ModelFailed(
            error="too long", retry_at=again, too_long=world.draw(st.integers(100, 2_000))
        )
    if kind == "never":
        return ModelFailed(error="no such model")
    if world.state.summing is not None:
        replies = world.state.summing
        summary = summary_of(world.state, replies, "What was before.", 300)
        return ConversationSummarised(
            replies=replies, summary=summary, asked_at=asked_at, model="model"
        )
    if kind != "calls":
        return replied(text="Done." if kind == "text" else " ", asked_at=asked_at)
    amounts = world.draw(st.lists(AMOUNTS, min_size=1, max_size=3))
    calls = [
        proposed_call(next(world.numbers), args={**REFUND, "amount": amount}) for amount in amounts
    ]
    if world.seldom(4):
        calls.append(proposed_call(next(world.numbers), "ask_user", QUESTION))
    return replied(*calls, text=world.draw(st.text(max_size=5)), asked_at=asked_at)
