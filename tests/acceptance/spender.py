"""A process that spends as fast as it may.

Run as ``python -m tests.acceptance.spender URL FOLDER RUNS``. It says that it is ready, waits for a line, plays so
many runs at once, each of which wants to pay 30 twice, and prints how many calls were refused. What was paid is a line
in ``FOLDER/paid``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from agent import Agent, Money, Policy, Rejected, Runtime, ScriptedModel, Toolbox, ToolContext, tool
from agent.ports import ModelCall, ModelReply
from agent.rules.ids import Principal
from store import open_store

URL, FOLDER, RUNS = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
#: For good: no midnight comes between.
LIMIT = {"sum": "args.amount", "per": ["tool"], "max": 600, "when_over": "deny"}
POLICY = {
    "owners": {"users": ["U0BOB"]},
    "rules": [{"tool": "pay", "action": "allow", "limit": LIMIT}],
}


@tool(effect="once")
async def pay(amount: Annotated[Decimal, Money("USD")], context: ToolContext) -> str:
    """Pay; the first time that this process does, nothing happens."""
    await asyncio.sleep(0)
    if not FAILED:
        FAILED.append(context.operation_id)
        raise Rejected("no")
    with (FOLDER / "paid").open("a") as file:
        file.write(f"{amount}\n")
        file.flush()
        os.fsync(file.fileno())
    return "paid"


FAILED: list[str] = []


async def main() -> int:
    store = await open_store(URL, data=FOLDER)
    pays = ModelCall("m", "pay", '{"amount": 30}')
    model = ScriptedModel([ModelReply(calls=(pays, pays)), ModelReply("done")])
    agent = Agent("spender", model, Toolbox([pay]), Policy.model_validate(POLICY))
    runtime = Runtime([agent], store)

    async def play() -> int:
        run_id = await runtime.start("go", requester=Principal("cli:test"))
        state = await runtime.settle(run_id)
        assert state.ending == "finished", state.error
        results = [call.result for call in state.calls.values()]
        return sum(result is not None and result.outcome == "refused" for result in results)

    try:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        return sum(await asyncio.gather(*(play() for _ in range(RUNS))))
    finally:
        await store.close()


if __name__ == "__main__":
    (FOLDER / "paid").touch()
    sys.stdout.write(f"{asyncio.run(main())}\n")
