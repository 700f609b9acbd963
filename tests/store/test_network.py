"""A network that is gone says nothing; the store says so in time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import make_url

from agent.errors import StoreUnavailable
from store import SqlStore
from store.server import Server
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.network import Network, network
from tests.store.story import begin

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

LONG = 30
PATIENCE = timedelta(seconds=1)


@pytest.fixture
async def between(url: str) -> AsyncIterator[tuple[Network, str]]:
    async with network(url) as made:
        yield made


@pytest.fixture
async def store(open_another: OpenAnother, between: tuple[Network, str]) -> SqlStore:
    return await open_another(url=between[1], patience=PATIENCE)


async def test_whoever_waits_is_told_and_goes_on_when_it_is_back(
    store: SqlStore, clock: ManualClock, between: tuple[Network, str]
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.read(run_id)
    between[0].take_away()
    async with asyncio.timeout(LONG):
        outcomes = await asyncio.gather(
            *(begin(store.journal, clock, f"run_{n}") for n in range(2, 5)),
            store.journal.read(run_id),
            return_exceptions=True,
        )
    assert [type(one) for one in outcomes] == [StoreUnavailable] * 4
    between[0].bring_back()
    await begin(store.journal, clock, "run_5")
    assert len(await store.journal.read(run_id)) == 1


async def test_a_store_can_be_closed_without_it(
    store: SqlStore, clock: ManualClock, between: tuple[Network, str]
) -> None:
    await store.journal.read(await begin(store.journal, clock))
    between[0].take_away()
    async with asyncio.timeout(LONG):
        await store.close()


async def test_each_side_asks_for_the_other_while_nothing_is_said(
    between: tuple[Network, str],
) -> None:
    connection = await Server(make_url(between[1]), PATIENCE).connect()
    try:
        ours: socket.socket = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
        assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 2
        # What it was told; it shows nothing where it is no network.
        source = await connection.fetch(
            "SELECT source FROM pg_settings WHERE name ~ '^tcp_(keepalives|user)'"
        )
        assert [row[0] for row in source] == ["client"] * 4
    finally:
        await connection.close()
