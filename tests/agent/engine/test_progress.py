"""What a tool says while it runs, and what it is told."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from agent import Principal, ToolContext, tool
from agent.engine import progress
from agent.engine.guard import LeaseGuard
from agent.rules.events import CallProgressed, CallReturned, Event
from agent.rules.ids import RunId
from agent.rules.replaying.replay import replay
from agent.tools.progress import ProgressLine
from tests.agent.engine.bench import TERM, Bench, bench, calls, says, until

ANYBODY = Principal("slack:T0PILOT:U0BOB")
ACT = [calls(("act", "{}")), says("ok")]


async def events(b: Bench, run_id: RunId) -> list[Event]:
    return [one.event for one in await b.store.journal.read(run_id)]


def words(found: list[Event]) -> list[str]:
    return [one.text for one in found if isinstance(one, CallProgressed)]


@pytest.mark.parametrize("is_async", [True, False])
async def test_the_newest_of_ten_thousand_words_is_recorded_while_it_runs(
    is_async: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.05)
    may_end, may_end_too = asyncio.Event(), threading.Event()

    def say(context: ToolContext) -> None:
        for number in range(10_000):
            context.progress(f"{number}\nof   many <!channel>")

    @tool(approval=False)
    async def act(context: ToolContext) -> str:
        """Act."""
        say(context)
        await may_end.wait()
        return "done"

    @tool(approval=False)
    def act_too(context: ToolContext) -> str:
        """Act."""
        say(context)
        may_end_too.wait(10)
        return "done"

    chosen = act if is_async else act_too
    async with bench(tmp_path, [chosen], [calls((chosen.name, "{}")), says("ok")]) as b:
        run_id, since = await b.start(), time.monotonic()
        working = asyncio.create_task(b.work())

        async def newest() -> str | None:
            [call] = (await b.runtime.state(run_id)).calls.values() or [None]
            word = call.progress if call else None
            return word if word and word.startswith("9999") else None

        assert await until(newest) == "9999 of many <!channel>"
        may_end.set()
        may_end_too.set()
        await working
        found = await events(b, run_id)
        # However slow the machine is, no more often than that.
        assert len(words(found)) <= (time.monotonic() - since) / progress.PAUSE + 1
        state = await b.runtime.state(run_id)
        assert (state.answer, state.form) == ("ok", 6)
        assert replay(await b.store.journal.read(run_id)) == []


async def test_what_it_says_behind_its_end_is_heard_by_nobody(tmp_path: Path) -> None:
    release, said = threading.Event(), threading.Event()

    @tool(approval=False, effect="read", timeout=0.05)
    def act(context: ToolContext) -> None:
        """Act."""
        context.cancelled.wait(10)
        release.wait(10)
        context.progress("too late")
        said.set()

    async with bench(tmp_path, [act], ACT) as b:
        state = await b.play()
        release.set()
        await asyncio.to_thread(said.wait, 10)
        found = await events(b, state.run_id)
        assert words(found) == []
        [call] = state.calls.values()
        assert call.result is not None
        assert call.result.outcome == "error"


async def test_a_store_that_takes_no_word_fails_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.engine.journaling import RunJournal
    from agent.errors import StoreUnavailable

    tried = asyncio.Event()

    async def away(*_: object) -> None:
        tried.set()
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(RunJournal, "record_once", away)

    @tool(approval=False)
    async def act(context: ToolContext) -> str:
        """Act."""
        context.progress("1 of 2")
        await tried.wait()
        return "done"

    async with bench(tmp_path, [act], ACT) as b:
        state = await b.play()
        assert state.answer == "ok"
        assert words(await events(b, state.run_id)) == []


async def test_a_replaced_holder_says_nothing_more(tmp_path: Path) -> None:
    began, replaced = asyncio.Event(), asyncio.Event()
    heard: list[str] = []

    @tool(approval=False)
    async def act(context: ToolContext) -> str:
        """Act."""
        began.set()
        await replaced.wait()
        context.progress("from whoever was replaced")
        heard.append(await context.cancelled)
        return "done"

    async with bench(tmp_path, [act], ACT) as b:
        run_id = await b.start()
        guard = await b.claim()
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        await began.wait()
        b.clock.advance(TERM * 3)
        assert await b.store.run_leases.claim("other", TERM, 1)
        replaced.set()
        guard.lose()
        await asyncio.gather(working, return_exceptions=True)
        assert words(await events(b, run_id)) == []


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("stop", "the run is to be stopped"),
        ("drain", "this process is about to end"),
        ("lease", "this process has lost the run"),
    ],
)
async def test_a_tool_hears_that_it_had_better_end_and_is_not_cut(
    why: str, said: str, tmp_path: Path
) -> None:
    began, ended = asyncio.Event(), list[str]()

    @tool(approval=False)
    async def act(context: ToolContext) -> str:
        """Act."""
        began.set()
        ended.append(await context.cancelled)
        return "half done"

    async with bench(tmp_path, [act], ACT) as b:
        run_id = await b.start()
        [lease] = await b.store.run_leases.claim("p", TERM, 1)
        seconds = 0.0
        guard = LeaseGuard(lease, TERM, asked_at=0.0, monotonic=lambda: seconds)
        stopping = asyncio.Event()
        working = asyncio.create_task(b.engine.advance(guard, stopping))
        await began.wait()
        if why == "stop":
            await b.runtime.stop(run_id, ANYBODY)
        elif why == "drain":
            stopping.set()
        else:
            seconds = TERM.total_seconds() + 1
        returned = await until(lambda: _returned(b, run_id))
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        assert ended == [said]
        assert returned is not None
        assert returned.output == "half done"


async def _returned(b: Bench, run_id: RunId) -> CallReturned | None:
    found = await events(b, run_id)
    return next((one for one in found if isinstance(one, CallReturned)), None)


async def test_it_knows_until_when_it_is_waited_for(tmp_path: Path) -> None:
    told: list[tuple[timedelta, float]] = []

    async with bench(tmp_path, [], []) as known:
        clock = known.clock

    @tool(approval=False, effect="read", timeout=20)
    def act(context: ToolContext) -> None:
        """Act."""
        told.append((context.deadline - clock.now(), context.seconds_left))

    async with bench(tmp_path, [act], ACT, clock=clock) as b:
        await b.play()
    [(until_then, left)] = told
    assert timedelta(seconds=19) < until_then <= timedelta(seconds=20)
    assert 15 < left <= 20


async def test_no_secret_of_its_arguments_gets_out_of_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shown = asyncio.Event()

    @tool(approval=False, effect="read")
    async def act(key: SecretStr, context: ToolContext) -> str:
        """Act."""
        word = key.get_secret_value()
        context.logger.warning("using %s", word)
        context.progress("x" * 190 + f" {word}")
        shown.set()
        raise ValueError(f"the key {word} is wrong")

    replies = [calls(("act", '{"key": "s3cr3t-value"}')), says("ok")]
    with caplog.at_level(logging.INFO):
        async with bench(tmp_path, [act], replies) as b:
            state = await b.play()
            [call] = state.calls.values()
            assert call.result is not None
            assert "the key ••••••••(12 characters) is wrong" in str(call.result.output)
            assert "s3cr3t" not in str(words(await events(b, state.run_id)))
    assert "s3cr3t" not in caplog.text
    assert f"{state.run_id} {call.id} act: using ••••" in caplog.text


class Taken:
    """What is recorded of a line, each time."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.came = asyncio.Event()

    async def record(self, text: str) -> None:
        self.texts.append(text)
        self.came.set()


async def test_the_same_word_and_no_word_are_not_recorded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    line, taken = ProgressLine(), Taken()
    async with progress.recorded_progress(line, taken.record, str):
        for text in ("one", " one ", "", "one", "two " * 100):
            taken.came.clear()
            line.say(text)
            if (text == "one" and not taken.texts) or text.startswith("two"):
                async with asyncio.timeout(5):
                    await taken.came.wait()
    assert taken.texts[0] == "one"
    assert len(taken.texts) == 2
    assert len(taken.texts[1]) <= progress.LENGTH
    assert taken.texts[1].endswith("…")


async def test_of_one_call_no_more_is_recorded_than_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr(progress, "MOST", 3)
    line, taken = ProgressLine(), Taken()
    async with progress.recorded_progress(line, taken.record, str):
        for number in range(3):
            taken.came.clear()
            line.say(number)
            async with asyncio.timeout(5):
                await taken.came.wait()
        line.say("four")
    assert taken.texts == ["0", "1", "2"]


async def test_a_fault_in_recording_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    line, tried = ProgressLine(), asyncio.Event()

    async def record(text: str) -> None:
        tried.set()
        raise LookupError("a fault of ours")

    async with progress.recorded_progress(line, record, str):
        line.say("one")
        await tried.wait()
    assert "a fault of ours" in caplog.text


async def test_whoever_cuts_a_call_off_waits_for_no_record() -> None:
    line, began = ProgressLine(), asyncio.Event()

    async def record(text: str) -> None:
        began.set()
        await asyncio.Event().wait()

    async def call() -> None:
        async with progress.recorded_progress(line, record, str):
            line.say("one")
            await asyncio.Event().wait()

    calling = asyncio.create_task(call())
    await began.wait()
    calling.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await calling


async def test_a_record_that_is_on_its_way_comes_before_the_calls_end() -> None:
    line, began, release = ProgressLine(), asyncio.Event(), asyncio.Event()
    order: list[str] = []

    async def record(text: str) -> None:
        began.set()
        await release.wait()
        order.append(text)

    async def call() -> None:
        async with progress.recorded_progress(line, record, str):
            line.say("one")
            await began.wait()
        order.append("the end")

    calling = asyncio.create_task(call())
    await began.wait()
    release.set()
    await calling
    assert order == ["one", "the end"]
