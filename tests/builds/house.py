"""One process at work, of whatever build is on the path: ``python house.py URL LEDGER``.

It works runs until it is told to stop, starts and decides as it is told on its standard input, and
answers each line with one. Each letter that is sent is a line of the ledger. Keep to what every build
has that the tests run.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from datetime import timedelta

from agent import (
    Agent,
    Approve,
    Decider,
    ModelCall,
    ModelReply,
    Principal,
    Runtime,
    ScriptedModel,
    Toolbox,
    ToolContext,
    tool,
)
from agent.errors import AlreadyDecided
from store import migrations, open_store

URL, LEDGER = sys.argv[1:]
ME = Decider(Principal("cli:me"), authority="operator")


@tool(approval=True, effect="once")
def send_letter(to: str, context: ToolContext) -> str:
    """Send a letter."""
    with open(LEDGER, "a") as ledger:
        ledger.write(f"{context.run_id}\n")
    return f"sent to {to}"


MODEL = ScriptedModel(
    [
        ModelReply(calls=(ModelCall("1", "send_letter", '{"to": "Ada"}'),)),
        ModelReply(text="It is on its way."),
    ]
)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def start(runtime: Runtime, key: str) -> None:
    say(await runtime.start("Write to Ada", requester=ME.principal, key=key))


async def approve_all(runtime: Runtime) -> None:
    """Whatever waits for a yes, unless somebody else is faster."""
    approved = 0
    for approval, _ in await runtime.approvals():
        with suppress(AlreadyDecided):
            await runtime.decide(approval.id, Approve(), ME)
            approved += 1
    say(approved)


async def obey(runtime: Runtime) -> None:
    while words := (await asyncio.to_thread(sys.stdin.readline)).split():
        match words:
            case ["start", key]:
                await start(runtime, key)
            case ["approve"]:
                await approve_all(runtime)
            case _:
                raise ValueError(words)


async def beat(runtime: Runtime, process_id: str) -> None:
    while True:
        await asyncio.sleep(1)
        await runtime.store.processes.beat(process_id)


async def main() -> None:
    store = await open_store(URL)
    process_id = f"proc_{os.getpid()}"
    runtime = Runtime([Agent("letters", MODEL, Toolbox([send_letter]))], store, build="test")
    await store.processes.join(runtime.process(process_id, draws=False))
    worker = runtime.worker(process_id=process_id)
    running = [asyncio.create_task(one) for one in (worker.run(), beat(runtime, process_id))]
    say("knows", migrations.HEAD)
    await obey(runtime)
    await worker.stop(timedelta(seconds=20))
    for task in running:
        task.cancel()
    ended = await asyncio.gather(*running, return_exceptions=True)
    await store.processes.leave(process_id)
    await store.close()
    for one in ended:
        if isinstance(one, Exception):
            raise one


asyncio.run(main())
