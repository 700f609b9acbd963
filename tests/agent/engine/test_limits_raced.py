"""Of two processes that start at once, what they judged by is true of one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pytest

from agent.rules.calls import Call
from agent.rules.effects import reserved
from agent.rules.events import CallStarted
from agent.rules.ids import RunId
from agent.rules.recorded import Stamped
from agent.rules.state import RunState
from tests.agent.engine.bench import bench
from tests.agent.engine.crashing import StoreWith
from tests.agent.engine.journal_around import JournalAround, Way
from tests.agent.engine.spending import Bank, limited, paying, used

T = TypeVar("T")


@dataclass
class MeetingJournal(JournalAround):
    """The first starts of two processes are committed when both have judged."""

    meeting: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))
    met: list[RunId] = field(default_factory=list)

    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        starts = any(isinstance(one.event, CallStarted) for one in events)
        if starts and run_id not in self.met:
            self.met.append(run_id)
            async with asyncio.timeout(10):
                await self.meeting.wait()
        return await append()


@pytest.mark.parametrize("over", ["ask", "deny"])
async def test_of_two_that_start_at_once_the_second_is_judged_again(
    tmp_path: Path, over: str
) -> None:
    bank = Bank()
    async with bench(tmp_path, [bank.tool()], paying(300), limited(over=over)) as b:
        journal = MeetingJournal(b.store.journal)
        met = replace(b, engine=replace(b.engine, store=StoreWith(b.store, journal)))
        runs = [await b.start(), await b.start()]
        guards = [await b.claim(), await b.claim()]
        stopping = asyncio.Event()
        await asyncio.gather(*(met.engine.advance(guard, stopping) for guard in guards))
        states = [await b.runtime.state(run_id) for run_id in runs]
        assert len(journal.met) == 2
        assert (bank.paid, await used(b, _first(states))) == ([300], 300)
        second = next(state for state in states if not reserved(state))
        if over == "ask":
            (asked,) = second.open_approvals
            assert "would make $600.00 of $500.00" in asked.requested.reason
        else:
            (call,) = second.calls.values()
            assert _outcome(call) == "refused"


def _first(states: Sequence[RunState]) -> RunState:
    return next(state for state in states if reserved(state))


def _outcome(call: Call) -> str | None:
    return call.result.outcome if call.result else None
