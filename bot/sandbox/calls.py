"""What each call of the app suffers, of the Web API and of response URLs alike: limits and faults."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from bot.sandbox.rates import Refused, Tier
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, SlackError


@dataclass(frozen=True)
class Call:
    #: A Web API method, or `response_url`.
    method: str
    given: Json
    #: Of the record; it is completed as the call goes.
    entry: Json
    #: Breaks the connection on which the answer is waited for.
    cut: Callable[[], None]
    tier: Tier = Tier.NONE
    channel: str = ""


async def suffer(
    sandbox: Sandbox,
    call: Call,
    make: Callable[[], web.Response],
    fail: Callable[[SlackError], web.Response],
) -> web.Response:
    """Make the call, unless a limit or a fault is before it; `fail` says no in Slack's words."""
    if (refused := sandbox.rates.ask(call.method, call.tier, call.channel)) is not None:
        return _too_many(sandbox, call, refused)
    faults = sandbox.faults.take(call.method, call.given)
    if (fault := faults.get("latency")) is not None:
        await asyncio.sleep(fault.value)
    if (fault := faults.get("ratelimited")) is not None:
        return _too_many(sandbox, call, sandbox.rates.refuse(call.method, fault.retry_after))
    if (fault := faults.get("status")) is not None:
        call.entry["status"] = fault.value
        return web.Response(status=fault.value, text="the sandbox was asked to fail")
    if (fault := faults.get("error")) is not None:
        return fail(SlackError(fault.value))
    response = make()
    if "drop_after_commit" in faults:
        # As a network does at the worst moment: it is done, and nobody is told.
        call.entry["dropped"] = True
        call.cut()
    return response


def cutting(request: web.Request) -> Callable[[], None]:
    """Breaks the connection of this request."""

    def cut() -> None:
        if request.transport is not None:
            request.transport.abort()

    return cut


def _too_many(sandbox: Sandbox, call: Call, refused: Refused) -> web.Response:
    """A 429. To be refused breaks no rule; to ask again before one may does."""
    if refused.knew:
        detail = f"called {refused.seconds} s before Retry-After was over"
        sandbox.record.violation("call_before_retry_after", detail, call.method)
    call.entry.update(status=429, error="ratelimited")
    body = SlackError("ratelimited").body()
    return web.json_response(body, status=429, headers={"Retry-After": str(refused.seconds)})
