"""A tool of a server whose change another one of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.rules.ids import OperationId
from agent.tools.mcp.offered import all_taken
from agent.tools.mcp.server import McpServer
from agent.tools.mcp.settings import ServerSettings
from tests.agent.tools.mcp.test_offered import offered, send

BOTH = [offered("commit"), offered("diff")]


async def show(name: str, arguments: Mapping[str, Any], operation: OperationId) -> str:
    return f"{name} {dict(arguments)}"


async def test_only_a_tool_that_reads_shows_what_another_would_change() -> None:
    settings = ServerSettings("git", reads=("diff",), previews={"commit": "diff"})
    tools = all_taken(BOTH, settings, send, show)
    commit, diff = tools["git.commit"], tools["git.diff"]
    assert commit.preview is not None
    assert commit.preview_must_match
    assert await commit.preview({"a": 1}, OperationId("op_1")) == "git.diff {'a': 1}"
    assert (diff.preview, diff.preview_must_match) == (None, False)


@pytest.mark.parametrize(
    ("reads", "previews", "why"),
    [
        ((), {"commit": "diff"}, r"diff can't say what commit would change.*read: \[diff\]"),
        (
            ("diff",),
            {"commits": "diff"},
            "no tool commits, which previews names; there are: commit, diff",
        ),
        (("diff",), {"commit": "diffs"}, "no tool diffs"),
    ],
)
def test_anything_else_refuses_the_start(
    reads: tuple[str, ...], previews: dict[str, str], why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        all_taken(BOTH, ServerSettings("git", reads=reads, previews=previews), send, show)


async def test_a_tool_that_is_gone_shows_nothing() -> None:
    with pytest.raises(LookupError, match=r"no tool git\.diff any more"):
        await McpServer(ServerSettings("git")).show("git.diff", {}, OperationId("op_1"))
