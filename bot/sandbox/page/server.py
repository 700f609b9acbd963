"""Serves the page's files."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Refusal

FOLDER = Path(__file__).parent
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def showing(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()
    files = {path.name: path for path in FOLDER.iterdir() if path.suffix in TYPES}

    @routes.get("/")
    async def index(request: web.Request) -> web.Response:
        return _file(files["index.html"])

    @routes.get("/archives/{channel}/{message}")
    async def permalink(request: web.Request) -> web.Response:
        """The page itself finds the message."""
        return _file(files["index.html"])

    @routes.get("/page/{name}")
    async def file(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in files:
            raise Refusal(f"No file {name}.")
        return _file(files[name])

    return routes


def _file(path: Path) -> web.Response:
    body = path.read_bytes()
    return web.Response(
        body=body, content_type=TYPES[path.suffix], charset="utf-8", headers=HEADERS
    )
