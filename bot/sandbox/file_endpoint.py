"""Where files go to, and where they are fetched back."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import BodyPartReader, web

from bot.sandbox.calls import Call, cutting, suffer
from bot.sandbox.files import UPLOAD, File
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import SlackError
from bot.sandbox.workspace import TEAM


def filing(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.post("/upload/v1/{secret}")
    async def upload(request: web.Request) -> web.Response:
        file = sandbox.files.expected(request.match_info["secret"])
        if file is None:
            return web.Response(status=404, text="no upload is expected here")
        content = await _read(request, file)
        given = {"file": file.id, "filename": file.name}
        entry = sandbox.record.note("call", method=UPLOAD, file=file.id, status=200)

        def make() -> web.Response:
            if content is None or len(content) != file.length:
                # That Slack compares them is known; with what words it refuses is not.
                return refuse(f"{file.length} bytes were announced")
            file.content = content
            return web.Response(text=f"OK - {file.length}")

        def refuse(words: str) -> web.Response:
            entry["status"] = 400
            return web.Response(status=400, text=words)

        def fail(error: SlackError) -> web.Response:
            return refuse(error.code)

        try:
            call = Call(UPLOAD, given, entry, cutting(request))
            return await suffer(sandbox, call, make, fail)
        finally:
            sandbox.record.settle(entry)

    @routes.get("/sandbox/files/{file}")
    async def look(request: web.Request) -> web.Response:
        """What anybody sees who opens it."""
        try:
            file = sandbox.files.get(request.match_info["file"])
        except SlackError as error:
            raise web.HTTPNotFound(text=error.code) from None
        # Whatever it is, nothing in it runs on the sandbox's own page.
        headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=file.content, headers=headers)

    @routes.get("/files-pri/{place}/{name}")
    async def private(request: web.Request) -> web.StreamResponse:
        place = request.match_info["place"]
        try:
            header = request.headers.get("Authorization", "")
            holder = sandbox.tokens.check(header.removeprefix("Bearer ").strip())
            if "files:read" not in holder.scopes:
                raise SlackError("missing_scope")
        except SlackError:
            # Slack sends whoever may not to a page to sign in.
            raise web.HTTPFound("/") from None
        try:
            file = sandbox.files.get(place.removeprefix(f"{TEAM}-"))
        except SlackError:
            raise web.HTTPNotFound from None
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=file.content, content_type=file.mimetype, headers=headers)

    return routes


async def _read(request: web.Request, file: File) -> bytes | None:
    """The bytes, plain or as the file of a form; None once there are more than announced.

    Piece by piece, so that the limit that holds for other requests doesn't hold here.
    """
    found = bytearray()
    async for piece in _pieces(request):
        found += piece
        if len(found) > file.length:
            return None
    return bytes(found)


async def _pieces(request: web.Request) -> AsyncIterator[bytes]:
    if request.content_type != "multipart/form-data":
        async for piece in request.content.iter_any():
            yield piece
        return
    part = await (await request.multipart()).next()
    if isinstance(part, BodyPartReader):
        while piece := await part.read_chunk():
            yield bytes(piece)
