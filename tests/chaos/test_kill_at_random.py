"""Bots killed with SIGKILL at random moments, again and again, while people start and decide runs."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from store import open_store
from tests.acceptance.town import PLACES, Thread, Town, action_ids, town

ROUNDS = 4
SEED = 20261129


@dataclass
class Chaos:
    """Bots die for so many seconds, at the least so often; ``is_over`` then."""

    seconds: float
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    #: Held by whoever speaks, until it is heard: what nobody took Slack sends again a minute later.
    quiet: asyncio.Lock = field(default_factory=asyncio.Lock)


async def _kill_now_and_then(place: Town, chaos: Chaos) -> None:
    """One of the bots dies, at any moment, and another takes its place."""
    loop = asyncio.get_running_loop()
    ends_at, rounds = loop.time() + chaos.seconds, 0
    while rounds < ROUNDS or loop.time() < ends_at:
        await asyncio.sleep(chaos.chance.uniform(0.0, 0.6))
        async with chaos.quiet:
            await place.kill(chaos.chance.choice(place.bots))
        await place.open_bots(1)
        rounds += 1
    chaos.is_over.set()


async def _refund(place: Town, order: str, chaos: Chaos) -> None:
    """Ask, decide as a person would: click until the card has no buttons."""
    if chaos.seconds:
        async with chaos.quiet:
            thread = await _ask(place, order)
            await place.until(lambda: len(place.thread(thread)) > 1, f"{order} is heard")
        ts = (await place.card(thread))["ts"]
    else:
        thread = await _ask(place, order)
        ts = (await place.card(thread))["ts"]
        await chaos.is_over.wait()
    while action_ids(place.message(thread, ts)):
        await place.click("U0BOB", thread, ts, "approval.approve")
        await asyncio.sleep(0.2)
    await place.says(thread, f"Refund of $180.00 for {order} is complete.")


async def _ask(place: Town, order: str) -> Thread:
    return await place.start("mention", f"refund {order} 180")


async def _refunds(place: Town, person: int, chaos: Chaos) -> list[str]:
    """One that is decided when all is quiet again; where bots die for long, one after the other."""
    orders: list[str] = []
    while not chaos.is_over.is_set():
        orders.append(f"ORD-{person}{len(orders):03}")
        await _refund(place, orders[-1], chaos)
    return orders


async def _kinds(url: str) -> list[Counter[str]]:
    """What each run's journal holds how often."""
    store = await open_store(url)
    try:
        runs = await store.lists.runs(limit=10_000)
        journals = [await store.journal.read(run.run_id) for run in runs]
    finally:
        await store.close()
    return [Counter(one.event.kind for one in journal) for journal in journals]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("kind", "transport"), PLACES, indirect=["kind"])
async def test_every_run_ends_once_whatever_is_killed(
    tmp_path: Path, url: str, transport: str, chaos_seconds: float
) -> None:
    chaos = Chaos(chaos_seconds)
    # Whoever is killed leaves unanswered what was just sent to it.
    async with town(tmp_path, url, transport, allow_violations=True) as place:
        _, *done = await asyncio.gather(
            _kill_now_and_then(place, chaos),
            *(_refunds(place, person, chaos) for person in range(1, 5)),
        )
        orders = [order for some in done for order in some or ()]
        assert place.ledger() == dict.fromkeys(orders, 180.0)
        journals = await _kinds(url)
        assert len(journals) == len(orders)
        for kinds in journals:
            assert kinds["approval_requested"] == kinds["approval_decided"] == 1
            assert kinds["run_finished"] == 1
            assert kinds["call_returned"] == 2
        # Nothing was posted twice, whatever answer was lost.
        for message in place.sandbox.messages("C0SUPPORT"):
            keys = Counter(
                m["metadata"]["event_payload"]["key"]
                for m in place.sandbox.messages("C0SUPPORT", message["ts"])
                if m.get("metadata")
            )
            assert set(keys.values()) == {1}
