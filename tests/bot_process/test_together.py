"""Parts that run together: none ends unseen."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.demo.child import environment
from bot.process import serve
from bot.sandbox.opened import OpenSandbox
from bot.settings import Settings
from bot.slack.people import Home, People
from bot.together import PartEnded, begin, end, until_stopped


async def forever() -> None:
    await asyncio.Event().wait()


async def at_once() -> None:
    return


async def faulty() -> None:
    raise RuntimeError("a fault of ours")


async def test_a_part_that_ends_by_itself_ends_all() -> None:
    tasks = begin({"stays": forever(), "goes": at_once()})
    with pytest.raises(PartEnded, match="'goes'"):
        await until_stopped(tasks, asyncio.Event())
    await end(tasks)


async def test_what_has_done_its_work_ends_nothing_and_what_fails_later_is_still_seen() -> None:
    failing = asyncio.Event()

    async def fails_later() -> None:
        await failing.wait()
        raise RuntimeError("a fault of ours")

    tasks, passing = begin({"stays": forever()}), begin({"a": at_once(), "b": fails_later()})
    watching = asyncio.create_task(until_stopped(tasks, asyncio.Event(), passing=passing))
    await asyncio.wait({passing[0]})
    await asyncio.sleep(0)
    assert not watching.done()
    failing.set()
    with pytest.raises(RuntimeError, match="a fault of ours"):
        await watching
    await end([*tasks, *passing])


async def test_to_be_stopped_is_no_failure() -> None:
    stop = asyncio.Event()
    tasks, passing = begin({"stays": forever()}), begin({"asks": forever(), "mends": at_once()})
    watching = asyncio.create_task(until_stopped(tasks, stop, passing=passing))
    stop.set()
    await watching
    await end([*tasks, *passing])


async def test_a_process_that_can_never_learn_who_it_is_ends_and_says_why(
    sandbox: OpenSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def home(people: People) -> Home:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(People, "home", home)
    for name, value in environment({}, tmp_path, sandbox.api_url).items():
        monkeypatch.setenv(name, value)
    async with asyncio.timeout(20):
        with pytest.raises(RuntimeError, match="a fault of ours"):
            await serve(Settings(), lambda *_: None)
