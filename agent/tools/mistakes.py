"""What is wrong with the tools that an author declares: each mistake with its file and line, and those of a
whole module at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from agent.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Mistake:
    """Why a function can't be a tool."""

    tool: str
    #: Where the function is written, and the line of its declaration; empty and 0 where it is written nowhere.
    file: str
    line: int
    #: What is said behind the tool's name.
    what: str

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}: " if self.file else ""
        return f"{at}The tool {self.tool} {self.what}"


_gathered: ContextVar[list[Mistake] | None] = ContextVar("mistakes", default=None)


@contextmanager
def gathering_mistakes() -> Iterator[list[Mistake]]:
    """Within, a mistake in a declaration is put into the list, and what is declared behind it is looked at, too.
    What such a declaration gives then is no tool that could be used."""
    found: list[Mistake] = []
    token = _gathered.set(found)
    try:
        yield found
    finally:
        _gathered.reset(token)


def refuse(function: Callable[..., Any], name: str, mistakes: Sequence[str]) -> None:
    """Raises ``ConfigError``, a line a mistake, unless they are being gathered."""
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
    found = [Mistake(name, file, line, what) for what in mistakes]
    gathered = _gathered.get()
    if gathered is None:
        raise ConfigError("\n".join(map(str, found)))
    gathered += found
