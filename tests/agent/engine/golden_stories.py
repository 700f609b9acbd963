"""Runs as this version writes them, event for event: ids are counted, and the clock is moved by hand.

Each story's journal stands in ``tests/journals``. A file there is never changed: what a later version writes
otherwise becomes a story, and a file, of its own (``as_lines`` of the journal that it gives).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path

from pydantic import JsonValue

from agent import Agent, Approve, Deny, Policy, Runtime, Settle, Steer, Toolbox, ToolContext, tool
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.errors import Interrupted
from agent.ports import ContextOverflow, ModelReply, ModelRequest, ModelUnavailable, Store
from agent.rules.budgets import Budget
from agent.rules.events import Event
from agent.rules.ids import ApprovalId, CallId, EventId, RunId
from agent.rules.parts import (
    Approvers,
    Escalation,
    Patience,
    ProviderState,
    Quoted,
    Usage,
    Verdict,
)
from agent.rules.people import resume, say
from agent.rules.policy import Subject
from agent.rules.recorded import Recorded, Stamped, dump_event
from agent.rules.rule import People
from agent.rules.state import RunState
from store import open_store
from tests.agent.engine.bench import ALICE, OPERATOR, TERM, calls, says, until
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.strict import StrictModel
from tests.agent.rules.histories import BOB
from tests.store.files import with_tables

HOUR = timedelta(hours=1)
CHAIN = Patience(
    expires=3 * HOUR,
    on_expiry="escalate",
    remind=HOUR,
    escalate=(
        Escalation(after=2 * HOUR, groups=("S0LEGAL",)),
        Escalation(after=5 * HOUR, users=("U0CAROL",)),
    ),
)
DENIES = Patience(expires=HOUR, on_expiry="deny")
STOPS = Patience(expires=2 * HOUR, on_expiry="stop")


@dataclass
class CountedIds:
    """The Ids port: the first of each kind is its 1. Events of different stories have different ids."""

    story: int
    numbers: dict[str, Iterator[int]] = field(default_factory=dict)

    def new(self, prefix: str) -> str:
        number = next(self.numbers.setdefault(prefix, count(1)))
        return f"run_golden_{self.story}_{number}" if prefix == "run" else f"{prefix}_{number}"

    def event(self) -> str:
        number = next(self.numbers.setdefault("event", count(1)))
        return f"019ad{self.story:03x}-0000-7000-8000-{number:012d}"


class Patient(Policy):
    """Asks finance about whatever has an effect, and waits as the tool's name says."""

    def judge(self, subject: Subject) -> Verdict:
        patience = {"pay": CHAIN, "ship": DENIES, "close": STOPS}.get(subject.tool)
        return Verdict(
            action="ask" if patience else "allow",
            reason="over the threshold" if patience else "no rule asks",
            rule=f"ask {subject.tool}" if patience else "allow",
            policy_version="policy-1",
            approvers=Approvers(groups=("S0FINANCE",)) if patience else Approvers(),
            patience=patience or Patience(),
        )


@dataclass
class Script:
    """A model that gives one reply after the other; what happens while it thinks comes before each."""

    replies: list[ModelReply | Callable[[], Awaitable[ModelReply]]]
    name: str = "scripted"

    async def reply(self, request: ModelRequest) -> ModelReply:
        given = self.replies.pop(0)
        return given if isinstance(given, ModelReply) else await given()


@dataclass
class Stage:
    """One process on one store."""

    store: Store
    clock: SteppedClock
    runtime: Runtime
    engine: Engine
    ids: CountedIds
    script: Script

    async def work(self, after: timedelta = timedelta()) -> None:
        """Let the time pass, then advance whatever is due until nothing is."""
        self.clock.advance(after)
        while leases := await self.store.run_leases.claim("p", TERM, 10):
            for lease in leases:
                await self.engine.advance(LeaseGuard(lease, TERM), asyncio.Event())

    async def say(self, run_id: RunId, text: str) -> None:
        state = await self.runtime.state(run_id)
        await self.append(state, say(state, ALICE, text))

    async def append(self, state: RunState, events: Sequence[Event]) -> None:
        stamped = [Stamped(EventId(self.ids.event()), self.clock.now(), one) for one in events]
        await self.store.journal.intend(state.run_id, stamped, expected_seq=state.seq)

    async def asked(self, run_id: RunId) -> ApprovalId:
        """The one question that is open."""
        (approval,) = (await self.runtime.state(run_id)).open_approvals
        return approval.id

    async def journal(self, run_id: RunId) -> list[Recorded]:
        return await self.store.journal.read(run_id)


@tool(effect="idempotent")
def pay(order: str, context: ToolContext) -> str:
    """Pay an order."""
    return f"{order} is paid"


@tool(effect="once")
def ship(order: str) -> str:
    """Ship an order."""
    return f"{order} is shipped"


@tool(effect="once")
def close(order: str) -> str:
    """Close an order."""
    return f"{order} is closed"


@tool(effect="read")
def find(order: str) -> str:
    """Find an order."""
    return f"{order} is open"


@tool(effect="once")
def print_label(order: str) -> str:
    """Print a label, on a printer that does not answer."""
    raise Interrupted(order)


@asynccontextmanager
async def stage(
    folder: Path,
    story: int,
    budget: Budget | None = None,
    context_tokens: int | None = None,
    *,
    dry_run: bool = False,
) -> AsyncIterator[Stage]:
    clock, ids, script = SteppedClock(), CountedIds(story), Script([])
    store = await open_store(with_tables(folder / "runs.db"), clock=clock)
    toolbox = Toolbox([pay, ship, close, find, print_label])
    policy = Patient(owners=People(users=("U0CAROL",)))
    agent = Agent(
        "orders",
        StrictModel(script),
        toolbox,
        policy,
        budget=budget,
        context_tokens=context_tokens,
        dry_run=dry_run,
    )
    engine = Engine(store, {agent.name: agent}, ids)
    try:
        yield Stage(store, clock, Runtime([agent], store, ids=ids), engine, ids, script)
    finally:
        await store.close()


ORDER = '{"order":"ORD-1"}'
Story = Callable[[Path], Awaitable[list[Recorded]]]


async def people_and_time(folder: Path) -> list[Recorded]:
    """Nobody decides, for long; a hold and messages meanwhile; in the end it is done."""
    async with stage(folder, 5) as s:
        run_id = await s.runtime.start("pay ORD-1", requester=ALICE)

        async def interrupted_thought() -> ModelReply:
            await s.say(run_id, "only look at it")
            return calls(("pay", ORDER))

        s.script.replies = [
            calls(("pay", ORDER)),
            interrupted_thought,
            calls(("find", ORDER)),
            says("ORD-1 is paid, and open."),
        ]
        await s.work()
        for _ in range(3):  # Reminded, others asked as well, asked of the next of the chain.
            await s.work(HOUR)
        await s.runtime.hold(run_id, ALICE, "lunch")
        await s.work(3 * HOUR)  # Nobody is left.
        await s.say(run_id, "it is urgent")
        await s.runtime.ask_again(ApprovalId("apr_2"), OPERATOR)
        await s.work(timedelta(minutes=1))
        state = await s.runtime.state(run_id)
        await s.append(state, resume(state, ALICE))
        await s.work()
        await s.runtime.decide(await s.asked(run_id), Approve("go"), OPERATOR)
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def stopped_by_a_person(folder: Path) -> list[Recorded]:
    """A stop while an effect may be happening; what became of it is told after the end."""
    async with stage(folder, 6) as s:
        run_id = await s.runtime.start("label ORD-1", requester=ALICE)
        s.script.replies = [calls(("print_label", ORDER), ("ship", ORDER))]
        await s.work()
        await s.runtime.stop(run_id, ALICE, "wrong order")
        await s.work(timedelta(minutes=2))
        await s.runtime.decide(await s.asked(run_id), Settle("give_up"), OPERATOR)
        return await s.journal(run_id)


async def stopped_by_silence(folder: Path) -> list[Recorded]:
    """Nobody decides: of the one call that is its result, of the other it is the end."""
    async with stage(folder, 7) as s:
        run_id = await s.runtime.start("ship ORD-1, then close it", requester=ALICE)
        s.script.replies = [calls(("ship", ORDER)), calls(("close", ORDER))]
        await s.work()
        await s.work(HOUR)
        await s.work(2 * HOUR)
        return await s.journal(run_id)


async def a_budget_that_asks(folder: Path) -> list[Recorded]:
    """It may go on once, and then no more."""
    async with stage(folder, 8, Budget(model_calls=1)) as s:
        run_id = await s.runtime.start("find ORD-1", requester=ALICE)
        s.script.replies = [calls(("find", ORDER)), calls(("find", ORDER))]
        await s.work()
        await s.runtime.decide(await s.asked(run_id), Approve(more=Decimal(1)), OPERATOR)
        await s.work(timedelta(minutes=1))
        await s.runtime.decide(await s.asked(run_id), Deny("enough"), OPERATOR)
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def a_budget_that_stops(folder: Path) -> list[Recorded]:
    """It has used what it may."""
    async with stage(folder, 9, Budget(model_calls=1, on_reached="stop")) as s:
        run_id = await s.runtime.start("find ORD-1", requester=ALICE)
        s.script.replies = [calls(("find", ORDER))]
        await s.work()
        return await s.journal(run_id)


async def forked(folder: Path) -> list[Recorded]:
    """It begins where another had come to, with one call done and one not begun."""
    async with stage(folder, 10) as s:
        original = await s.runtime.start("find and pay ORD-1", requester=ALICE)
        s.script.replies = [
            calls(("find", ORDER), ("pay", ORDER)),
            says("ORD-1 is not paid, as you wish."),
        ]
        await s.work()
        at = len(await s.journal(original))
        run_id = await s.runtime.fork(original, at, ALICE, text="do not pay it")
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def a_conversation(folder: Path) -> list[Recorded]:
    """It goes on with what was said and done in a run before it."""
    async with stage(folder, 11) as s:
        first = await s.runtime.start("find ORD-1", requester=ALICE)
        s.script.replies = [calls(("find", ORDER)), says("Found."), says("Yesterday.")]
        await s.work()
        run_id = (await s.runtime.steer(first, "when?", ALICE, ref="ts-1")).run_id
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def a_model_of_a_provider(folder: Path) -> list[Recorded]:
    """It breaks off once, wants something back, and nobody knows what it costs."""
    async with stage(folder, 13, Budget(cost_usd=Decimal(1))) as s:
        run_id = await s.runtime.start("find ORD-1", requester=ALICE)

        async def breaks_off() -> ModelReply:
            paid = Usage(input_tokens=1_000, output_tokens=5, cost_usd=Decimal("0.002"))
            raise ModelUnavailable("it did not come to its end", usage=paid)

        unpriced = Usage(input_tokens=1_000, output_tokens=100, is_priced=False)
        message: dict[str, JsonValue] = {"parts": [{"signature": "signed", "content": "hm"}]}
        wants = ProviderState(lib="lib 1.0", model="some:model", message=message, texts=(2,))
        thought = replace(calls(("find", ORDER)), text="So", usage=unpriced, provider=wants)
        s.script.replies = [breaks_off, thought, says("ORD-1 is open.")]
        await s.work()
        await s.work(timedelta(minutes=1))
        await s.runtime.decide(await s.asked(run_id), Approve(), OPERATOR)
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def rewritten(folder: Path) -> list[Recorded]:
    """What is quoted and what is said reads otherwise, or is said to the run after all, or is how to go on."""
    return (await _rewritten(folder))[0]


async def handed_on(folder: Path) -> list[Recorded]:
    """It begins with what the run before it has ended without having heard."""
    return (await _rewritten(folder))[1]


async def _rewritten(folder: Path) -> tuple[list[Recorded], list[Recorded]]:
    async with stage(folder, 14, Budget(model_calls=2, on_reached="stop")) as s:
        others = [Quoted(by=BOB, text=f"ORD-{n}?", ref=f"ts-{n}") for n in (1, 2)]
        run_id = await s.runtime.start("pay", requester=ALICE, ref="ts-3", quoted=others)
        session = (await s.runtime.state(run_id)).session
        await s.runtime.edit_message("ts-1", "ORD-1!", BOB, session)
        await s.runtime.steer(run_id, "not ORD-2", BOB, ref="ts-2")

        async def last_thought() -> ModelReply:
            for n in (5, 6):
                await s.runtime.steer(run_id, f"and ORD-{n}", BOB, ref=f"ts-{n}")
            return says("Nothing is paid.")

        s.script.replies = [calls(("pay", ORDER)), last_thought, says("ORD-5 is open.")]
        await s.work()
        await s.runtime.steer(run_id, "find it first", ALICE, ref="ts-4")
        guided = Steer(guidance="find it first", ref="ts-4")
        await s.runtime.decide(await s.asked(run_id), guided, OPERATOR)
        await s.work(timedelta(minutes=1))
        await s.runtime.edit_message("ts-5", "and ORD-5, too", BOB, session)
        await s.runtime.delete_message("ts-6", BOB, session)
        following = await s.runtime.steer(run_id, "go on", ALICE, ref="ts-7")
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id), await s.journal(following.run_id)


async def a_dry_run(folder: Path) -> list[Recorded]:
    """A yes, and nothing happens."""
    async with stage(folder, 14, dry_run=True) as s:
        run_id = await s.runtime.start("find and pay ORD-1", requester=ALICE)
        s.script.replies = [
            calls(("find", ORDER), ("pay", ORDER)),
            says("I would have paid ORD-1."),
        ]
        await s.work()
        await s.runtime.decide(await s.asked(run_id), Approve(), OPERATOR)
        await s.work(timedelta(minutes=1))
        return await s.journal(run_id)


async def a_call_that_tells(folder: Path) -> list[Recorded]:
    """It says how far it is while it runs."""
    async with stage(folder, 14) as s:
        run_id = await s.runtime.start("count the orders", requester=ALICE)

        async def is_known() -> bool:
            return (await s.runtime.state(run_id)).calls[CallId("call_1")].progress is not None

        @tool(effect="read")
        async def tally(context: ToolContext) -> int:
            """Count the orders."""
            context.progress("3 of 7 orders")
            await until(is_known)
            return 7

        [agent] = s.engine.agents.values()
        agent = replace(agent, toolbox=Toolbox([tally]))
        engine = replace(s.engine, agents={agent.name: agent})
        s.script.replies = [calls(("tally", "{}")), says("Seven.")]
        await replace(s, engine=engine).work()
        return await s.journal(run_id)


async def a_long_conversation(folder: Path) -> list[Recorded]:
    """More than its model is told at once, and once more than it can read; in the end it is summed up."""
    async with stage(folder, 36, context_tokens=1_500) as s:
        first = await s.runtime.start("find ORD-1", requester=ALICE)
        long = json.dumps({"order": "ORD-1 " * 90})
        used = Usage(input_tokens=300, output_tokens=40, cost_usd=Decimal("0.001"))

        async def can_read_no_more() -> ModelReply:
            raise ContextOverflow("It is longer than the model can read at once.")

        s.script.replies = [
            *[replace(calls(("find", long)), usage=used)] * 4,
            can_read_no_more,
            replace(says("People want ORD-1 found. It is open."), usage=used),
            says("ORD-1 is open."),
            says("It was open."),
        ]
        await s.work()
        run_id = (await s.runtime.steer(first, "and yesterday?", ALICE, ref="ts-1")).run_id
        await s.work(timedelta(minutes=1))
        assert (await s.runtime.state(run_id)).answer == "It was open."
        return await s.journal(first)


STORIES: dict[str, Story] = {
    "0.1.0-people-and-time": people_and_time,
    "0.1.0-stopped-by-a-person": stopped_by_a_person,
    "0.1.0-stopped-by-silence": stopped_by_silence,
    "0.1.0-a-budget-that-asks": a_budget_that_asks,
    "0.1.0-a-budget-that-stops": a_budget_that_stops,
    "0.1.0-forked": forked,
    "0.1.0-a-conversation": a_conversation,
    "0.1.0-a-model-of-a-provider": a_model_of_a_provider,
    "0.1.0-rewritten": rewritten,
    "0.1.0-handed-on": handed_on,
    "0.1.0-a-dry-run": a_dry_run,
    "0.1.0-a-call-that-tells": a_call_that_tells,
    "0.1.0-a-long-conversation": a_long_conversation,
}


def as_lines(journal: Sequence[Recorded]) -> str:
    """The journal as a golden file holds it."""
    return "".join(f"{json.dumps(row(one), separators=(',', ':'))}\n" for one in journal)


def row(one: Recorded) -> dict[str, object]:
    return {
        "run_id": one.run_id,
        "seq": one.seq,
        "id": one.id,
        "at": one.at.isoformat().replace("+00:00", "Z"),
        "hash": one.hash,
        "event": dump_event(one.event),
    }
