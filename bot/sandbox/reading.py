"""How the sandbox's own HTTP reads requests and says what is wrong with them."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, parse_json
from bot.sandbox.workspace import Channel, User

LOCAL_NAMES = {"127.0.0.1", "localhost", "::1"}


async def read_object(request: web.Request) -> Json:
    """A JSON object, or `Refusal`."""
    try:
        body = parse_json(await request.text())
    except (ValueError, LookupError):
        # LookupError: of a charset that there isn't.
        raise Refusal("The body is no JSON.", 400) from None
    if not isinstance(body, dict):
        raise Refusal("The body must be a JSON object.", 400)
    return body


def read_number(request: web.Request, name: str) -> int:
    try:
        return int(request.query.get(name, "0"))
    except ValueError:
        raise Refusal(f"`{name}` must be a number.", 400) from None


def person(sandbox: Sandbox, user_id: str) -> User:
    user = sandbox.workspace.users.get(user_id)
    if user is None or user.is_bot:
        people = [one.id for one in sandbox.workspace.users.values() if not one.is_bot]
        raise Refusal(f"No user {user_id}. There are: {', '.join(people)}.")
    return user


def channel(sandbox: Sandbox, channel_id: str) -> Channel:
    found = sandbox.workspace.channels.get(channel_id)
    if found is None:
        known = ", ".join(sandbox.workspace.channels)
        raise Refusal(f"No channel {channel_id}. There are: {known}.")
    return found


@web.middleware
async def plain_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return web.json_response({"ok": False, "error": refusal.why}, status=refusal.status)


def known_names_only(name: str | None) -> Middleware:
    """Turn away other sites' pages: neither by a foreign origin nor by a name of their own.

    Such a name can lead to this machine; the header says that it was that name. A page that calls by
    GET sends no origin: there the browser says where it comes from. `name`: a further one under which
    this sandbox is reached.
    """
    names = {*LOCAL_NAMES, name.lower()} if name else LOCAL_NAMES

    @web.middleware
    async def refuse_strangers(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = _host_in(f"//{request.host}")
        if host not in names and not is_loopback(host):
            raise Refusal(f"The sandbox answers to {', '.join(sorted(names))} only.", 403)
        origin = request.headers.get("Origin")
        is_foreign = origin is not None and _place_in(origin) != request.host
        if is_foreign or (_is_from_elsewhere(request) and not _is_link_to_page(request)):
            raise Refusal("The sandbox answers to its own page only.", 403)
        return await handler(request)

    return refuse_strangers


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_from_elsewhere(request: web.Request) -> bool:
    return request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")


def _is_link_to_page(request: web.Request) -> bool:
    """A click on a link elsewhere, which does nothing but show the page in a window of its own."""
    is_document = request.headers.get("Sec-Fetch-Dest") == "document"
    return (request.method, request.path) == ("GET", "/") and is_document


def _host_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _place_in(address: str) -> str | None:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return None
