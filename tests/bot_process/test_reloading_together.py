"""Several processes and one file: what one of them has loaded holds for what any of them starts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent import Approve
from agent.ports import ModelReply, ModelRequest
from agent.rules.events import CallStarted
from agent.rules.standing import Switch
from agent.rules.state import RunState
from bot import watching_file
from bot.unknown_tools import EVERY_RUN
from tests.bot_process.reloaded import ALLOW, ASK, BOB, DENY, Reloaded, process, put
from tests.bot_process.test_demo import until

#: Enough that some are about to start whenever the file changes.
AT_ONCE = 8


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SETTLES_SECONDS", "GONE_SECONDS"):
        monkeypatch.setattr(watching_file, name, 0.01)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "pilothouse.yml").write_text(ALLOW)
    return tmp_path / "pilothouse.yml"


@pytest.fixture
async def ours(path: Path, url: str) -> AsyncIterator[Reloaded]:
    async with process(path, url, "proc_1") as made:
        yield made


@pytest.fixture
async def theirs(path: Path, url: str, ours: Reloaded) -> AsyncIterator[Reloaded]:
    """It begins behind ours, and never looks at the file by itself."""
    async with process(path, url, "proc_2") as made:
        yield made


async def starts(one: Reloaded) -> int:
    events = [
        recorded.event
        for state in await one.runtime.runs(limit=EVERY_RUN)
        for recorded in await one.runtime.store.journal.read(state.run_id)
    ]
    return sum(isinstance(event, CallStarted) for event in events)


async def test_nobody_starts_a_call_under_the_old_file_once_the_new_one_is_recorded(
    ours: Reloaded, theirs: Reloaded
) -> None:
    """Theirs works on meanwhile, and had the old file when it began."""
    is_recorded = asyncio.Event()

    async def keep_paying() -> RunState:
        while True:
            is_last = is_recorded.is_set()
            state = await theirs.pay()
            if is_last:
                return state

    paying = [asyncio.create_task(keep_paying()) for _ in range(AT_ONCE)]

    async def has_begun() -> bool:
        return await starts(ours) > 0

    await until(has_begun)
    put(ours.path, DENY)
    await ours.reloading.look()
    before = await starts(ours)
    is_recorded.set()
    for state in await asyncio.gather(*paying):
        (call,) = state.calls.values()
        assert call.result is not None
        assert call.result.outcome == "refused"
    assert await starts(ours) == before
    assert [one.digest for one in await ours.loads()] == [
        one.digest for one in await theirs.loads()
    ]
    assert len(await ours.loads()) == 2, "who loads the same file behind it records nothing"


async def test_an_agent_that_is_replaced_while_a_call_is_looked_into_judges_no_more(
    ours: Reloaded, theirs: Reloaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another run's look: the fact is known then, and the agent was taken before it."""
    control = theirs.runtime.store.control
    model = theirs.runtime.agents["payer"].model
    reply, look_up, is_about_to_start = model.reply, control.switches_on, False

    async def replying(request: ModelRequest) -> ModelReply:
        nonlocal is_about_to_start
        is_about_to_start = True
        return await reply(request)

    async def slowly() -> tuple[int, Sequence[Switch]]:
        nonlocal is_about_to_start
        if is_about_to_start:
            is_about_to_start = False
            put(ours.path, DENY)
            await ours.reloading.look()
            await theirs.runtime.agents.are_as_of((await look_up())[0])
        return await look_up()

    monkeypatch.setattr(control, "switches_on", slowly)
    monkeypatch.setattr(model, "reply", replying)
    state = await theirs.pay()
    (call,) = state.calls.values()
    assert call.result is not None
    assert (call.result.outcome, call.attempts) == ("refused", 0)


async def test_a_yes_is_judged_anew_by_a_process_that_had_not_noticed(
    ours: Reloaded, theirs: Reloaded
) -> None:
    put(ours.path, ASK)
    await ours.reloading.look()
    state = await theirs.pay()
    (asked,) = state.open_approvals
    put(ours.path, DENY)
    await ours.reloading.look()
    state = await theirs.runtime.decide(asked.id, Approve(), BOB, wait=True)
    (call,) = state.calls.values()
    assert call.result is not None
    assert (call.result.outcome, call.attempts) == ("refused", 0)


async def test_another_hosts_file_is_another_matter_and_the_log_says_so_once(
    ours: Reloaded, theirs: Reloaded, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = path.with_name("of-another-host.yml")
    own.write_text(ALLOW)
    theirs.reloading.path = own
    put(path, DENY)
    await ours.reloading.look()
    for _ in range(2):
        assert (await theirs.pay()).ending == "finished", "it judges by what its own file says"
    newest, theirs_version = (
        ours.runtime.agents["payer"].policy.version,
        theirs.runtime.agents["payer"].policy.version,
    )
    # What is told besides depends on how much the log is to say.
    warnings = (one for one in caplog.records if one.levelno >= logging.WARNING)
    told = [one.getMessage() for one in warnings if one.name == "bot.reloading"]
    (said,) = [one for one in told if one.startswith("agent ")]
    assert said == (
        f"agent payer is judged by policy {theirs_version} here, and by {newest} elsewhere,"
        " as it seems: is of-another-host.yml the same on every host?"
    )
