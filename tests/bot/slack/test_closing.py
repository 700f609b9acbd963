"""A connection that is given up while it is being closed."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from bot.slack.app import make_incoming
from bot.slack.connection import SlackConnection
from tests.bot.slack.test_connection import slack_that
from tests.bot.slack.workspace import Bot


@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")
async def test_whoever_ends_while_slack_does_not_say_goodbye_leaves_nothing_open(bot: Bot) -> None:
    left_open, is_closing, is_over = list[Any](), asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, told: left_open.append(told))

    async def say_no_goodbye(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoclose=False)
        await socket.prepare(request)
        await socket.send_json({"type": "hello"})
        await socket.send_json({"type": "disconnect", "reason": "link_disabled"})
        while (await socket.receive()).type is not WSMsgType.CLOSE:
            pass
        is_closing.set()
        await is_over.wait()
        return socket

    async with slack_that(say_no_goodbye) as api_url:
        before = asyncio.all_tasks()
        connection = SlackConnection(make_incoming(bot.services), "xapp-sandbox", api_url)
        connecting = asyncio.create_task(connection.run())
        async with asyncio.timeout(30):
            await is_closing.wait()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        left = {task for task in asyncio.all_tasks() - before if "slack_sdk" in repr(task)}
        is_over.set()
    for task in left:
        task.cancel()
    del connection, connecting
    gc.collect()
    assert (left, left_open) == (set(), [])
