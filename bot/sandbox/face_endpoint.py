"""Where people's pictures are fetched."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.faces import SIZES, picture
from bot.sandbox.state import Sandbox


def facing(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.get(r"/faces/{user:\w+}-{size:[0-9]{1,3}}.png")
    async def face(request: web.Request) -> web.Response:
        user, size = request.match_info["user"], int(request.match_info["size"])
        if user not in sandbox.workspace.users or size not in SIZES:
            raise web.HTTPNotFound(text="no such picture")
        return web.Response(body=picture(user, size), content_type="image/png")

    return routes
