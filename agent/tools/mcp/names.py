"""Which names of servers and of their tools are taken. Pure.

A rule of the policy is for names. So a name has to be the one that it looks like, and to stay below the name of its
server, whatever the server calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,29}")
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHOWN = 80


def why_no_server(name: str) -> str | None:
    """As a clause; None for one that can be."""
    if _SERVER.fullmatch(name):
        return None
    return (
        "the name of a server begins with a letter (a to z); letters, digits, - and _ follow,"
        " and it has 30 at most"
    )


def why_no_tool(name: str) -> str | None:
    """As a clause; None for one that can be."""
    if _TOOL.fullmatch(name):
        return None
    return (
        f"it has a tool named {name[:_SHOWN]!a}, which a rule could take for another: a name has"
        " letters (a to z), digits, - and _ alone, and 64 at most"
    )


def alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those that differ in nothing but upper and lower case, each with one that was there before. A name that is there
    twice is, too."""
    seen: dict[str, str] = {}
    for name in names:
        if (before := seen.get(name.casefold())) is not None:
            yield before, name
        else:
            seen[name.casefold()] = name
