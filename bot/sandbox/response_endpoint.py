"""`POST /response/…`: where response URLs lead."""

from __future__ import annotations

import asyncio

from aiohttp import web

from bot.sandbox.reading import read_object
from bot.sandbox.responses import respond
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, SlackError

#: Under this name faults and the record know these calls.
METHOD = "response_url"


def responding(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/response/{secret}")
    async def response(request: web.Request) -> web.Response:
        body = await read_object(request)
        entry = sandbox.record.note("call", method=METHOD, arguments=body, status=200)
        faults = sandbox.faults.take(METHOD, body)
        if (fault := faults.get("latency")) is not None:
            await asyncio.sleep(fault.value)
        if (fault := faults.get("status")) is not None:
            entry["status"] = fault.value
            return web.Response(status=fault.value, text="the sandbox was asked to fail")
        try:
            if (fault := faults.get("error")) is not None:
                raise SlackError(str(fault.value))
            _respond(sandbox, request.match_info["secret"], body)
        except SlackError as error:
            entry |= {"status": 404, "error": error.code}
            return web.json_response(error.body(), status=404)
        if "drop_after_commit" in faults and request.transport is not None:
            request.transport.abort()
        return web.Response(text="ok")

    return routes


def _respond(sandbox: Sandbox, secret: str, body: Json) -> None:
    origin = sandbox.response_urls.use(secret)
    try:
        respond(sandbox, origin, body)
    except SlackError as error:
        detail = f"{error.code} {' '.join(error.messages)}"
        sandbox.record.violation("limit", detail, METHOD)
        raise
