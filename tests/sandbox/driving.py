"""Drives a running sandbox over its own HTTP, and runs real Bolt apps against it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.delivery.events import EVENTS
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox

#: For a clock that stands still until it is moved.
MOMENT = 1_800_000_000.0


class Driver:
    """One person's browser, so to say; `slack` is the app's own client."""

    def __init__(self, running: OpenSandbox, http: aiohttp.ClientSession) -> None:
        self.running = running
        self.sandbox = running.inside
        self.http = http
        self.slack = client_of(running)

    async def request(self, verb: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with self.http.request(verb, self.running.url + path, json=body) as response:
            return response.status, await response.json()

    async def get(self, path: str) -> Any:
        status, body = await self.request("GET", path)
        assert status == 200, body
        return body

    async def act(self, user: str, do: str, **fields: Any) -> Any:
        status, body = await self.request("POST", "/sandbox/act", {"as": user, "do": do, **fields})
        assert status == 200, body
        return body

    async def fault(self, **fields: Any) -> None:
        status, body = await self.request("POST", "/sandbox/faults", fields)
        assert status == 200, body

    def said(self, user: str, channel: str, text: str = "hello") -> str:
        """The ts of what a person wrote, of which the app is not told."""
        person, place = self.sandbox.workspace.user(user), self.sandbox.workspace.channel(channel)
        message, _ = self.sandbox.posting.say(person, place, text, [], None)
        return str(message["ts"])

    @property
    def violations(self) -> list[str]:
        """Their kinds."""
        return [one["kind"] for one in self.sandbox.record.violations]

    async def messages(self, channel: str = "C0SUPPORT", thread: str = "") -> list[Any]:
        query = f"?thread_ts={thread}" if thread else ""
        found = await self.get(f"/sandbox/channels/{channel}/messages{query}")
        assert isinstance(found, list)
        return found

    async def deliveries(self, kind: str = "events_api") -> list[Any]:
        calls = await self.get("/sandbox/calls")
        return [one for one in calls if one["kind"] == "delivery" and one["type"] == kind]


def client_of(running: OpenSandbox) -> AsyncWebClient:
    client = AsyncWebClient(token="xoxb-sandbox", base_url=running.api_url)
    client.proxy = None
    return client


@asynccontextmanager
async def driving(**settings: Any) -> AsyncIterator[Driver]:
    """On a sandbox with these settings. Here the sandbox is tested, and rules are broken."""
    async with (
        open_sandbox(Sandbox(**settings), allow_violations=True) as opened,
        aiohttp.ClientSession() as http,
    ):
        yield Driver(opened, http)
        heard = {one["payload"]["event"]["type"] for one in opened.deliveries("events_api")}
        assert heard <= set(EVENTS), "faults know every event that there is"


def bolt_app(running: OpenSandbox) -> AsyncApp:
    async def no_proxy(context: Any, next: Callable[[], Awaitable[None]]) -> None:
        context.client.proxy = None
        await next()

    return AsyncApp(
        client=client_of(running), signing_secret="sandbox-secret", before_authorize=no_proxy
    )


@asynccontextmanager
async def connected(
    app: AsyncApp, *, ping_interval: float = 10
) -> AsyncIterator[AsyncSocketModeHandler]:
    handler: Any = AsyncSocketModeHandler(app, "xapp-sandbox", ping_interval=ping_interval)
    handler.client.proxy = None
    await handler.connect_async()
    try:
        yield handler
    finally:
        await handler.close_async()


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def button(action_id: str, value: str = "apr_1", **more: Any) -> dict[str, Any]:
    fields = {"type": "button", "action_id": action_id, "text": plain("Go"), "value": value}
    return fields | more


def buttons(*action_ids: str) -> list[dict[str, Any]]:
    return [{"type": "actions", "elements": [button(one) for one in action_ids]}]


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    view = {"type": "modal", "callback_id": "steer", "title": plain("Steer"), "blocks": [*blocks]}
    return view | {"submit": plain("Send")} | more


def text_input(block_id: str, **element: Any) -> dict[str, Any]:
    kind = {"type": "plain_text_input", "action_id": "value"}
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(block_id),
        "element": kind | element,
    }
