"""`/sandbox/inspector`, one entry of the record in full, and `POST /sandbox/again`."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.inspecting.again import send_again, why_not
from bot.sandbox.inspecting.rows import row_of
from bot.sandbox.inspecting.words import Words
from bot.sandbox.reading import read_number, read_object
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json

POLL_SECONDS = 20.0
#: Of older entries a page that comes anew isn't told.
ROWS = 1000


def inspecting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/inspector")
    async def rows(request: web.Request) -> web.Response:
        """Waits until something came or was completed, if `since` is the newest change."""
        same = request.query.get("boot") == sandbox.boot
        since = read_number(request, "since") if same else 0
        await sandbox.record.noted(since, POLL_SECONDS)
        return web.json_response(_rows(sandbox, since))

    @routes.get("/sandbox/calls/{seq:[0-9]{1,12}}")
    async def entry(request: web.Request) -> web.Response:
        seq = int(request.match_info["seq"])
        found = sandbox.record.find(seq)
        reason = why_not(found, sandbox.record.secret_of(seq))
        return web.json_response({"entry": found, "why_not_again": reason})

    @routes.post("/sandbox/again")
    async def again(request: web.Request) -> web.Response:
        return web.json_response(await send_again(sandbox, await read_object(request)))

    return routes


def _rows(sandbox: Sandbox, since: int) -> Json:
    record = sandbox.record
    words = Words(sandbox.workspace)
    found = record.changed_since(since, ROWS)
    return {
        "boot": sandbox.boot,
        "change": record.change,
        "now": sandbox.clock(),
        "oldest": record.oldest,
        "violations": len(record.violations),
        "rows": [row_of(one, record.secret_of(one["seq"]), words) for one in found],
    }
