"""`POST /sandbox/act`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.sandbox.act import clicking, modals, speaking
from bot.sandbox.act.asked import Asked
from bot.sandbox.reading import read_object
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

Act = Callable[[Sandbox, Asked], Awaitable[Json]]

ACTS: dict[str, Act] = {
    "message": speaking.message,
    "command": speaking.command,
    "home": speaking.home,
    "click": clicking.click,
    "submit": modals.submit,
    "close": modals.close,
}


def acting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/sandbox/act")
    async def act(request: web.Request) -> web.Response:
        body = await read_object(request)
        what = body.get("do")
        if not isinstance(what, str) or what not in ACTS:
            raise Refusal(f"`do` is one of {', '.join(ACTS)}.", 400)
        return web.json_response(await ACTS[what](sandbox, Asked(sandbox, body)))

    return routes
