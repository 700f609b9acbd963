"""What a conversation, a start that comes once more, and a card know once their run has been removed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent import Approve, Deny
from agent.errors import PayloadsRemoved, Purged
from agent.housekeeping import Housekeeping
from agent.rules.retention import STATUSES, Retention
from agent.rules.transcript import ToolMessage
from agent.runtime import Runtime
from tests.agent.engine.bench import ALICE, OPERATOR, InTurn, calls, says
from tests.agent.engine.replicas import replicas
from tests.agent.engine.test_sessions import go_on, newest, send
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.tampering import age

DAY = timedelta(days=1)
LIMITS = Retention(
    {
        "payloads": dict.fromkeys(STATUSES, 30 * DAY),
        "transcripts": dict.fromkeys(STATUSES, 90 * DAY),
        "audit": dict.fromkeys(STATUSES, 700 * DAY),
    }
)
#: The skeletons stay.
WORDS = Retention({name: LIMITS.kept_for[name] for name in ("payloads", "transcripts")})


async def remove(runtime: Runtime, url: str, limits: Retention = LIMITS) -> None:
    """As if every run had ended long ago."""
    age(url, 800 * DAY)
    assert (await Housekeeping(runtime.store, lambda: limits).sweep()).removed


@on_sqlite
async def test_a_conversation_begins_anew_once_nobody_knows_what_was_said(url: str) -> None:
    async with replicas(url) as several:
        model = InTurn(calls(("send", "{}")), says("Sent."), says("What?"), says("Hello."))
        runtime = await several.runtime([send], model=model)
        first = await runtime.start("send it", requester=ALICE, key="k1", wait=True)
        (asked,) = (await runtime.state(first)).open_approvals
        await runtime.decide(asked.id, Approve(), OPERATOR, wait=True)
        await remove(runtime, url, WORDS)
        second = await go_on(runtime, first, "to whom?")
        assert newest(model) == ["note", "note", "user: to whom?"]
        sent = model.requests[-1].messages[:2]
        notes = [one.text for one in sent if not isinstance(one, ToolMessage)]
        assert "There was 1 more run of this conversation, which can't be read" in notes[0]
        # A start that comes once more finds its run, whatever it said.
        assert await runtime.start("send it", requester=ALICE, key="k1") == first
        for forbidden in (
            runtime.fork(first, 2, ALICE),
            runtime.replay(first),
        ):
            with pytest.raises(PayloadsRemoved):
                await forbidden
        session = (await runtime.state(second)).session
        await remove(runtime, url)
        for run_id in (first, second):
            with pytest.raises(Purged):
                await runtime.state(run_id)
        with pytest.raises(Purged, match="was removed on"):
            await runtime.decide(asked.id, Deny(reason="no"), OPERATOR)
        third = await runtime.start("hello", requester=ALICE, session=session, wait=True)
        assert newest(model) == ["user: hello"]
        assert (await runtime.state(third)).ending == "finished"


@on_sqlite
async def test_a_run_that_was_removed_while_somebody_looks_hides_no_other(url: str) -> None:
    async with replicas(url) as several:
        model = InTurn(says("One."), says("Two."))
        runtime = await several.runtime([send], model=model)
        first = await runtime.start("one", requester=ALICE, wait=True)
        second = await runtime.start("two", requester=ALICE, wait=True)
        # As a purger leaves it that died behind its first commit.
        ask(
            url,
            "INSERT INTO tombstones SELECT run_id, 1, updated_at, head_seq, head_hash FROM runs"
            " WHERE run_id = ?",
            first,
        )
        ask(url, "UPDATE runs SET purged = 3, purged_to = 1 WHERE run_id = ?", first)
        assert [one.run_id for one in await runtime.runs()] == [second]
