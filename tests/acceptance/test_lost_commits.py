"""The server has done what somebody wanted, and the answer to its commit does not arrive: the bot finds out, what
people are told and shown is true, and all of it happens once."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from tests.acceptance.town import Thread, Town, read_journals, town
from tests.store.conftest import on_postgres
from tests.store.network import Network, network

T = TypeVar("T")

pytestmark = [on_postgres, pytest.mark.usefixtures("kind"), pytest.mark.timeout(180)]

COMMIT = b"COMMIT;"


@dataclass
class Team:
    """People, a bot, and the network between it and its server."""

    town: Town
    between: Network

    async def losing(self, fact: str, act: Awaitable[T]) -> T:
        """What is done ends in this fact, and the answer to its commit is lost."""
        self.between.end_at_answer_to(COMMIT, behind=f'"{fact}"'.encode())
        done = await act
        await self.town.until(lambda: self.between.has_ended or None, f"the loss behind {fact}")
        return done

    async def card(self, thread: Thread) -> str:
        return str((await self.town.card(thread))["ts"])

    async def is_done(self, thread: Thread, card: str, words: str) -> None:
        assert words in (await self.town.closed_card(thread, card))["text"]
        await self.town.says(thread, "is complete")


@pytest.fixture
async def team(tmp_path: Path, url: str) -> AsyncIterator[Team]:
    async with (
        network(url) as (between, through),
        # A message that is too late for its acknowledgement is delivered again.
        town(tmp_path, url, bots=1, through=through, allow_violations=True) as town_of_team,
    ):
        yield Team(town_of_team, between)


async def test_what_people_do_holds_once(team: Team, url: str) -> None:
    here = team.town
    first = await team.losing("run_started", here.start("command", "refund ORD-1 180"))
    card = await team.card(first)
    await team.losing("approval_decided", here.click("U0BOB", first, card, "approval.approve"))
    await team.is_done(first, card, "Approved by")

    second = await team.losing("run_started", here.start("mention", "refund ORD-2 180"))
    card = await team.card(second)
    sent = await team.losing("approval_decided", here.steer("U0BOB", second, card, amount="60"))
    assert sent["acknowledged"]
    await team.is_done(second, card, "$180.00 → $60.00")

    third = await here.start("direct", "refund ORD-3 180")
    card = await team.card(third)
    told = {"channel": third.channel, "thread_ts": third.ts, "text": "only if it is urgent"}
    await team.losing("message_received", here.act("U0ALICE", "message", **told))
    await here.says(third, "wrote while this waits")
    await team.losing("call_started", here.click("U0BOB", third, card, "approval.approve"))
    await team.is_done(third, card, "Approved by")

    assert here.ledger() == {"ORD-1": 180.0, "ORD-2": 60.0, "ORD-3": 180.0}
    # Nobody was told of a failure: there was none.
    assert here.told("U0ALICE") + here.told("U0BOB") == []
    kinds = Counter(row["event"]["kind"] for run in read_journals(url) for row in run)
    for kind in ("run_started", "approval_decided", "run_finished"):
        assert kinds[kind] == 3, kinds
    assert kinds["call_started"] == kinds["call_returned"] == 6
    assert kinds["message_received"] == 1
