"""A server that is found by its address."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import ConfigError, Rejected
from agent.tools.context import Committed
from agent.tools.mcp import server as module
from agent.tools.mcp.requests import TooLarge, directly
from agent.tools.mcp.server import McpServer
from agent.tools.mcp.settings import ServerSettings
from tests.agent.tools.mcp.world import KEY, SCRIPT, call, raised, running, written

pytestmark = pytest.mark.timeout(120)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def listening(folder: Path, port: int) -> Iterator[None]:
    """It takes a moment until it does."""
    command = [sys.executable, str(SCRIPT), str(folder), str(port)]
    with subprocess.Popen(command, env={**os.environ, "NOTES_KEY": KEY}) as process:
        try:
            yield
        finally:
            process.kill()


def found(port: int, key: str = KEY) -> McpServer:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"http://127.0.0.1:{port}/mcp"
    return McpServer(ServerSettings("notes", url=url, headers=headers))


async def test_its_whole_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Nothing on loopback is reached through a proxy.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(module, "BACK_OFF", timedelta(milliseconds=100))
    port = free_port()
    server = found(port)
    with listening(tmp_path, port):
        # Started at the same time, it is waited for.
        await server.start()
        assert await call(server, "add_note", text="one") == Committed("noted")
        assert (await call(server, "refuse")).is_error
        many = [call(server, "add_note", text=str(n)) for n in range(5)]
        assert await asyncio.gather(*many) == [Committed("noted")] * 5
        monkeypatch.setattr(module, "START_WITHIN", timedelta(seconds=1))
        with pytest.raises(ConfigError) as refused:
            await found(port, "wrong-key").start()
        assert "can't be reached" in str(refused.value)
        assert "wrong-key" not in f"{refused.value}{caplog.text}"
    # Nobody is there: that is found out before anything is sent.
    monkeypatch.setattr(module, "FRESH", timedelta(0))
    await server.look_again()
    away = await raised(call(server, "add_note", text="lost"))
    assert isinstance(away, Rejected)
    assert "Nothing was sent" in str(away)
    with listening(tmp_path, port):
        async with asyncio.timeout(30):
            # Nothing tells when it is there again.
            while isinstance(again := await tried(server), Rejected):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert again == Committed("noted")
        await server.stop()
    assert "lost" not in written(tmp_path)
    assert KEY not in caplog.text


async def tried(server: McpServer) -> object:
    try:
        return await call(server, "add_note", text="back")
    except Rejected as error:
        return error


async def test_a_server_of_which_nothing_was_heard_leaves_no_task_behind(tmp_path: Path) -> None:
    port = free_port()
    with listening(tmp_path, port):
        async with running(found(port)) as server:
            await call(server, "add_note", text="one")
        left = [
            task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()
        ]
    assert left == []


@pytest.mark.parametrize("packed", ["", "Content-Encoding: gzip\r\n"])
async def test_an_answer_without_an_end_is_not_collected(packed: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{packed}\r\n"
        writer.write(head.encode())
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
        except ConnectionError:
            ended.set()

    ended = asyncio.Event()
    one = await asyncio.start_server(answer, "127.0.0.1")
    async with one, directly() as client, asyncio.timeout(30):
        port = one.sockets[0].getsockname()[1]
        with pytest.raises(TooLarge):
            await client.get(f"http://127.0.0.1:{port}/mcp")
        # It is told to stop, too.
        await ended.wait()
