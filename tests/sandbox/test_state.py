"""What survives a restart, and what a page is told of."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from bot.sandbox.app import PortTaken, RunningSandbox
from bot.sandbox.opened import open_sandbox
from bot.sandbox.persistence import StateFile, StateFileUnreadable
from bot.sandbox.state import Sandbox
from tests.sandbox.driving import MOMENT, Driver, buttons, driving


async def test_messages_and_buttons_survive_a_restart_and_no_ts_repeats(tmp_path: Path) -> None:
    settings = {"state_file": tmp_path / "data" / "sandbox.json", "clock": MOMENT}
    metadata = {"event_type": "pilothouse_message", "event_payload": {"key": "status"}}
    async with driving(**settings) as driver:
        parent = await driver.slack.chat_postMessage(
            channel="C0OPS", text="1", blocks=buttons("old"), metadata=metadata
        )
        await driver.slack.chat_update(
            channel="C0OPS", ts=parent["ts"], text="2", blocks=buttons("new")
        )
        await driver.slack.chat_postMessage(channel="C0OPS", text="r", thread_ts=parent["ts"])
        await driver.slack.views_publish(
            user_id="U0BOB", view={"type": "home", "blocks": buttons("home")}
        )
        before = await driver.messages("C0OPS", parent["ts"])
        home = await driver.get("/sandbox/home?as=U0BOB")
    async with driving(**settings) as driver:
        assert await driver.messages("C0OPS", parent["ts"]) == before
        assert await driver.get("/sandbox/home?as=U0BOB") == home
        assert set(driver.sandbox.messages.controls("C0OPS", parent["ts"])) == {"old", "new"}
        later = await driver.slack.chat_postMessage(channel="C0OPS", text="3")
        assert later["ts"] > before[-1]["ts"]


async def test_state_is_written_while_running(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.json"
    async with driving(state_file=path) as driver:
        await driver.slack.chat_postMessage(channel="C0OPS", text="kept")

        async def written() -> bool:
            return path.exists()

        await driver.running.until(written)
        assert "kept" in path.read_text("utf-8")


async def test_half_a_surrogate_pair_stops_no_saving(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.json"
    async with driving(state_file=path) as driver:
        await driver.act("U0ALICE", "message", channel="C0SUPPORT", text="hello \ud800")
    async with driving(state_file=path) as driver:
        assert len(await driver.messages("C0SUPPORT")) == 1


async def test_a_file_that_can_not_be_written_for_a_while_is_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "data" / "sandbox.json"
    async with driving(state_file=path) as driver:
        (tmp_path / "data").write_text("in the way")
        await driver.slack.chat_postMessage(channel="C0OPS", text="kept")

        async def said() -> bool:
            return "can't be written" in caplog.text

        async def written() -> bool:
            return path.exists()

        await driver.running.until(said)
        (tmp_path / "data").unlink()
        await driver.running.until(written)


@pytest.mark.parametrize(
    "damaged",
    [
        "{",
        "[" * 100_000,
        '{"format": 1}',
        '{"format": 2}',
        '[{"format": 1}]',
        '{"format": 1, "messages": {"channels": {"C0OPS": [5]}}, "homes": {}}',
    ],
    ids=lambda one: one[:30],
)
async def test_damaged_state_file_is_named_and_left_alone(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "sandbox.json"
    path.write_text(damaged, "utf-8")
    with pytest.raises(StateFileUnreadable, match=r"sandbox\.json"):
        async with open_sandbox(Sandbox(state_file=path)):
            pass
    assert path.read_text("utf-8") == damaged


async def test_a_stream_that_a_restart_interrupts_is_over(tmp_path: Path) -> None:
    settings = {"state_file": tmp_path / "sandbox.json"}
    async with driving(**settings) as driver:
        root = driver.said("U0BOB", "D0BOB")
        started = await driver.slack.chat_startStream(
            channel="D0BOB", thread_ts=root, markdown_text="so far"
        )
    async with driving(**settings) as driver:
        _, streamed = await driver.messages("D0BOB", root)
        assert (streamed["ts"], streamed["streaming_state"]) == (started["ts"], "errored")


async def test_a_file_that_can_not_be_written_at_the_end_holds_nobody_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with driving(state_file=tmp_path / "data" / "sandbox.json") as driver:
        (tmp_path / "data").write_text("in the way")
        await driver.slack.chat_postMessage(channel="C0OPS", text="lost")
    assert "the last changes are lost" in caplog.text


async def test_a_write_that_fails_while_it_ends_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sandbox.json"
    ending, failing, replace = threading.Event(), threading.Event(), os.replace

    def fail_once(source: Path, target: Path) -> None:
        if not failing.is_set():
            failing.set()
            ending.wait(5)
            raise OSError("no space left")
        replace(source, target)

    monkeypatch.setattr("bot.sandbox.persistence.os.replace", fail_once)
    kept = StateFile(path, lambda: {"kept": True})
    kept.start()
    kept.changed()
    await asyncio.to_thread(failing.wait, 5)
    closing = asyncio.create_task(kept.close())
    await asyncio.sleep(0)
    ending.set()
    await closing
    assert '"kept": true' in path.read_text("utf-8")


async def test_taken_port_is_told(driver: Driver) -> None:
    with pytest.raises(PortTaken, match=str(driver.running.port)):
        async with RunningSandbox(Sandbox(), port=driver.running.port):
            pass


async def test_page_is_told_only_what_changed(driver: Driver) -> None:
    await driver.slack.chat_postMessage(channel="C0OPS", text="1")
    first = await driver.get("/sandbox/state?as=U0BOB")
    assert [one["text"] for one in first["messages"]] == ["1"]
    place = f"/sandbox/state?as=U0BOB&boot={first['boot']}&since={first['version']}"
    waiting = asyncio.create_task(driver.get(place))
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="2")
    assert [one["text"] for one in (await waiting)["messages"]] == ["2"]
    await driver.slack.chat_delete(channel="C0OPS", ts=posted["ts"])
    later = await driver.get(place)
    assert later["gone"] == [{"channel": "C0OPS", "ts": posted["ts"]}]
