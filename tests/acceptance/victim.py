"""A process that kills itself with SIGKILL at a chosen point, the first time it gets there.

Run as ``python -m tests.acceptance.victim URL FOLDER STAGE``. It starts one run (or finds it), works until
the run rests, and prints the run's shape as JSON. Effects are lines in ``effects``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent import Agent, Committed, Rejected, Runtime, ScriptedModel, Toolbox, ToolContext, tool
from agent.ports import ModelCall, ModelReply, ModelRequest
from agent.rules.ids import Principal
from agent.rules.shapes import run_shape
from store import open_store

URL, FOLDER, STAGE = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
EFFECTS = FOLDER / "effects"


def die_at(stage: str) -> None:
    """SIGKILL at this stage, once."""
    marker = FOLDER / "died"
    if stage == STAGE and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def effect(line: str) -> None:
    with EFFECTS.open("a") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


@tool(approval=False, effect="read", timeout=0.2)
async def look() -> str:
    """Look something up."""
    effect("look")
    die_at("read")
    return "seen"


@tool(approval=False, effect="idempotent", timeout=0.2)
async def put(context: ToolContext) -> str:
    """Put something, once an operation id."""
    die_at("idempotent-before")
    if f"put {context.operation_id}" not in EFFECTS.read_text().splitlines():
        effect(f"put {context.operation_id}")
    die_at("idempotent-after")
    return "put"


async def find(operation_id: str) -> Committed:
    """Did it happen?"""
    if f"send {operation_id}" in EFFECTS.read_text().splitlines():
        return Committed("found")
    raise Rejected("not found")


async def _send(context: ToolContext) -> str:
    die_at("once-before")
    effect(f"send {context.operation_id}")
    die_at("once-after")
    return "sent"


@tool(approval=False, effect="once", timeout=0.2, reconcile=find)
async def send_findable(context: ToolContext) -> str:
    """Send something that can be looked up."""
    return await _send(context)


@tool(approval=False, effect="once", timeout=0.2)
async def send_blind(context: ToolContext) -> str:
    """Send something that can't be looked up."""
    return await _send(context)


class Mortal(ScriptedModel):
    """A model in whose second request the process may die."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        if len(request.messages) > 1:
            die_at("model")
        return await super().reply(request)


def _script() -> list[ModelReply]:
    once = "send_blind" if (FOLDER / "blind").exists() else "send_findable"
    wanted = ("look", "put", once)
    return [*(ModelReply(calls=(ModelCall("m", t, "{}"),)) for t in wanted), ModelReply("done")]


async def main() -> dict[str, Any]:
    store = await open_store(URL, data=FOLDER)
    tools = Toolbox([look, put, send_findable, send_blind])
    agent = Agent("mortal", Mortal(_script()), tools)
    runtime = Runtime([agent], store, term=timedelta(hours=1))
    try:
        run_id = await runtime.start("go", requester=Principal("cli:test"), key="one")
        state = await runtime.settle(run_id)
        return run_shape(state, now=store.clock.now())
    finally:
        await store.close()


if __name__ == "__main__":
    EFFECTS.touch()
    sys.stdout.write(json.dumps(asyncio.run(main())))
