"""Of two processes that start at once, what they judged by is true of one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.rules.calls import Call
from agent.rules.control import StampedControl
from agent.rules.effects import reserved
from agent.rules.events import CallStarted
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped
from agent.rules.state import RunState
from tests.agent.engine.bench import bench
from tests.agent.engine.crashing import HookedJournal, StoreWith
from tests.agent.engine.spending import Bank, limited, paying, used


@dataclass(frozen=True)
class MeetingJournal(HookedJournal):
    """The first starts of two processes are committed when both have judged."""

    meeting: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))
    met: list[RunId] = field(default_factory=list)

    async def intend(
        self,
        run_id: RunId,
        events: Sequence[Stamped],
        *,
        expected_seq: int,
        fence: int | None = None,
        control: Sequence[StampedControl] = (),
        redraws: str | None = None,
        verdict_seq: int | None = None,
    ) -> list[Recorded]:
        starts = any(isinstance(one.event, CallStarted) for one in events)
        if starts and run_id not in self.met:
            self.met.append(run_id)
            async with asyncio.timeout(10):
                await self.meeting.wait()
        return await self.inner.intend(
            run_id,
            events,
            expected_seq=expected_seq,
            fence=fence,
            control=control,
            redraws=redraws,
            verdict_seq=verdict_seq,
        )


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
