"""Runs as this version writes them, event for event: ids are counted, and the clock is moved by hand.

Each story's journal stands in ``tests/journals``. A file there is never changed: what a later version writes
otherwise becomes a story, and a file, of its own (``as_lines`` of the journal that it gives).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from pydantic import JsonValue

from agent import Approve, Deny, Settle, Steer, Toolbox, ToolContext, tool
from agent.ports import ContextOverflow, ModelReply, ModelUnavailable
from agent.rules.budgets import Budget
from agent.rules.decisions import Decider
from agent.rules.freeze import DAYS, FreezeWindow
from agent.rules.ids import ApprovalId, CallId
from agent.rules.parts import (
    ProviderState,
    Quoted,
    Usage,
)
from agent.rules.people import resume
from agent.rules.recorded import Recorded, dump_event
from tests.agent.engine.bench import ALICE, OPERATOR, calls, says, until
from tests.agent.engine.golden_stage import HOUR, Unversioned, stage
from tests.agent.rules.histories import BOB

ORDER = '{"order":"ORD-1"}'
OWNER = Decider(BOB, authority="operator")
EDITED_AT = datetime(2026, 11, 29, 11, 59, tzinfo=UTC)
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


async def edits_out_of_order(folder: Path) -> list[Recorded]:
    """What it begins with, is told and is quoted is left as the newest edit has it, though an older one comes last."""
    async with stage(folder, 14) as s:
        hers = Quoted(by=BOB, text="ORD-2, I think", ref="ts-1", as_of=EDITED_AT)
        run_id = await s.runtime.start(
            "find ORD-1", requester=ALICE, ref="ts-2", quoted=[hers], as_of=EDITED_AT
        )
        session = (await s.runtime.state(run_id)).session
        await s.runtime.steer(run_id, "and ORD-3", BOB, ref="ts-3", as_of=EDITED_AT)
        for seconds, text in ((1, "newer"), (-1, "older")):
            for ref, by in (("ts-1", BOB), ("ts-2", ALICE), ("ts-3", BOB)):
                as_of = EDITED_AT + timedelta(seconds=seconds)
                await s.runtime.edit_message(ref, text, by, session, as_of=as_of)
        s.script.replies = [says("It is open.")]
        await s.work()
        return await s.journal(run_id)


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


async def a_limit(folder: Path) -> list[Recorded]:
    """Two may be paid in a day; people let a third through."""
    limit = {"count": True, "per": ["user", "day"], "max": 2, "zone": "Europe/Berlin"}
    rules = [{"tool": "pay", "action": "allow", "limit": limit}]
    policy = Unversioned.model_validate({"owners": {"users": ["U0CAROL"]}, "rules": rules})
    async with stage(folder, 19, policy=policy) as s:
        run_id = await s.runtime.start("pay ORD-1 three times", requester=ALICE)
        s.script.replies = [calls(*[("pay", ORDER)] * 3), says("All three are paid.")]
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


async def a_switch_and_a_window(folder: Path) -> list[Recorded]:
    """All of it is switched off for a while; then a call waits for a window to end."""
    async with stage(folder, 16) as s:
        [agent] = s.engine.agents.values()
        today = DAYS[s.clock.now().weekday()]
        written = {"tools": "find", "days": [today], "from": "00:00", "to": "24:00", "zone": "UTC"}
        window = FreezeWindow.model_validate({**written, "reason": "stocktaking"})
        policy = agent.policy.model_copy(update={"freeze": (window,)})
        engine = replace(s.engine, agents={agent.name: replace(agent, policy=policy)})
        s = replace(s, engine=engine)
        run_id = await s.runtime.start("find ORD-1", requester=ALICE)
        switching = s.runtime.switching
        await switching.turn("agent:orders", OWNER, "a drill", is_on=True)
        s.script.replies = [calls(("find", ORDER)), says("It is open.")]
        await s.work()
        await switching.turn("agent:orders", OWNER, "", is_on=False)
        await s.work(timedelta(minutes=1))
        await s.work(24 * HOUR)
        return await s.journal(run_id)


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
    "0.1.0-edits-out-of-order": edits_out_of_order,
    "0.1.0-a-dry-run": a_dry_run,
    "0.1.0-a-limit": a_limit,
    "0.1.0-a-call-that-tells": a_call_that_tells,
    "0.1.0-a-switch-and-a-window": a_switch_and_a_window,
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
