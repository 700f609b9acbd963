"""`/sandbox/faults`."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.ordering.at_once import AT_ONCE
from bot.sandbox.ordering.orders import FaultOrders
from bot.sandbox.reading import read_object
from bot.sandbox.state import Sandbox


def faulting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()
    orders = FaultOrders(sandbox)

    @routes.get("/sandbox/faults")
    async def waiting(request: web.Request) -> web.Response:
        return web.json_response([*orders.waiting, *orders.standing])

    @routes.post("/sandbox/faults")
    async def add(request: web.Request) -> web.Response:
        body = await read_object(request)
        if any(name in body for name in AT_ONCE):
            return web.json_response(await orders.now(**body))
        return web.json_response({"ok": True, "fault": orders.add(**body).as_json()})

    @routes.delete("/sandbox/faults")
    async def heal(request: web.Request) -> web.Response:
        orders.heal()
        return web.json_response({"ok": True})

    @routes.delete("/sandbox/faults/{number:[0-9]{1,9}}")
    async def heal_one(request: web.Request) -> web.Response:
        orders.heal_one(int(request.match_info["number"]))
        return web.json_response({"ok": True})

    return routes
