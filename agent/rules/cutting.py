"""Long texts in fewer characters: their beginning and their end, and between them how much is missing."""

from __future__ import annotations

from collections.abc import Iterable

from agent.rules.parts import Cut

_MARK = "\n[… {missing:,} of {whole:,} characters are left out here: this was shortened …]\n"
#: Below this little but the mark would be left.
LEAST = 120


def cut_text(text: str, limit: int | None) -> str:
    """``text`` in at most ``limit`` characters, or ``LEAST`` if that is more; None: as it is. What was cut to as much
    before stays as it is."""
    if limit is None or len(text) <= (limit := max(limit, LEAST)):
        return text
    room = limit - len(_MARK.format(missing=len(text), whole=len(text)))
    tail = room // 4
    head = room - tail
    mark = _MARK.format(missing=len(text) - head - tail, whole=len(text))
    return f"{text[:head]}{mark}{text[len(text) - tail :]}"


def limit_of(cuts: Iterable[Cut], turn: int, *, of_files: bool = False) -> int | None:
    """How much is told of a result of the reply with this number, from nought; ``of_files``: of what came with the
    words before it. Earlier runs are -1."""
    limits = (c.limit for c in cuts if turn < c.turns and (c.with_files or not of_files))
    return min(limits, default=None)
