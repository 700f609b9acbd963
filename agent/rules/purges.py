"""What was removed of runs that ended long ago, as facts of the control journal.

What is removed leaves its hash where it stood. A fact here says which facts of which runs were removed, and covers
what is left of them: so what was blanked by anybody else does not pass for it.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from agent.rules.ids import RunId
from agent.rules.names import NAME

#: Each goes with all of those before it. ``payloads``: arguments, outputs, previews, texts of files.
#: ``transcripts``: what people and models said. ``audit``: who decided what and when; only the run's end is left.
Removed = Literal["payloads", "transcripts", "audit"]
LEVELS: tuple[Removed, ...] = get_args(Removed)
#: The level at which nothing of a run is left but its end.
ALL_GONE = len(LEVELS)


def level_of(removed: Removed | None) -> int:
    """How much is gone, as a number: nothing is 0."""
    return 0 if removed is None else LEVELS.index(removed) + 1


def removed_at(level: object) -> Removed | None:
    """The other way round; None for 0, and for what is no level."""
    return next((one for one in LEVELS if level_of(one) == level), None)


class PurgedPart(BaseModel):
    """What was removed of one run at once: of its facts from ``from_seq`` to ``to_seq``."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run_id: Annotated[RunId, NAME]
    removed: Removed
    #: The limit by which it went, in words, as ``Retention.in_words`` has it.
    rule: str
    from_seq: int = Field(ge=1)
    to_seq: int
    #: Where its journal ended, and the hash that covered all of it.
    head_seq: int
    head_hash: str
    #: Of what is left of these facts; empty where nothing is.
    kept: str = ""
