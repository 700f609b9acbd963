"""What a bot does, and what people look at, beside years of runs that ended: whether any of it grows with them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

from slack_sdk.web.async_client import AsyncWebClient

from agent import Agent, Policy, Runtime, Toolbox
from agent.engine.agents import NoModel
from agent.housekeeping import Housekeeping
from agent.mending import mend_all
from agent.rules.decisions import Decider
from agent.rules.ids import Principal, RunId
from agent.rules.retention import STATUSES, Retention
from benchmarks.figures import figure
from benchmarks.homes import OnePerson
from benchmarks.store.appends import opened
from benchmarks.store.history import APART, grow
from bot.slack.app import make_services
from bot.slack.home.gathering import gathered
from bot.slack.payloads import Actor
from bot.slack.people import People
from bot.slack.services import Services
from store import SqlStore
from tests.store.server import running
from tests.store.story import BOB, begin, decided, replied, stamps

FEW, MANY, MILLION = 2_000, 20_000, 1_000_000
#: So many wait, and so many are old enough to be removed, however many there are.
WAITING, DUE, CHECKED = 100, 200, 500
PAGE, LOOKS = 20, 9
#: What is looked for among so many more takes a step or two more in each index, and finds less in memory.
MOST: Final = 2.0
TERM = timedelta(hours=1)
AS_BOB = Decider(BOB, "UBOB", frozenset({"S1"}))
ASKER = Principal("slack:T1:U7")


@dataclass(frozen=True, slots=True)
class Place:
    """A database, its store open."""

    url: str
    ended: int
    store: SqlStore

    @property
    def services(self) -> Services:
        """Of a bot, which knows Bob already."""
        slack = cast("AsyncWebClient", OnePerson())
        runtime = Runtime([Agent("refunds", NoModel(), Toolbox(), Policy())], self.store)
        return make_services(runtime, slack, people=People(slack))


async def figures(folder: Path, many: int = MANY) -> AsyncIterator[dict[str, object]]:
    """Among so many runs that ended: with ``MILLION`` it takes minutes."""
    files = [f"sqlite:///{folder}/years-{n}.db" for n in (FEW, many)]
    async for one in _compared("SQLite", files, many):
        yield one
    with running(is_durable=True) as server, server.database() as few, server.database() as most:
        async for one in _compared("PostgreSQL", [few, most], many):
            yield one


async def _compared(kind: str, urls: list[str], many: int) -> AsyncIterator[dict[str, object]]:
    for url, ended in zip(urls, (FEW, many), strict=True):
        await grow(url, ended=ended, waiting=WAITING)
    async with AsyncExitStack() as stack:
        few, most = [
            Place(url, ended, await stack.enter_async_context(opened(url)))
            for url, ended in zip(urls, (FEW, many), strict=True)
        ]
        for name, look in LOOKED_AT.items():
            took = [
                (await _seconds(look, few, n), await _seconds(look, most, n)) for n in range(LOOKS)
            ]
            # The best of each: what else the machine does is not what is measured.
            less, more = (min(both) * 1e3 for both in zip(*took, strict=True))
            which = f"{name}, {kind}, N={many} runs that ended / N={FEW}"
            yield figure(which, more / less, MOST, few_ms=less, many_ms=more)
        of_each = await _seconds(_sizes, few, 0) / FEW, await _seconds(_sizes, most, 0) / many
        which = f"db sizes, for each run, {kind}, N={many} runs that ended / N={FEW}"
        less, more = (one * 1e6 for one in of_each)
        yield figure(which, more / less, MOST, few_us=less, many_us=more)


async def _seconds(look: Look, place: Place, turn: int) -> float:
    begun = time.perf_counter()
    await look(place, turn)
    return time.perf_counter() - begun


async def _pending(place: Place, turn: int) -> None:
    assert len(await place.store.lists.approvals(limit=PAGE)) == PAGE


async def _mine(place: Place, turn: int) -> None:
    assert len(await place.store.lists.waiting_for(AS_BOB, limit=PAGE)) == PAGE


async def _lately(place: Place, turn: int) -> None:
    assert len(await place.store.lists.decided_lately(BOB, limit=PAGE)) == PAGE


async def _runs(place: Place, turn: int) -> None:
    assert len(await place.store.lists.runs(limit=PAGE)) == PAGE


async def _runs_of_asker(place: Place, turn: int) -> None:
    assert await place.store.lists.runs(limit=PAGE, requester=ASKER)


async def _home(place: Place, turn: int) -> None:
    assert (await gathered(place.services, Actor("UBOB", "T1"))).waiting


async def _claim(place: Place, turn: int) -> None:
    """As a bot does that looks for work, and of the other loop for threads."""
    await place.store.run_leases.claim("bench", TERM, 10)
    await place.store.thread_leases.claim("bench", TERM, 10)


async def _decide(place: Place, turn: int) -> None:
    number = f"{WAITING - 1 - turn:08}"
    decision = decided(f"apr_waits_{number}")
    run_id = RunId(f"run_waits_{number}")
    await place.store.journal.intend(run_id, stamps(place.store.clock, decision), expected_seq=4)


async def _start(place: Place, turn: int) -> None:
    await begin(place.store.journal, place.store.clock, f"run_new_{turn}", place="C1:2.1")


async def _append(place: Place, turn: int) -> None:
    event = stamps(place.store.clock, replied())
    await place.store.journal.intend(RunId(f"run_new_{turn}"), event, expected_seq=1)


async def _open(place: Place, turn: int) -> None:
    async with opened(place.url) as store:
        assert await store.lists.runs(limit=1)


async def _mend(place: Place, turn: int) -> None:
    """As a bot does when it starts."""
    await mend_all(place.store, at_sight=True)


async def _unfinished(place: Place, turn: int) -> None:
    """What a bot looks through when it starts and its file has a rule for a tool that is gone."""
    assert len(await place.services.runtime.unfinished(limit=10**6)) >= WAITING


async def _preview(place: Place, turn: int) -> None:
    age = (place.ended - DUE) * APART
    retention = Retention({"audit": dict.fromkeys(STATUSES, age)})
    swept = await Housekeeping(place.store, lambda: retention, BOB).preview()
    assert swept.removed["audit"] + swept.spared.total() >= DUE


async def _sizes(place: Place, turn: int) -> None:
    """It looks at all there is."""
    assert (await place.store.purges.sizes(Retention())).events


async def _verify(place: Place, turn: int) -> None:
    runs = 0
    async for _, looked in place.store.verifier.first_looks():
        assert looked is not None
        if (runs := runs + 1) == CHECKED:
            return


Look = Callable[[Place, int], Awaitable[None]]
LOOKED_AT: dict[str, Look] = {
    f"a list of {PAGE} that wait": _pending,
    f"a list of {PAGE} that wait for somebody": _mine,
    f"a list of {PAGE} that somebody decided": _lately,
    f"a list of {PAGE} runs": _runs,
    f"a list of {PAGE} runs of somebody": _runs_of_asker,
    "reading for a Home tab": _home,
    "claims of runs and of threads": _claim,
    "a decision": _decide,
    "the start of a run": _start,
    "an append": _append,
    "opening the store": _open,
    "mending at a bot's start": _mend,
    "reading the runs that have not ended": _unfinished,
    f"saying what retention would remove, of {DUE}": _preview,
    f"verifying {CHECKED} runs": _verify,
}
