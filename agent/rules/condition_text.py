"""The text of a condition: its code and its literals apart, and what of it is read by its form. Pure.

The library compiles an expression, and tells little of it: which names it uses, which functions it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_APART = re.compile(
    r"""//[^\n]*|\b[rR][bB]?(?:"[^"\n]*"|'[^'\n]*')|"{3}.*?"{3}|'{3}.*?'{3}"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_MACRO = re.compile(r"\.\s*(?P<name>all|exists|exists_one|map|filter)\s*\(")
#: What may be all of it, each time.
_ALL_OF_IT = re.compile(r"(?<![\w.])args\b")
_COPIES = frozenset({"map", "filter"})


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that is written out, as it is written, and where."""

    start: int
    end: int
    written: str

    @property
    def text(self) -> str:
        """What it says; escapes are left as they are."""
        plain = self.written.lstrip("rRbB")
        width = 3 if plain[:3] in ('"""', "'''") else 1
        return plain[width:-width]


def literals(source: str) -> Iterator[Literal]:
    """All texts that are written out, in their order."""
    for match in _APART.finditer(source):
        if not match[0].startswith("//"):
            yield Literal(match.start(), match.end(), match[0])


def code_of(source: str) -> str:
    """The same without what literals and comments say, each character in its place: ``""`` stays of a literal."""

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith("//"):
            return " " * len(match[0])
        return '"' + " " * (len(match[0]) - 2) + '"'

    return _APART.sub(blank, source)


def steepness(code: str) -> int:
    """With which power of the number of values it looks at the work grows, at most: nought where each is looked at
    once at all."""
    macros = {match.end() - 1: match["name"] for match in _MACRO.finditer(code)}
    looks = {match.start() for match in _ALL_OF_IT.finditer(code)}
    inside: list[str | None] = []
    steepest = 0
    for at, character in enumerate(code):
        if character == "(":
            inside.append(macros.get(at))
        elif character == ")" and inside:
            inside.pop()
        names = [name for name in inside if name is not None]
        if names and (at in macros or at in looks):
            copies = not _COPIES.isdisjoint(names)
            steepest = max(steepest, len(names) + copies + (at in looks))
    return steepest
