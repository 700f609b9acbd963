"""`/sandbox/tokens`: a further token, or one that is there with other scopes."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.reading import read_object
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Refusal


def taking(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/sandbox/tokens")
    async def take(request: web.Request) -> web.Response:
        body = await read_object(request)
        token, scopes = body.get("token"), body.get("scopes")
        if set(body) != {"token", "scopes"} or not isinstance(scopes, list):
            raise Refusal("Give `token`, and `scopes` as a list.", 400)
        added = sandbox.tokens.add(str(token), [str(scope) for scope in scopes])
        return web.json_response({"ok": True, "scopes": added.scopes})

    return routes
