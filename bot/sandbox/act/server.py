"""`POST /sandbox/act`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.sandbox.act import (
    administering,
    clicking,
    commands,
    managing,
    modals,
    other_apps,
    reacting,
    shortcuts,
    speaking,
    stopping,
    suggesting,
    visiting,
)
from bot.sandbox.act.asked import Asked
from bot.sandbox.reading import read_object
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

Act = Callable[[Sandbox, Asked], Awaitable[Json]]

ACTS: dict[str, Act] = {
    "message": speaking.message,
    "edit": speaking.edit,
    "delete": speaking.delete,
    "bot_message": other_apps.bot_message,
    "unfurl": other_apps.unfurl,
    "react": reacting.add,
    "unreact": reacting.remove,
    "command": commands.command,
    "shortcut": shortcuts.shortcut,
    "home": visiting.home,
    "join": visiting.join,
    "leave": visiting.leave,
    "invite": visiting.invite,
    "set_group": managing.set_group,
    "deactivate": managing.deactivate,
    "reactivate": managing.reactivate,
    "stop_session": stopping.stop_session,
    "click": clicking.click,
    "options": suggesting.options,
    "submit": modals.submit,
    "close": modals.close,
    "verify_urls": administering.verify_urls,
}


def acting(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/sandbox/act")
    async def asked(request: web.Request) -> web.Response:
        return web.json_response(await act(sandbox, await read_object(request)))

    return routes


async def act(sandbox: Sandbox, body: Json) -> Json:
    """One act of one person, of another app or of Slack itself. Raises `Refusal`."""
    what = body.get("do")
    if not isinstance(what, str) or what not in ACTS:
        raise Refusal(f"`do` is one of {', '.join(ACTS)}.", 400)
    return await ACTS[what](sandbox, Asked(sandbox, body))
