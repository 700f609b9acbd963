"""What survives a restart, and what a page is told of."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.sandbox.app import PortTaken, RunningSandbox, run_sandbox
from bot.sandbox.persistence import StateFileUnreadable
from tests.sandbox.driving import Driver, ManualClock, buttons, driving, until


async def test_messages_and_buttons_survive_a_restart_and_no_ts_repeats(tmp_path: Path) -> None:
    settings = {"state_file": tmp_path / "data" / "sandbox.json", "clock": ManualClock()}
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

        await until(written)
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

        await until(said)
        (tmp_path / "data").unlink()
        await until(written)


async def test_damaged_state_file_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.json"
    path.write_text("{", "utf-8")
    with pytest.raises(StateFileUnreadable, match=r"sandbox\.json"):
        async with RunningSandbox(state_file=path):
            pass
    assert path.read_text("utf-8") == "{"


async def test_taken_port_is_told(driver: Driver) -> None:
    with pytest.raises(PortTaken, match=str(driver.running.port)):
        await run_sandbox(driver.running.port)


async def test_run_sandbox_serves_until_cancelled() -> None:
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(run_sandbox(0, started=started.set_result))
    assert (await asyncio.wait_for(started, 5)).startswith("http://127.0.0.1:")
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


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
