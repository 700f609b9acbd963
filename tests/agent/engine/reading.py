"""A run that reads page after page, so that its conversation becomes long: its model, its tools, its process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent import Agent, Policy, Runtime, Toolbox, ToolContext, tool
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.long_conversations import size_of
from agent.engine.new_ids import UuidIds
from agent.ports import ContextOverflow, Journal, Model, ModelReply, ModelRequest, Store
from agent.rules.budgets import Budget
from agent.rules.ids import RunId
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.parts import Usage
from agent.rules.recorded import Recorded
from agent.rules.rule import People
from agent.rules.transcript import AssistantMessage, Message, UserMessage
from agent.tools.declare import Tool
from store import open_store
from tests.agent.engine.bench import TERM, calls, says
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.crashing import StoreWith
from tests.agent.engine.strict import StrictModel
from tests.store.files import with_tables

ROOM = 4_000
PAGE = "nothing of interest here. " * 60
USED = Usage(input_tokens=10, output_tokens=5)
POLICY = Policy.model_validate(
    {
        "owners": {"users": ["U0BOB"]},
        "rules": [{"tool": "pay", "action": "ask"}, {"tool": "*", "action": "allow"}],
    }
)


async def nothing() -> None:
    """It goes on as it is."""


@dataclass
class Reader:
    """Notes that it has begun, reads ``pages`` pages, a call each, and says so. It reads ``limit`` tokens at most, by
    our own estimate."""

    pages: int
    limit: int | None = None
    #: In place of reading the page of this number: this call.
    instead: dict[int, tuple[str, str]] = field(default_factory=dict)
    #: What it says to be asked for a summary, while it thinks of it.
    thinking: Callable[[], Awaitable[None]] = nothing
    summary: str = "Nothing was found so far."
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "reader"

    async def reply(self, request: ModelRequest) -> ModelReply:
        if self.limit is not None and size_of(request) > self.limit:
            raise ContextOverflow("The conversation is longer than the reader can read at once.")
        self.requests.append(request)
        if request.is_for_summary:
            await self.thinking()
            return ModelReply(self.summary, usage=USED)
        page = sum(map(answers, request.messages))
        if page == 0:
            return calls(("note_down", '{"page":0}'))
        if page <= self.pages:
            return calls(self.instead.get(page, ("look_up", f'{{"page":{page}}}')))
        return says("Nothing was found.")

    @property
    def summaries(self) -> int:
        """How often it was asked for one."""
        return sum(request.is_for_summary for request in self.requests)


def answers(message: Message) -> int:
    """How many replies of the model it is, or stands for."""
    if isinstance(message, UserMessage):
        return message.stands_for
    return int(isinstance(message, AssistantMessage))


@dataclass
class Desk:
    """One process, and what its tools have done."""

    store: Store
    clock: SteppedClock
    runtime: Runtime
    engine: Engine

    async def work(self) -> None:
        while leases := await self.store.run_leases.claim("p", TERM, 10):
            for lease in leases:
                await self.engine.advance(LeaseGuard(lease, TERM), asyncio.Event())

    async def journal(self, run_id: RunId) -> list[Recorded]:
        return await self.store.journal.read(run_id)

    async def summaries(self, run_id: RunId) -> list[ConversationSummarised]:
        events = [one.event for one in await self.journal(run_id)]
        return [event for event in events if isinstance(event, ConversationSummarised)]


def tools(noted: list[str], page: str = PAGE) -> Sequence[Tool]:
    @tool(effect="read")
    def look_up(page: int) -> str:
        """Look a page up."""
        return f"page {page}: {text}"

    @tool(effect="once")
    def note_down(page: int, context: ToolContext) -> str:
        """Note a page down."""
        noted.append(context.operation_id)
        return f"noted page {page}"

    @tool(effect="once")
    def pay(amount: int, context: ToolContext) -> str:
        """Pay somebody."""
        noted.append(context.operation_id)
        return f"paid {amount}"

    text = page
    return [look_up, note_down, pay]


@asynccontextmanager
async def desk(
    folder: Path,
    reader: Model,
    *,
    context_tokens: int | None = ROOM,
    budget: Budget | None = None,
    noted: list[str] | None = None,
    page: str = PAGE,
    clock: SteppedClock | None = None,
    around: Callable[[Journal], Journal] = lambda journal: journal,
) -> AsyncIterator[Desk]:
    clock = clock or SteppedClock()
    opened = await open_store(with_tables(folder / "runs.db"), clock=clock)
    store = StoreWith(opened, around(opened.journal))
    agent = Agent(
        "reader",
        StrictModel(reader),
        Toolbox(tools([] if noted is None else noted, page)),
        POLICY.model_copy(update={"owners": People(users=("U0BOB",))}),
        "You read pages, and tell what stands in them.",
        budget=budget,
        context_tokens=context_tokens,
    )
    try:
        runtime = Runtime([agent], store)
        yield Desk(store, clock, runtime, Engine(store, {agent.name: agent}, UuidIds()))
    finally:
        await opened.close()
