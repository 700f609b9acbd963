"""`GET /sandbox/state`: what the page draws, and then what changed since, by long polling."""

from __future__ import annotations

import hashlib
import json

from aiohttp import web

from bot.sandbox.looking import ephemerals_of, views_of
from bot.sandbox.reading import person, read_number
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json
from bot.sandbox.workspace import BOT_USER

POLL_SECONDS = 20.0


def living(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/workspace")
    async def workspace(request: web.Request) -> web.Response:
        return web.json_response(_workspace(sandbox))

    @routes.get("/sandbox/state")
    async def state(request: web.Request) -> web.Response:
        """As `as` sees it. Waits until something changed, if `since` is the newest version."""
        user = person(sandbox, request.query.get("as", "U0ALICE"))
        since = read_number(request, "since") if request.query.get("boot") == sandbox.boot else -1
        await sandbox.record.moved(since, POLL_SECONDS)
        return web.json_response(_state(sandbox, user.id, since))

    return routes


def _workspace(sandbox: Sandbox) -> Json:
    return {
        "bot": BOT_USER,
        "tour": sandbox.tour,
        "shortcuts": sandbox.shortcuts,
        "users": [
            user.as_slack(sandbox.base_url) | {"about": user.about}
            for user in sandbox.workspace.users.values()
        ],
        "groups": [
            group.as_slack() | {"users": list(group.members)}
            for group in sandbox.workspace.groups.values()
        ],
        "channels": [
            {"id": one.id, "name": one.name, "kind": one.kind, "members": one.members}
            | {"shared": one.shared, "person": one.person if one.kind == "im" else None}
            | {"topic": one.topic, "archived": one.archived}
            for one in sandbox.workspace.channels.values()
        ],
    }


def _state(sandbox: Sandbox, user: str, since: int) -> Json:
    changed, gone = [], []
    for channel_id, ts in sandbox.messages.changed_since(since):
        if sandbox.messages.exists(channel_id, ts):
            message = sandbox.messages.read(channel_id, ts, metadata=False)
            seen = sandbox.streams.seen_by(user, channel_id, message)
            changed.append({"channel": channel_id, **seen})
        else:
            gone.append({"channel": channel_id, "ts": ts})
    return {
        "boot": sandbox.boot,
        "version": sandbox.record.version,
        # Asked for only when it is another one: it seldom is.
        "workspace": _digest(_workspace(sandbox)),
        "messages": changed,
        "gone": gone,
        "ephemerals": ephemerals_of(sandbox, user),
        "views": views_of(sandbox, user),
        "home": sandbox.views.homes.get(user),
        "sessions": sandbox.sessions.seen(),
    }


def _digest(facts: Json) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
