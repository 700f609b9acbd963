"""How the sandbox's own HTTP reads requests and says what is wrong with them."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.sandbox.wire import Json, Refusal

LOCAL_NAMES = {"127.0.0.1", "localhost", "::1"}


async def read_object(request: web.Request) -> Json:
    """A JSON object, or `Refusal`."""
    try:
        body = json.loads(await request.text())
    except ValueError:
        raise Refusal("The body is no JSON.", 400) from None
    if not isinstance(body, dict):
        raise Refusal("The body must be a JSON object.", 400)
    return body


def read_number(request: web.Request, name: str) -> int:
    try:
        return int(request.query.get(name, "0"))
    except ValueError:
        raise Refusal(f"`{name}` must be a number.", 400) from None


@web.middleware
async def plain_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return web.json_response({"ok": False, "error": refusal.why}, status=refusal.status)


@web.middleware
async def same_machine_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn away other sites' pages: neither by a foreign origin nor by a name of their own."""
    if urlsplit(f"//{request.host}").hostname not in LOCAL_NAMES:
        raise Refusal("The sandbox answers to 127.0.0.1 and localhost only.", 403)
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise Refusal("The sandbox answers to its own page only.", 403)
    return await handler(request)
