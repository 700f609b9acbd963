"""Bots killed with SIGKILL at random moments, again and again, while people start and decide runs."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.town import PLACES, Json, Town, action_ids, town

ROUNDS = 4
SEED = 20261129


async def _kill_now_and_then(place: Town, chance: random.Random, over: asyncio.Event) -> None:
    """One of the bots dies, at any moment, and another takes its place."""
    for _ in range(ROUNDS):
        await asyncio.sleep(chance.uniform(0.0, 0.6))
        await place.kill(chance.choice(place.bots))
        await place.open_bots(1)
    over.set()


async def _refund(place: Town, order: str, over: asyncio.Event) -> None:
    """Ask, decide as a person would: click until the card has no buttons."""
    thread = await place.start("mention", f"refund {order} 180")
    ts = (await place.card(thread))["ts"]
    await over.wait()
    while action_ids(place.message(thread, ts)):
        await place.click("U0BOB", thread, ts, "approval.approve")
        await asyncio.sleep(0.2)
    await place.says(thread, f"Refund of $180.00 for {order} is complete.")


def _kinds(journal: list[Json]) -> Counter[str]:
    return Counter(event["kind"] for event in journal)


@pytest.mark.parametrize(("kind", "transport"), PLACES, indirect=["kind"])
async def test_every_run_ends_once_whatever_is_killed(
    tmp_path: Path, url: str, transport: str
) -> None:
    orders = [f"ORD-{n}" for n in range(1, 5)]
    chance, over = random.Random(SEED), asyncio.Event()
    # Whoever is killed leaves unanswered what was just sent to it.
    async with town(tmp_path, url, transport, allow_violations=True) as place:
        await asyncio.gather(
            _kill_now_and_then(place, chance, over),
            *(_refund(place, order, over) for order in orders),
        )
        assert place.ledger() == dict.fromkeys(orders, 180.0)
        for journal in await place.journals():
            kinds = _kinds(journal)
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
