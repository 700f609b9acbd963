"""A run that waits for a yes in one process, and goes on in another. Offline; no Slack, no model key.

python examples/two_processes.py ask          # starts, asks, and ends: the run lives in letters.db
python examples/two_processes.py approve      # another process says yes: the letter is sent, once
"""

from __future__ import annotations

import asyncio
import sys

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
from store import open_store


@tool(approval=True, effect="idempotent")
def send_letter(to: str, context: ToolContext) -> str:
    """Send a letter."""
    # The post office would take the operation id as the letter's number, and send one of them.
    return f"sent to {to} as {context.operation_id}"


ME = Decider(Principal("cli:me"), authority="operator")
CALL = ModelCall("1", "send_letter", '{"to": "Ada"}')
MODEL = ScriptedModel([ModelReply(calls=(CALL,)), ModelReply(text="Ada's letter is on its way.")])


async def main(word: str) -> None:
    store = await open_store("sqlite:///letters.db")
    runtime = Runtime([Agent("letters", MODEL, Toolbox([send_letter]))], store)
    if word == "ask":
        await runtime.start("Write to Ada", requester=ME.principal, wait=True)
        print(
            "It waits for a yes. Say it in another process:", sys.executable, sys.argv[0], "approve"
        )
    for approval, _ in await runtime.approvals() if word == "approve" else []:
        state = await runtime.decide(approval.id, Approve(), ME, wait=True)
        print(state.answer)
    await store.close()


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ask"))
