"""A small MCP server for git, which offers what ``mcp-server-git`` does under the same names.

That one can't be in one environment with the tests: ``make test-mcp`` tries it."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TEXT = {"type": "string"}
#: By name: what it takes beside the repository, and what git is told.
TOOLS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "git_status": ({}, ["status"]),
    "git_diff_staged": ({"context_lines": {"type": "integer", "default": 3}}, ["diff", "--cached"]),
    "git_diff_unstaged": ({"context_lines": {"type": "integer", "default": 3}}, ["diff"]),
    "git_log": ({"max_count": {"type": "integer", "default": 10}}, ["log", "--format=%s"]),
    "git_show": ({"revision": TEXT}, ["show"]),
    "git_add": ({"files": {"type": "array", "items": TEXT}}, ["add"]),
    "git_commit": ({"message": TEXT}, ["commit", "--quiet", "-m"]),
}


async def listed(_: Any, __: Any) -> types.ListToolsResult:
    tools = []
    for name, (parameters, _words) in TOOLS.items():
        properties = {"repo_path": TEXT, **parameters}
        required = [one for one, declared in properties.items() if "default" not in declared]
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append({"name": name, "description": f"Runs {name}.", "inputSchema": schema})
    return types.ListToolsResult.model_validate({"tools": tools})


async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    more = [given.get(name) for name in ("revision", "message") if name in given]
    words = [*TOOLS[params.name][1], *more, *given.get("files", ())]
    done = await asyncio.to_thread(
        subprocess.run, ["git", *words], cwd=given["repo_path"], capture_output=True, text=True
    )
    content = [{"type": "text", "text": done.stdout or done.stderr or "done"}]
    return types.CallToolResult.model_validate(
        {"content": content, "isError": done.returncode != 0}
    )


async def main() -> None:
    server: Server[Any] = Server("git", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
