"""Which tools say that what they give is in words of whom nobody vouches for."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pydantic_ai import FunctionToolset
from pydantic_ai.mcp import MCPToolset

from agent import Toolbox, from_toolset, tool
from agent.errors import ConfigError


def look() -> str:
    """Look something up."""
    return "found"


def only(box: Toolbox) -> bool:
    (one,) = box
    return one.is_untrusted


def test_a_tool_says_so_itself() -> None:
    assert tool(untrusted=True)(look).is_untrusted
    assert not tool(look).is_untrusted
    with pytest.raises(ConfigError, match="has 'yes' for untrusted; say True or False"):
        tool(untrusted="yes")(look)  # type: ignore[call-overload]


def test_of_a_toolset_whoever_takes_it_says_so() -> None:
    toolset: FunctionToolset[Any] = FunctionToolset([look])
    assert not only(from_toolset(toolset))
    assert only(from_toolset(toolset, untrusted=True))
    assert only(from_toolset(toolset.prefixed("x"), untrusted=True))


SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("s")
@server.tool()
def look() -> str:
    "Look something up."
    return "found"
server.run()
"""


def test_one_with_an_mcp_server_is_untrusted_by_whatever_wrapper() -> None:
    from fastmcp.client.transports import StdioTransport

    server: MCPToolset[Any] = MCPToolset(StdioTransport(sys.executable, ["-c", SERVER]))
    assert only(from_toolset(server.prefixed("wrapped")))
