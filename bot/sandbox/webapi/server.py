"""`/api/METHOD`: token, faults, the method itself, and the record of it all."""

from __future__ import annotations

import asyncio
import math

from aiohttp import web

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, read_arguments
from bot.sandbox.webapi.methods import METHODS, WITH_APP_TOKEN
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import APP_TOKEN, BOT_TOKEN

SCOPES = (
    "app_mentions:read,channels:history,channels:join,channels:read,chat:write,"
    "chat:write.public,commands,groups:history,groups:read,im:history,im:read,im:write,"
    "mpim:history,mpim:read,reactions:write,usergroups:read,users:read,users:read.email"
)
LIMIT_ERRORS = {
    "invalid_blocks",
    "invalid_arguments",
    "invalid_metadata_format",
    "msg_too_long",
    "no_text",
    "view_too_large",
    "push_limit_reached",
}


def web_api(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.route("*", "/api/{method}")
    async def call(request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            given = await read_arguments(request)
        except SlackError as error:
            return web.json_response(error.body())
        token = _token(request, given)
        return await answer(sandbox, request, method, given, token)

    return routes


async def answer(
    sandbox: Sandbox, request: web.Request, method: str, given: Json, token: str
) -> web.StreamResponse:
    """Suffer the faults that wait for this call, make it, and answer as Slack would."""
    entry = sandbox.record.note("call", method=method, arguments=given, status=200)
    faults = sandbox.faults.take(method, given)
    if (fault := faults.get("latency")) is not None:
        await asyncio.sleep(fault.value)
    wait = _wait_left(sandbox, method)
    if wait is None and (fault := faults.get("ratelimited")) is not None:
        wait = fault.retry_after
        sandbox.faults.refused(method, sandbox.clock(), wait)
    if wait is not None:
        entry |= {"status": 429, "error": "ratelimited"}
        body: Json = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers={"Retry-After": str(wait)})
    if (fault := faults.get("status")) is not None:
        entry["status"] = fault.value
        return web.Response(status=fault.value, text="the sandbox was asked to fail")
    if (fault := faults.get("error")) is not None:
        body = SlackError(str(fault.value)).body()
    else:
        body = _call(sandbox, method, given, token)
    entry |= {"ok": body["ok"], "answer": body}
    if "drop_after_commit" in faults:
        entry["dropped"] = True
        return _drop(request)
    return web.json_response(body, headers={"X-OAuth-Scopes": SCOPES})


def _call(sandbox: Sandbox, method: str, given: Json, token: str) -> Json:
    try:
        _check_token(method, token)
        if method not in METHODS:
            raise SlackError("unknown_method", req_method=method)
        return {"ok": True, **METHODS[method](sandbox, Arguments(given))}
    except SlackError as error:
        if error.code in LIMIT_ERRORS:
            detail = "; ".join([error.code, *error.messages])
            sandbox.record.violation("limit", detail, method)
        return error.body()


def _token(request: web.Request, given: Json) -> str:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ").strip() or str(given.pop("token", ""))


def _check_token(method: str, token: str) -> None:
    if not token:
        raise SlackError("not_authed")
    if token not in (BOT_TOKEN, APP_TOKEN):
        raise SlackError("invalid_auth")
    if (token == APP_TOKEN) != (method in WITH_APP_TOKEN):
        raise SlackError("not_allowed_token_type")


def _wait_left(sandbox: Sandbox, method: str) -> int | None:
    """Whole seconds until this method may be called again, if it was told to wait."""
    refused = sandbox.faults.still_refused(method, sandbox.clock())
    if refused is None:
        return None
    left, could_have_known = refused
    if could_have_known:
        detail = f"called {left:.2f} s before Retry-After was over"
        sandbox.record.violation("call_before_retry_after", detail, method)
    return math.ceil(left)


def _drop(request: web.Request) -> web.StreamResponse:
    """Close the connection without an answer, as a network does at the worst moment."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
