"""Runs from start to end: what the engine does, told by what the model was sent and what was done."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from agent import (
    Approve,
    Committed,
    Decider,
    Deny,
    People,
    Policy,
    Principal,
    Rejected,
    Settle,
    ToolContext,
    tool,
)
from agent.engine.guard import LeaseGuard
from agent.errors import AlreadyDecided, Blocked, InvalidArgs, LeaseLost, NotFound, SessionBusy
from agent.ports import ModelRefused, ModelUnavailable
from agent.rules.ids import ApprovalId, RunId, SessionId
from agent.rules.parts import Usage
from agent.rules.rule import Rule
from agent.rules.transcript import AssistantMessage, Message, ToolMessage
from tests.agent.engine.bench import ALICE, OPERATOR, TERM, bench, calls, says

CAROL = Decider(Principal("slack:T0PILOT:U0CAROL"), user="U0CAROL")


class Effects:
    """What really happened, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []


@pytest.fixture
def effects() -> Effects:
    return Effects()


def pairs(messages: tuple[Message, ...]) -> bool:
    """Does each reply's every call have exactly one result right behind it?"""
    open_calls = 0
    for message in messages:
        if isinstance(message, ToolMessage):
            open_calls -= 1
        elif open_calls:
            return False
        elif isinstance(message, AssistantMessage):
            open_calls = len(message.calls)
    return open_calls == 0


async def test_a_call_that_is_not_there_or_does_not_fit_is_told_to_the_model(
    tmp_path: Path, effects: Effects
) -> None:
    @tool(approval=False)
    def act(n: int) -> None:
        """Do it."""
        effects.done.append(str(n))

    bad = [
        ("dangre", "{}"),
        ("act", '{"n": 1'),
        ("act", "null"),
        ("act", "[]"),
        ("act", '"str"'),
        ("act", '{"n": NaN}'),
        ("act", '{"n": 1, "n": 2}'),
        ("act", '{"n": 1e999}'),
        ("act", "{}"),
        ("act", '{"n": 1, "m": 2}'),
        ("", "{}"),
        ("two words", "{}"),
    ]
    async with bench(tmp_path, [act], [calls(*bad), calls(("act", '{"n": 7}')), says("ok")]) as b:
        state = await b.play()
        assert state.answer == "ok"
        assert effects.done == ["7"]
        assert not state.approvals
        assert all(pairs(request.messages) for request in b.model.requests)


async def test_safe_siblings_run_while_a_gated_one_waits_and_all_results_are_kept(
    tmp_path: Path, effects: Effects
) -> None:
    @tool(approval=False, effect="read")
    def safe(n: int) -> int:
        """Look."""
        effects.done.append(f"safe {n}")
        return n

    @tool(approval=True)
    def danger(n: int) -> int:
        """Do it."""
        effects.done.append(f"danger {n}")
        return n

    batch = calls(
        *((t, f'{{"n": {n}}}') for n, t in enumerate(("safe", "danger", "safe", "danger")))
    )
    async with bench(tmp_path, [safe, danger], [batch, says("done")]) as b:
        state = await b.play()
        assert sorted(effects.done) == ["safe 0", "safe 2"]
        first, second = state.open_approvals
        assert first.requested.group == second.requested.group
        await b.runtime.decide(second.id, Deny("no"), OPERATOR)
        await b.work()
        assert len(b.model.requests) == 1, "one is still to be decided"
        await b.runtime.decide(first.id, Approve(), OPERATOR)
        await b.work()
        assert sorted(effects.done) == ["danger 1", "safe 0", "safe 2"]
        last = b.model.requests[-1].messages
        outputs = [m.output for m in last if isinstance(m, ToolMessage)]
        assert outputs[:3] == ["0", "1", "2"]
        assert "Denied by a person" in outputs[3]
        assert pairs(last)


async def test_a_decision_taken_while_a_sibling_runs_starts_its_call_at_once(
    tmp_path: Path, effects: Effects
) -> None:
    release, is_running = asyncio.Event(), asyncio.Event()

    @tool(approval=False, effect="read")
    async def slow() -> None:
        """Take long."""
        is_running.set()
        await release.wait()

    @tool(approval=True)
    async def danger() -> None:
        """Do it."""
        effects.done.append("danger")
        release.set()

    async with bench(
        tmp_path, [slow, danger], [calls(("slow", "{}"), ("danger", "{}")), says("k")]
    ) as b:
        run_id = await b.start()
        working = asyncio.create_task(b.work())
        await is_running.wait()
        while not (open_ := (await b.runtime.state(run_id)).open_approvals):
            await b.store.wakeups.wait(b.store.wakeups.moves, 1)
        await b.runtime.decide(open_[0].id, Approve(), OPERATOR)
        async with asyncio.timeout(20):
            await working
        assert effects.done == ["danger"]
        assert (await b.runtime.state(run_id)).answer == "k"


async def test_an_unknown_effect_is_asked_of_a_person_and_never_guessed(
    tmp_path: Path, effects: Effects, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(approval=False)
    def send() -> None:
        """Send it."""
        effects.done.append("sent")
        raise ConnectionError("no answer")

    async with bench(tmp_path, [send], [calls(("send", "{}")), says("done")]) as b:
        state = await b.play()
        (review,) = state.open_approvals
        assert review.kind == "review"
        unknown = f"{state.run_id}: it is not known whether {review.requested.call_id} happened"
        assert caplog.records[-1].getMessage() == unknown
        with pytest.raises(InvalidArgs):
            await b.runtime.decide(review.id, Approve(), OPERATOR)
        await b.runtime.decide(review.id, Settle("happened"), OPERATOR)
        await b.work()
        state = await b.runtime.state(state.run_id)
        assert (state.answer, effects.done) == ("done", ["sent"])
        (call,) = state.calls.values()
        assert call.receipt is not None
        assert call.receipt.status == "committed"


async def test_it_did_not_happen_runs_the_call_again_with_the_same_operation_id(
    tmp_path: Path, effects: Effects
) -> None:
    @tool(approval=True)
    def send(context: ToolContext) -> str:
        """Send it."""
        effects.done.append(context.operation_id)
        if context.attempt == 1:
            raise ConnectionError("no answer")
        return "sent"

    async with bench(tmp_path, [send], [calls(("send", "{}")), says("done")]) as b:
        state = await b.play()
        await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
        await b.work()
        (review,) = (await b.runtime.state(state.run_id)).open_approvals
        await b.runtime.decide(review.id, Settle("not_happened"), OPERATOR)
        await b.work()
        state = await b.runtime.state(state.run_id)
        assert state.answer == "done"
        assert len(effects.done) == 2
        assert len(set(effects.done)) == 1
        assert len([a for a in state.approvals.values() if a.kind == "call"]) == 1


@pytest.mark.parametrize("found", ["committed", "rejected", "unclear"])
async def test_an_effect_that_can_be_looked_up_is_looked_up_after_its_deadline(
    tmp_path: Path, effects: Effects, found: str
) -> None:
    def reconcile(operation_id: str) -> Committed | None:
        effects.done.append("looked up")
        if found == "rejected":
            raise Rejected("not found")
        return Committed("found", "re_1") if found == "committed" else None

    @tool(approval=False, reconcile=reconcile, timeout=5)
    def send(context: ToolContext) -> str:
        """Send it."""
        effects.done.append(f"sent {context.attempt}")
        if context.attempt == 1:
            raise ConnectionError("no answer")
        return "sent"

    async with bench(tmp_path, [send], [calls(("send", "{}")), says("done")]) as b:
        state = await b.play()
        assert effects.done == ["sent 1"]
        b.clock.advance(timedelta(seconds=11))
        await b.work()
        state = await b.runtime.state(state.run_id)
        if found == "committed":
            assert effects.done == ["sent 1", "looked up"]
        elif found == "rejected":
            assert effects.done == ["sent 1", "looked up", "sent 2"]
        else:
            assert state.open_approvals[0].kind == "review"
            await b.runtime.decide(state.open_approvals[0].id, Settle("check"), OPERATOR)
            await b.work()
            assert effects.done == ["sent 1", "looked up", "looked up"]
            state = await b.runtime.state(state.run_id)
            assert state.open_approvals[0].kind == "review"


async def test_a_policy_that_became_stricter_after_the_yes_asks_again_and_says_why(
    tmp_path: Path, effects: Effects
) -> None:
    @tool(approval=True)
    def danger() -> None:
        """Do it."""
        effects.done.append("danger")

    script = [calls(("danger", "{}")), says("done")]
    lax = Policy(owners=People(users=("U0CAROL",)))
    async with bench(tmp_path, [danger], script, lax) as b:
        state = await b.play()
        await b.runtime.decide(state.open_approvals[0].id, Approve(), CAROL)
        clock = b.clock
    stricter = Policy.model_validate(
        {"rules": [{"tool": "danger", "action": "ask", "approvers": {"users": ["U0BOB"]}}]}
    )
    async with bench(tmp_path, [danger], script, stricter, clock) as b:
        await b.work()
        again = await b.runtime.state(state.run_id)
        assert effects.done == []
        (approval,) = again.open_approvals
        assert approval.requested.supersedes == state.open_approvals[0].id
        assert approval.requested.approvers.users == ("U0BOB",)
        assert "others" in (approval.requested.again_because or "")
    refusing = Policy(rules=(Rule(tool="danger", action="deny", reason="never"),))
    async with bench(tmp_path, [danger], script, refusing, clock) as b:
        await b.runtime.decide(again.open_approvals[0].id, Approve(), OPERATOR)
        await b.work()
        last = await b.runtime.state(state.run_id)
        assert effects.done == []
        assert last.answer == "done"
        (call,) = last.calls.values()
        assert call.result is not None
        assert call.result.outcome == "refused"


async def test_a_model_that_is_away_is_asked_again_later_and_fails_the_run_in_the_end(
    tmp_path: Path,
) -> None:
    away = ModelUnavailable("overloaded", retry_after=20)
    async with bench(tmp_path, [], [away]) as b:
        state = await b.play()
        assert not state.is_ended
        for _ in range(5):
            b.clock.advance(timedelta(seconds=21))
            await b.work()
        state = await b.runtime.state(state.run_id)
        assert state.error == "overloaded"
        assert len(b.model.requests) == 5


async def test_a_model_that_refuses_fails_the_run_at_once_in_its_own_words(tmp_path: Path) -> None:
    used = Usage(input_tokens=70, output_tokens=30)
    async with bench(tmp_path, [], [ModelRefused("take another model", used)]) as b:
        state = await b.play()
        assert (state.error, len(b.model.requests)) == ("take another model", 1)
        assert (state.input_tokens, state.unanswered) == (70, 0)


async def test_empty_answers_end_in_a_plain_failure(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("  ")]) as b:
        state = await b.play()
        assert state.error == "The model gave 3 empty answers in a row."


async def test_a_run_whose_agent_is_not_here_is_left_alone(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        run_id = await b.start()
        state = await b.runtime.state(run_id)
        (lease,) = await b.store.run_leases.claim("p", TERM, 1)
        engine = type(b.engine)(b.store, {}, b.engine.ids)
        with pytest.raises(Blocked):
            await engine.advance(LeaseGuard(lease, TERM), asyncio.Event())
        assert (await b.runtime.state(run_id)).seq == state.seq


async def test_a_replaced_holder_can_not_go_on(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok"), says("ok")]) as b:
        run_id = await b.start()
        (stale,) = await b.store.run_leases.claim("stale", TERM, 1)
        b.clock.advance(TERM)
        (fresh,) = await b.store.run_leases.claim("fresh", TERM, 1)
        with pytest.raises(LeaseLost):
            await b.engine.advance(LeaseGuard(stale, TERM), asyncio.Event())
        await b.engine.advance(LeaseGuard(fresh, TERM), asyncio.Event())
        assert (await b.runtime.state(run_id)).answer == "ok"


async def test_the_same_start_again_finds_the_run_that_is_there(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        one = await b.runtime.start("go", requester=ALICE, key="k", session=SessionId("s"))
        two = await b.runtime.start("go", requester=ALICE, key="k", session=SessionId("s"))
        assert one == two
        with pytest.raises(SessionBusy):
            await b.runtime.start("go", requester=ALICE, key="other", session=SessionId("s"))


async def test_nine_people_decide_at_once_and_one_of_them_did(tmp_path: Path) -> None:
    @tool(approval=True)
    def danger() -> None:
        """Do it."""

    async with bench(tmp_path, [danger], [calls(("danger", "{}")), says("done")]) as b:
        state = await b.play()
        approval_id = state.open_approvals[0].id
        decisions = [Approve() if n % 2 else Deny() for n in range(9)]
        outcomes = await asyncio.gather(
            *(b.runtime.decide(approval_id, d, OPERATOR) for d in decisions), return_exceptions=True
        )
        assert sum(isinstance(o, AlreadyDecided) for o in outcomes) == 8
        with pytest.raises(NotFound):
            await b.runtime.decide(ApprovalId("apr_none"), Approve(), OPERATOR)


async def test_a_worker_works_what_falls_due_and_hands_on_what_it_holds_when_stopped(
    tmp_path: Path,
) -> None:
    began, release = asyncio.Event(), asyncio.Event()

    @tool(approval=False)
    async def slow() -> str:
        """Take long."""
        began.set()
        await release.wait()
        return "ended"

    async with bench(tmp_path, [slow], [calls(("slow", "{}")), says("done")]) as b:
        run_id: RunId = await b.start()
        worker = b.runtime.worker(term=timedelta(seconds=30))
        running = asyncio.create_task(worker.run())
        await began.wait()
        stopping = asyncio.create_task(worker.stop(drain=timedelta(seconds=30)))
        await asyncio.sleep(0)
        release.set()
        async with asyncio.timeout(20):
            await stopping
            await running
        state = await b.runtime.state(run_id)
        (call,) = state.calls.values()
        assert call.result is not None, "what was in flight has been heard"
        assert not state.is_ended, "nothing new was begun"
        await b.work()
        assert (await b.runtime.state(run_id)).answer == "done"
