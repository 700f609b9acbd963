"""Rows are compared with a journal while its run goes on: that is no difference."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection

from agent.rules.state import RunState
from store import SqlStore, open_store, projections
from tests.store.clock import ManualClock
from tests.store.outside import in_thread
from tests.store.story import decided, stamps
from tests.store.test_projections import RUN, ask_people, state_of


async def test_what_is_decided_between_two_looks_is_no_difference(
    store: SqlStore, clock: ManualClock, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its approval's row was read while people were waited for, and for whom it waits when they were not any more."""
    state = await ask_people(store, clock)
    look, left = projections._awaited, ["one"]

    async def decide() -> None:
        other = await open_store(url, clock=clock)
        try:
            await other.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
        finally:
            await other.close()

    def look_later(connection: Connection, state: RunState) -> Any:
        if left:
            left.pop()
            in_thread(decide)
        return look(connection, state)

    monkeypatch.setattr(projections, "_awaited", look_later)
    assert await store.projections.differences(state) == []
    assert not left
    assert await store.projections.differences(await state_of(store)) == []
