"""What tests and the page may look at."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.reading import channel, person, read_number
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

#: What the record tells besides of what passed between Slack and the app.
BEFELL = ("violation", "fault", "again")


def looking(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get("/sandbox/channels/{channel}/messages")
    async def messages(request: web.Request) -> web.Response:
        """As they are; with `as`, as this person sees them (while one is being streamed)."""
        channel_id = request.match_info["channel"]
        found = messages_of(sandbox, channel_id, request.query.get("thread_ts") or None)
        if "as" in request.query:
            user = _who(sandbox, request)
            found = [sandbox.streams.seen_by(user, channel_id, message) for message in found]
        return web.json_response(found)

    @routes.get("/sandbox/channels/{channel}/session")
    async def session(request: web.Request) -> web.Response:
        """What an agent says of itself in a thread, or at the top of a direct message."""
        channel_id = channel(sandbox, request.match_info["channel"]).id
        thread_ts = request.query.get("thread_ts", "")
        return web.json_response(sandbox.sessions.as_json(channel_id, thread_ts))

    @routes.get("/sandbox/ephemerals")
    async def ephemerals(request: web.Request) -> web.Response:
        return web.json_response(ephemerals_of(sandbox, _who(sandbox, request)))

    @routes.get("/sandbox/views")
    async def views(request: web.Request) -> web.Response:
        return web.json_response(views_of(sandbox, _who(sandbox, request)))

    @routes.get("/sandbox/home")
    async def home(request: web.Request) -> web.Response:
        return web.json_response(sandbox.views.homes.get(_who(sandbox, request)))

    @routes.get("/sandbox/calls")
    async def calls(request: web.Request) -> web.Response:
        """Without what befell them: whoever counts what the app did counts only that."""
        recorded = sandbox.record.calls(read_number(request, "since"))
        return web.json_response([one for one in recorded if one["kind"] not in BEFELL])

    @routes.get("/sandbox/violations")
    async def violations(request: web.Request) -> web.Response:
        return web.json_response(sandbox.record.violations)

    return routes


def messages_of(sandbox: Sandbox, channel_id: str, thread_ts: str | None) -> list[Json]:
    """Of a thread, or of the channel's top level; the oldest first. Raises `Refusal`."""
    place = channel(sandbox, channel_id).id
    if thread_ts is None:
        return sandbox.messages.top_level(place)
    if not sandbox.messages.exists(place, thread_ts):
        raise Refusal(f"No message {thread_ts} in {place}.")
    return sandbox.messages.thread(place, thread_ts)


def ephemerals_of(sandbox: Sandbox, user: str) -> list[Json]:
    return [one for one in sandbox.messages.ephemerals if one["user_seeing"] == user]


def views_of(sandbox: Sandbox, user: str) -> list[Json]:
    """The person's open modals, the topmost last, each with the errors it shows."""
    return [opened.view | {"errors": opened.errors} for opened in sandbox.views.stack(user)]


def _who(sandbox: Sandbox, request: web.Request) -> str:
    user_id = request.query.get("as")
    if user_id is None:
        raise Refusal("Say whose: `?as=U…`.", 400)
    return person(sandbox, user_id).id
