"""A real MCP server that keeps notes in a folder, and misbehaves when told to.

``python notes.py FOLDER`` speaks through its standard input, ``python notes.py FOLDER PORT`` over HTTP on loopback.
What lies in the folder says how it is: ``tools.json`` which tools it has.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

#: Where the library writes its messages, past which nothing gets by ``sys.stdout``.
WIRE = os.dup(1)
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
#: By name: the schema, and what is said of it beside that.
TOOLS: dict[str, dict[str, Any]] = {
    "add_note": {"inputSchema": TEXT, "title": "Add a note", "description": "Keep a note."},
    "list_notes": {"inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    "refuse": {"inputSchema": NOTHING},
    "vanish": {"inputSchema": TEXT, "annotations": {"destructiveHint": True}},
    "wait": {"inputSchema": NOTHING},
    "environment": {"inputSchema": NOTHING},
    "picture": {"inputSchema": NOTHING},
    "flood": {"inputSchema": NOTHING},
}


def tools() -> dict[str, dict[str, Any]]:
    said = FOLDER / "tools.json"
    found: dict[str, dict[str, Any]] = json.loads(said.read_text()) if said.exists() else TOOLS
    return found


def note(text: str) -> None:
    with (FOLDER / "notes.txt").open("a") as notes:
        notes.write(f"{text}\n")


async def listed(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult.model_validate(
        {"tools": [{"name": name, **said} for name, said in tools().items()]}
    )


async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    match params.name:
        case "add_note":
            note(given["text"])
            return text("noted")
        case "list_notes":
            return text((FOLDER / "notes.txt").read_text())
        case "refuse":
            return text("There is no room for it.", is_error=True)
        case "vanish":
            note(given["text"])
            os._exit(3)
        case "wait":
            note("waiting")
            # Nothing else tells another process.
            while not (FOLDER / "go").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            return text("done")
        case "environment":
            said = {"names": sorted(os.environ), "meta": dict(context.meta or {})}
            return text(json.dumps(said, default=str))
        case "picture":
            image = types.ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")
            return types.CallToolResult(content=[image])
        case "flood":
            note("flooding")
            while True:
                os.write(WIRE, b"x" * 65_536)
        case _:
            return text("unknown", is_error=True)


def text(said: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=said)], is_error=is_error
    )


SERVER: Server[Any] = Server("notes", on_list_tools=listed, on_call_tool=called)


async def through_pipes() -> None:
    sys.stderr.write(f"ready; my key is {os.environ.get('NOTES_KEY')}\n")
    sys.stderr.flush()
    # Which belongs there as little.
    sys.stdout.write(f"no message, but {os.environ.get('NOTES_KEY')}\n")
    sys.stdout.flush()
    (FOLDER / "pid").write_text(str(os.getpid()))
    note("started")
    async with stdio_server() as (reading, writing):
        await SERVER.run(reading, writing, SERVER.create_initialization_options())
    note("ended")


class Guarded(BaseHTTPMiddleware):
    """With a key, where one is set."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        key = os.environ.get("NOTES_KEY")
        if key and request.headers.get("authorization") != f"Bearer {key}":
            return PlainTextResponse("no", status_code=401)
        return await call_next(request)


def over_http(port: int) -> None:
    app = SERVER.streamable_http_app()
    app.user_middleware.append(Middleware(Guarded))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        over_http(int(sys.argv[2]))
    else:
        asyncio.run(through_pipes())
