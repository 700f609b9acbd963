"""A server that is started here and spoken to through its standard input."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from agent.errors import ConfigError, Rejected
from agent.tools.context import Committed
from agent.tools.mcp import server as module
from agent.tools.mcp.server import McpServer, NoAnswer
from agent.tools.mcp.settings import ServerSettings
from tests.agent.tools.mcp.notes import NOTHING, TEXT, TOOLS
from tests.agent.tools.mcp.world import KEY, SCRIPT, call, notes, raised, running, until, written

pytestmark = pytest.mark.timeout(120)


async def test_its_whole_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-not-for-others")
    caplog.set_level(logging.INFO)
    async with running(notes(tmp_path, reads=("list_*", "vanish"), is_trusted=True)) as server:
        assert set(server.tools) == {f"notes.{name}" for name in TOOLS}
        added = server.tools["notes.add_note"]
        # What the server calls it stands beside what it is; what it says of itself makes it no safer.
        assert (added.title, added.effect, added.is_trusted) == (
            "Add a note (notes.add_note)",
            "once",
            True,
        )
        assert added.asks(added.check({"text": "x"})) == (
            True,
            "no rule covers it, and it is a tool of an MCP server",
        )
        # By the operator's word, unless the server denies it.
        assert server.tools["notes.list_notes"].effect == "read"
        assert server.tools["notes.vanish"].effect == "once"
        assert "may destroy" in server.tools["notes.vanish"].asks(added.check({"text": "x"}))[1]
        assert "may destroy" in (server.tools["notes.vanish"].needs_a_yes or "")
        assert (added.needs_a_yes, added.always_has) == (None, frozenset({"text"}))

        assert await call(server, "add_note", text="one") == Committed("noted")
        assert await call(server, "list_notes") == Committed("started\none\n")
        assert (await call(server, "picture")).output == (
            "[image, image/png, 5 bytes: it can't be read here]"
        )
        assert await call(server, "refuse") == Committed("There is no room for it.", is_error=True)
        seen = json.loads((await call(server, "environment")).output)
        assert "NOTES_KEY" in seen["names"]
        assert "PATH" in seen["names"]
        assert "SLACK_BOT_TOKEN" not in seen["names"]
        assert seen["meta"]["pilothouse/operationId"] == "op_1"

        # One that dies amid a call: nobody knows; the next one is started, and answers.
        died = await raised(call(server, "vanish", text="gone"))
        assert isinstance(died, NoAnswer)
        assert "did not say what became of it" in str(died)
        assert await call(server, "add_note", text="two") == Committed("noted")
    # Its input was closed, and it ended by itself.
    await until(lambda: written(tmp_path)[-1] == "ended")
    assert written(tmp_path) == ["started", "one", "gone", "started", "two", "ended"]
    assert "MCP server notes: ready; my key is ••••••••" in caplog.messages
    assert KEY not in caplog.text


async def test_one_that_writes_without_an_end_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(notes(tmp_path)) as server:
        lost = await raised(call(server, "flood"))
        assert isinstance(lost, NoAnswer)
        assert "in time" not in str(lost)
        assert (
            "MCP server notes has written more than 10,000,000 bytes without an end; it is given up"
            in caplog.text
        )
        assert await call(server, "add_note", text="two") == Committed("noted")
    # It was not waited for: it never came to its end.
    assert written(tmp_path) == ["started", "flooding", "started", "two", "ended"]


def _with(name: str, **said: Any) -> dict[str, Any]:
    return {**TOOLS, name: {"inputSchema": NOTHING, **said}}


async def test_what_has_changed_meanwhile_is_not_called(tmp_path: Path) -> None:
    async with running(notes(tmp_path)) as server:
        before = server.tools["notes.add_note"]
        colour = {**TEXT, "properties": {**TEXT["properties"], "colour": {"type": "string"}}}
        changed = {"add_note": {"inputSchema": colour}, "extra": {"inputSchema": NOTHING}}
        (tmp_path / "tools.json").write_text(json.dumps(changed))
        await until_looked(server, lambda: server.tools["notes.add_note"] is not before)
        after = server.tools["notes.add_note"]
        assert after.schema_digest != before.schema_digest
        # What is gone is gone; what is new was checked by nobody, and waits for the next start.
        assert set(server.tools) == {"notes.add_note"}
        sent = await raised(before.send(before, {"text": "old"}, call_id()))
        assert isinstance(sent, Rejected)
        assert "nothing was sent" in str(sent)
        assert written(tmp_path) == ["started"]
        # One that can't be judged any more is gone, too.
        circle = {**TEXT, "properties": {"text": {"$ref": "#"}}}
        (tmp_path / "tools.json").write_text(json.dumps({"add_note": {"inputSchema": circle}}))
        await until_looked(server, lambda: not server.tools)


async def test_one_that_is_another_behind_a_new_connection_is_told_nothing_before_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BACK_OFF", timedelta(0))
    async with running(notes(tmp_path)) as server:
        before = server.tools["notes.add_note"]
        assert isinstance(await raised(call(server, "vanish", text="gone")), NoAnswer)
        colour = {**TEXT, "properties": {**TEXT["properties"], "colour": {"type": "string"}}}
        (tmp_path / "tools.json").write_text(json.dumps({"add_note": {"inputSchema": colour}}))
        with monkeypatch.context() as too_soon:
            too_soon.setattr(module, "LIST_WITHIN", timedelta(0))
            assert "in time" in str(await raised(before.send(before, {"text": "1"}, call_id())))
        assert "has changed" in str(await raised(before.send(before, {"text": "2"}, call_id())))
        assert set(written(tmp_path)) == {"started", "gone", "ended"}


async def test_a_tool_that_reads_no_more_shows_nothing(tmp_path: Path) -> None:
    reading = notes(tmp_path, reads=("list_*",), previews={"add_note": "list_notes"})
    async with running(reading) as server:
        before = server.tools["notes.list_notes"]
        assert await server.show("notes.list_notes", {}, call_id()) == "started\n"
        (tmp_path / "tools.json").write_text(
            json.dumps(_with("list_notes", annotations={"readOnlyHint": False}))
        )
        await until_looked(server, lambda: server.tools["notes.list_notes"].effect == "once")
        shown = await raised(server.show("notes.list_notes", {}, call_id()))
        assert "says by now that notes.list_notes changes something" in str(shown)
        # Nor is it called as the tool that it was.
        assert isinstance(await raised(before.send(before, {}, call_id())), Rejected)


async def until_looked(server: McpServer, is_so: Any) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await server.look_again()
            await asyncio.sleep(0.05)


def call_id() -> Any:
    return "op_2"


async def test_a_server_that_is_busy_is_left_to_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(notes(tmp_path)) as server:
        busy = asyncio.create_task(call(server, "wait"))
        await until(lambda: "waiting" in written(tmp_path))
        monkeypatch.setattr(module, "LIST_WITHIN", timedelta(0))
        monkeypatch.setattr(module, "FRESH", timedelta(0))
        await server.look_again()
        (tmp_path / "go").touch()
        assert await busy == Committed("done")
        assert written(tmp_path) == ["started", "waiting"]


async def test_a_tool_that_cant_be_taken_stops_the_start_and_the_server(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(_with("notes.add")))
    with pytest.raises(ConfigError, match=r"a tool named 'notes.add'.* leave it out"):
        await notes(tmp_path).start()
    await until(lambda: written(tmp_path) == ["started", "ended"])


async def test_what_cant_be_taken_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(_with("notes.add")))
    async with running(notes(tmp_path, tools=("*_note", "refuse"))) as server:
        assert set(server.tools) == {"notes.add_note", "notes.refuse"}


NO_SERVERS = {
    "not there": (("no-such-server",), "No such file or directory"),
    "ends at once": (
        (sys.executable, "-c", "import sys; sys.exit('bad arguments')"),
        "It said last: bad arguments",
    ),
    "says nothing": ((sys.executable, "-c", "input(); input()"), "it does not answer in time"),
}


@pytest.mark.parametrize(("command", "why"), NO_SERVERS.values(), ids=NO_SERVERS.keys())
async def test_one_that_cant_be_had_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], why: str
) -> None:
    if "in time" in why:
        # Whoever ends is seen to end, however long its start takes.
        monkeypatch.setattr(module, "START_WITHIN", timedelta(seconds=2))
    with pytest.raises(ConfigError) as refused:
        await McpServer(ServerSettings("git", command=command)).start()
    assert "The MCP server git can't be reached: " in str(refused.value)
    assert why in str(refused.value)


async def test_it_does_not_outlive_a_process_that_is_killed(tmp_path: Path) -> None:
    program = f"""
        import asyncio
        from tests.agent.tools.mcp.world import notes
        from pathlib import Path

        async def main():
            await notes(Path({str(tmp_path)!r})).start()
            print("up", flush=True)
            await asyncio.sleep(600)

        asyncio.run(main())
    """
    root = SCRIPT.parents[4]
    bot = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", dedent(program)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    with bot:
        assert bot.stdout is not None
        assert await asyncio.to_thread(bot.stdout.readline) == "up\n"
        bot.send_signal(signal.SIGKILL)
    await until(lambda: written(tmp_path) == ["started", "ended"])
