"""`/sandbox/policies`: what an admin has set, to look at and to change."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.reading import read_object
from bot.sandbox.state import Sandbox


def setting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/policies")
    async def current(request: web.Request) -> web.Response:
        return web.json_response(sandbox.policies.as_json())

    @routes.post("/sandbox/policies")
    async def change(request: web.Request) -> web.Response:
        """Sets what the body names."""
        sandbox.policies.change(await read_object(request))
        return web.json_response({"ok": True, **sandbox.policies.as_json()})

    return routes
