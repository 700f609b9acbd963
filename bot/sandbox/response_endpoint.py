"""`POST /response/…`: where response URLs lead."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from bot.sandbox.calls import Call, cutting, suffer
from bot.sandbox.interactions.response_urls import RESPONSE_URL
from bot.sandbox.limits.errors import note_if_avoidable
from bot.sandbox.reading import read_object
from bot.sandbox.responses import respond
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, SlackError


def responding(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/response/{secret}")
    async def response(request: web.Request) -> web.Response:
        body = await read_object(request)
        return await take_response(sandbox, request.match_info["secret"], body, cutting(request))

    return routes


async def take_response(
    sandbox: Sandbox, secret: str, body: Json, cut: Callable[[], None]
) -> web.Response:
    """One use of the response URL that ends with `secret`; `cut` breaks its connection."""
    entry = sandbox.record.note(
        "call", secret=secret, method=RESPONSE_URL, arguments=body, status=200
    )

    def make() -> web.Response:
        try:
            _respond(sandbox, secret, body)
        except SlackError as error:
            return fail(error)
        return web.Response(text="ok")

    def fail(error: SlackError) -> web.Response:
        # Used and expired URLs answer so. That other errors do, too, is a guess.
        entry.update(status=404, error=error.code)
        return web.json_response(error.body(), status=404)

    try:
        return await suffer(sandbox, Call(RESPONSE_URL, body, entry, cut), make, fail)
    finally:
        sandbox.record.settle(entry)


def _respond(sandbox: Sandbox, secret: str, body: Json) -> None:
    try:
        respond(sandbox, sandbox.response_urls.use(secret), body)
    except SlackError as error:
        note_if_avoidable(sandbox.record, error, RESPONSE_URL)
        raise
