"""Which tools a rule is for. Pure.

A tool of an MCP server is named ``SERVER.TOOL``, and the server chooses the second half. What lets calls run is read
narrowly: a glob without a dot means the agent's own tools, and no ``*`` reaches from one half into the other; ``*``
alone means all. What asks or refuses is read widely.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

ALL: Final = "*"
#: Between a server's name and its tool's; no other tool's name has one.
DOT: Final = "."
_WILDCARD = re.compile(r"[*?\[\]]")


def is_for(glob: str, tool: str, *, narrowly: bool) -> bool:
    """``narrowly``: the rule allows."""
    if glob in (ALL, tool):
        return True
    if not narrowly:
        return fnmatchcase(tool, glob)
    (server, dot, name), (its_server, its_dot, its_name) = halves(glob), halves(tool)
    return dot == its_dot and fnmatchcase(its_server, server) and fnmatchcase(its_name, name)


def names_one_tool(glob: str) -> bool:
    """Or is it for all that it matches?"""
    return not _WILDCARD.search(glob)


def halves(glob: str) -> tuple[str, str, str]:
    """A server, a dot and its tool; of a tool of the agent's own only the first of them."""
    return glob.partition(DOT)
