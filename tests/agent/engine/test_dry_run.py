"""A dry run: everything is judged, previewed and asked, and nothing is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from agent import Approve, Committed, Rejected, Runtime, Settle, Steer, ToolContext, tool
from agent.engine.advance import Engine
from agent.engine.new_ids import UuidIds
from agent.errors import Interrupted, InvalidArgs
from agent.ports import ModelReply
from agent.rules.events import ApprovalRequested, CallJudged, CallRefused, CallStarted, Event
from agent.rules.grants import GrantWish
from agent.rules.ids import RunId
from agent.rules.policy import Policy
from agent.rules.recorded import dump_event
from agent.rules.replaying.replay import replay
from agent.rules.state import Approval, RunState
from agent.rules.transcript import ToolMessage, transcript
from agent.tools.declare import Tool
from tests.agent.engine.bench import ALICE, OPERATOR, Bench, bench, calls, says

ASKS = Policy.model_validate(
    {
        "owners": {"users": ["U0BOB"]},
        "rules": [
            {"tool": "pay", "action": "ask", "grants": {"scopes": ["run", "thread"]}},
            {"tool": "*", "action": "allow"},
        ],
    }
)
PAYS = [calls(("pay", '{"amount": 5}')), says("I would have paid 5.")]
NOT_CARRIED_OUT = "This is a dry run: the call was judged, and not carried out."


@dataclass
class World:
    """What tools did, by name."""

    did: list[str] = field(default_factory=list)
    is_silent: bool = False

    def tools(self) -> Sequence[Tool]:
        def preview(amount: int) -> str:
            self.did.append("preview")
            return f"pays {amount}"

        def reconcile(operation_id: str) -> Committed | Rejected | None:
            self.did.append("reconcile")
            return Rejected("not found")

        @tool(preview=preview, reconcile=reconcile)
        def pay(amount: int, context: ToolContext) -> str:
            """Pay."""
            self.did.append("pay")
            if self.is_silent:
                raise Interrupted
            return "paid"

        @tool(effect="read")
        def find(order: str) -> str:
            """Find an order."""
            self.did.append("find")
            return "open"

        @tool(effect="idempotent")
        def send(context: ToolContext) -> str:
            """Send."""
            self.did.append("send")
            if self.is_silent:
                raise Interrupted
            return "sent"

        return [pay, find, send]


def from_now_on(b: Bench, *, dry_run: bool) -> Bench:
    """The next process, on the same store, with the file as it is by then."""
    agent = replace(b.runtime.agents["tester"], dry_run=dry_run)
    engine = Engine(b.store, {agent.name: agent}, UuidIds())
    return replace(b, runtime=Runtime([agent], b.store), engine=engine)


async def asked(b: Bench) -> Approval:
    ((approval, _),) = await b.runtime.approvals()
    return approval


async def events(b: Bench, run_id: RunId) -> list[Event]:
    return [one.event for one in await b.store.journal.read(run_id)]


def receipts(state: RunState) -> list[tuple[str, bool] | None]:
    found = (call.receipt for call in state.calls.values())
    return [(one.status, one.dry_run) if one else None for one in found]


async def test_all_is_judged_previewed_and_asked_and_nothing_runs(tmp_path: Path) -> None:
    world = World()
    wanted = calls(("find", '{"order": "A"}'), ("pay", '{"amount": 5}'), ("send", "{}"))
    async with bench(tmp_path, world.tools(), [wanted, says("Nothing was done.")], ASKS) as real:
        b = from_now_on(real, dry_run=True)
        run_id = await b.start()
        await b.work()
        approval = await asked(b)
        assert (approval.requested.dry_run, approval.requested.preview) == (True, "pays 5")
        # Nothing is allowed beforehand by a yes to what does not happen.
        with pytest.raises(InvalidArgs, match="dry run"):
            await b.runtime.decide(approval.id, Approve(grant=GrantWish("thread")), OPERATOR)
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await b.work()
        state = await b.runtime.state(run_id)
        assert (state.ending, state.is_dry_run, world.did) == ("finished", True, ["preview"])
        assert receipts(state) == [("rejected", True)] * 3
        known = await b.runtime.receipt(next(iter(state.calls.values())).operation_id)
        assert (known.status, known.dry_run, known.attempts) == ("rejected", True, 0)
        told = [one for one in transcript(state) if isinstance(one, ToolMessage)]
        assert [one.output.startswith(NOT_CARRIED_OUT) for one in told] == [True] * 3
        written = await events(b, run_id)
        assert not any(isinstance(one, CallStarted) for one in written)
        refused = [one for one in written if isinstance(one, CallRefused)]
        assert {one.code for one in refused} == {"dry_run"}
        marked = (written[0], *refused, *(e for e in written if isinstance(e, CallJudged)))
        assert {dump_event(one)["version"] for one in marked} == {6}
        assert replay(await b.store.journal.read(run_id)) == []


async def test_a_run_stays_dry_whatever_its_agent_is_and_so_does_what_is_forked_from_it(
    tmp_path: Path,
) -> None:
    world = World()
    async with bench(tmp_path, world.tools(), [*PAYS, *PAYS], ASKS) as real:
        run_id = await from_now_on(real, dry_run=True).start()
        await real.work()
        await real.runtime.decide((await asked(real)).id, Approve(), OPERATOR)
        await real.work()
        state = await real.runtime.state(run_id)
        assert (state.ending, receipts(state)) == ("finished", [("rejected", True)])
        forked = await real.runtime.state(await real.runtime.fork(run_id, 1, ALICE))
        assert forked.is_dry_run
        # What its conversation goes on with is another run.
        after = await real.runtime.steer(run_id, "now for real", ALICE)
        assert not after.is_dry_run
        assert world.did == ["preview"]


async def test_of_a_run_that_waits_nothing_runs_once_its_agent_is_dry(tmp_path: Path) -> None:
    world = World()
    async with bench(tmp_path, world.tools(), PAYS, ASKS) as real:
        run_id = await real.start()
        await real.work()
        approval = await asked(real)
        assert not approval.requested.dry_run
        await real.runtime.decide(approval.id, Approve(), OPERATOR)
        await from_now_on(real, dry_run=True).work()
        state = await real.runtime.state(run_id)
        assert (state.is_dry_run, receipts(state)) == (False, [("rejected", True)])
        assert world.did == ["preview"]


@pytest.mark.parametrize("decision", [Approve(), Steer(args={"amount": 7})])
async def test_what_was_approved_as_dry_is_asked_again_before_it_is_real(
    tmp_path: Path, decision: Approve | Steer
) -> None:
    world = World()
    async with bench(tmp_path, world.tools(), PAYS, ASKS) as real:
        run_id = await real.start()
        dry = from_now_on(real, dry_run=True)
        await dry.work()
        first = await asked(dry)
        assert first.requested.dry_run
        await real.runtime.decide(first.id, decision, OPERATOR)
        await real.work()
        second = await asked(real)
        assert (second.requested.dry_run, second.requested.supersedes) == (False, first.id)
        if isinstance(decision, Approve):
            assert "approved in a dry run" in (second.requested.again_because or "")
        assert "pay" not in world.did
        await real.runtime.decide(second.id, Approve(), OPERATOR)
        await real.work()
        state = await real.runtime.state(run_id)
        assert (state.ending, receipts(state)) == ("finished", [("committed", False)])
        assert world.did.count("pay") == 1
        assert replay(await real.store.journal.read(run_id)) == []


@pytest.mark.parametrize("name", ["pay", "send"])
async def test_what_had_begun_for_real_is_neither_run_nor_looked_up_and_people_are_asked(
    tmp_path: Path, name: str
) -> None:
    world, arguments = World(is_silent=True), {"pay": '{"amount": 5}', "send": "{}"}[name]
    allows = Policy.model_validate(
        {"owners": {"users": ["U0BOB"]}, "rules": [{"tool": "*", "action": "allow"}]}
    )
    replies: list[ModelReply | Exception] = [calls((name, arguments)), says("Nobody knows.")]
    async with bench(tmp_path, world.tools(), replies, allows) as real:
        run_id = await real.start()
        await real.work()
        real.clock.advance(timedelta(minutes=5))
        dry = from_now_on(real, dry_run=True)
        await dry.work()
        review = await asked(dry)
        assert (review.kind, review.requested.dry_run) == ("review", False)
        # Whoever says that it did not happen does not have it run either.
        await dry.runtime.decide(review.id, Settle("not_happened"), OPERATOR)
        await dry.work()
        state = await dry.runtime.state(run_id)
        assert (state.ending, receipts(state)) == ("finished", [("rejected", True)])
        assert [one for one in world.did if one != "preview"] == [name]
        assert replay(await dry.store.journal.read(run_id)) == []


async def test_a_question_of_a_real_run_says_nothing_of_dry_runs(tmp_path: Path) -> None:
    async with bench(tmp_path, World().tools(), PAYS, ASKS) as real:
        run_id = await real.start()
        await real.work()
        written: list[dict[str, JsonValue]] = [
            dump_event(one) for one in await events(real, run_id)
        ]
        assert [one["dry_run"] for one in written if "dry_run" in one] == [False, False]
        kinds = [e for e in await events(real, run_id) if isinstance(e, ApprovalRequested)]
        assert all(one.form < 6 for one in kinds)


async def test_a_call_that_was_started_in_a_dry_run_is_no_doing_of_this_build(
    tmp_path: Path,
) -> None:
    replies = [calls(("send", "{}")), says("Sent.")]
    async with bench(tmp_path, World().tools(), replies, ASKS) as real:
        run_id = await real.start()
        await real.work()
        journal = await real.store.journal.read(run_id)
        first = replace(journal[0], event=journal[0].event.model_copy(update={"dry_run": True}))
        (difference, *_) = replay([first, *journal[1:]])
        assert isinstance(journal[difference.seq - 1].event, CallStarted)
