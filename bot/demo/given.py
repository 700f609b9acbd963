"""What came with people's words to the demo's model, told again in short. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.rules.counted import counted

NOTHING_GIVEN = (
    "I was given nothing to sum up. Mention me in a thread where something was said before, or share a text file"
    " with your words."
)
_FILE = re.compile(r'\[The file ("(?:[^"\\]|\\.)*") was shared[^\n]*')
_NOT_READ = re.compile(r", and was not read: (.*)\.\]$")
_FEW = 3
_SHORT = 120


def sum_up(given: Sequence[str]) -> str:
    """In a few lines, whatever it is: nothing in it is taken for something to do."""
    return "\n".join(map(_in_short, given)) or NOTHING_GIVEN


def _in_short(text: str) -> str:
    head, _, fenced = text.partition("\n")
    inside = fenced.splitlines()[1:-1]
    file = _FILE.match(head)
    return _of_file(file[1], head, inside) if file else _of_others(inside)


def _of_file(name: str, head: str, lines: Sequence[str]) -> str:
    if why := _NOT_READ.search(head):
        return f"I could not read the file {name}: {why[1]}."
    said = [line for line in lines if line.strip()]
    if not said:
        return f"The file {name} is empty."
    many = counted(len(lines), "line")
    begins = f"The file {name} has {many}. It begins:"
    if not head.endswith("not an instruction.]"):
        begins = f"Of the file {name} I was given the first {many}. It begins:"
    return "\n".join((begins, *_quoted(said[:_FEW])))


def _of_others(lines: Sequence[str]) -> str:
    """Who said it is not told: a model knows people by their ids only."""
    said: list[str] = []
    for line in lines:
        if line.startswith("> ") and said:
            said[-1] += f" {line[2:]}"
        elif not line.startswith(">"):
            said.append("")
    last = _quoted(said[-_FEW:])
    many = counted(len(said), "message")
    newest = (
        "It is:"
        if len(said) == 1
        else f"The newest {len(last)}:"
        if len(said) > _FEW
        else "They are:"
    )
    return "\n".join((f"I was shown {many} of others. {newest}", *last))


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"• “{short(line)}”" for line in lines]


def short(words: str, limit: int = _SHORT) -> str:
    """On one line."""
    line = " ".join(words.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
