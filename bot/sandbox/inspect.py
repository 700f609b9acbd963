"""What tests and the page may look at, and the faults they may set."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from bot.sandbox.act.asked import channel, person
from bot.sandbox.faults import Fault
from bot.sandbox.reading import read_number, read_object
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

DISCONNECTS = ("warning", "refresh_requested", "link_disabled")


def looking(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/channels/{channel}/messages")
    async def messages(request: web.Request) -> web.Response:
        channel_id = channel(sandbox, request.match_info["channel"]).id
        thread_ts = request.query.get("thread_ts")
        if thread_ts is None:
            return web.json_response(sandbox.messages.top_level(channel_id))
        if not sandbox.messages.exists(channel_id, thread_ts):
            raise Refusal(f"No message {thread_ts} in {channel_id}.")
        return web.json_response(sandbox.messages.thread(channel_id, thread_ts))

    @routes.get("/sandbox/ephemerals")
    async def ephemerals(request: web.Request) -> web.Response:
        return web.json_response(ephemerals_of(sandbox, _who(sandbox, request)))

    @routes.get("/sandbox/views")
    async def views(request: web.Request) -> web.Response:
        return web.json_response(views_of(sandbox, _who(sandbox, request)))

    @routes.get("/sandbox/home")
    async def home(request: web.Request) -> web.Response:
        return web.json_response(sandbox.views.homes.get(_who(sandbox, request)))

    @routes.get("/sandbox/calls")
    async def calls(request: web.Request) -> web.Response:
        return web.json_response(sandbox.record.calls(read_number(request, "since")))

    @routes.get("/sandbox/violations")
    async def violations(request: web.Request) -> web.Response:
        return web.json_response(sandbox.record.violations)

    return routes


def faulting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/faults")
    async def waiting(request: web.Request) -> web.Response:
        return web.json_response([fault.as_json() for fault in sandbox.faults.waiting])

    @routes.post("/sandbox/faults")
    async def add(request: web.Request) -> web.Response:
        body = await read_object(request)
        if "disconnect" in body:
            return web.json_response({"ok": True, "connections": await _disconnect(sandbox, body)})
        fault = Fault.parse(body)
        sandbox.faults.waiting.append(fault)
        return web.json_response({"ok": True, "fault": fault.as_json()})

    @routes.delete("/sandbox/faults")
    async def clear(request: web.Request) -> web.Response:
        sandbox.faults.clear()
        return web.json_response({"ok": True})

    return routes


def ephemerals_of(sandbox: Sandbox, user: str) -> list[Json]:
    return [one for one in sandbox.messages.ephemerals if one["user_seeing"] == user]


def views_of(sandbox: Sandbox, user: str) -> list[Json]:
    """The person's open modals, the topmost last, each with the errors it shows."""
    return [opened.view | {"errors": opened.errors} for opened in sandbox.views.stack(user)]


def _who(sandbox: Sandbox, request: web.Request) -> str:
    user_id = request.query.get("as")
    if user_id is None:
        raise Refusal("Say whose: `?as=U…`.", 400)
    return person(sandbox, user_id).id


async def _disconnect(sandbox: Sandbox, body: dict[str, Any]) -> int:
    reason = body["disconnect"]
    if reason not in DISCONNECTS:
        raise Refusal(f"`disconnect` is one of {', '.join(DISCONNECTS)}.", 400)
    return await sandbox.socket.disconnect(reason)
