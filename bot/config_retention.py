"""How long what ended is kept, as it is written in ``pilothouse.yml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from agent.rules.durations import read_duration, show_duration
from agent.rules.purges import LEVELS, Removed
from agent.rules.retention import KEY_IS_YOUNG, SHORTEST, STATUSES, Ended, Retention
from agent.rules.wrong_key import wrong_key

_HOW = "write a length of time such as 90d, or one for each: {finished: 30d, failed: 90d, cancelled: 30d}"


def _length(written: object) -> timedelta:
    if not isinstance(written, str):
        raise ValueError("write a length of time such as 90d")
    length = read_duration(written)
    if length < SHORTEST:
        raise ValueError(f"{written} is too short; {show_duration(SHORTEST)} is the least")
    return length


_Length = Annotated[timedelta, BeforeValidator(_length)]


class ByEnding(BaseModel):
    """A length for runs that ended so; those of an ending that is left out are kept for ever."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    finished: _Length | None = None
    failed: _Length | None = None
    cancelled: _Length | None = None

    @model_validator(mode="after")
    def _says_something(self) -> ByEnding:
        if not any(self.lengths.values()):
            raise ValueError(_HOW)
        return self

    @property
    def lengths(self) -> Mapping[Ended, timedelta]:
        given = {"finished": self.finished, "failed": self.failed, "cancelled": self.cancelled}
        return {name: length for name in STATUSES if (length := given[name]) is not None}


def _for_each(written: object) -> object:
    if isinstance(written, str):
        return dict.fromkeys(STATUSES, written)
    if not isinstance(written, dict):
        raise ValueError(_HOW)
    return written


_Kept = Annotated[ByEnding | None, BeforeValidator(_for_each)]


class RetentionEntry(BaseModel):
    """How long each kind is kept after a run's end; what is left out is kept for ever."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    payloads: _Kept = None
    transcripts: _Kept = None
    audit: _Kept = None

    @model_validator(mode="after")
    def _is_in_order(self) -> RetentionEntry:
        kept = self.retention.kept_for
        if not kept:
            raise ValueError("say how long payloads, transcripts or audit are kept, or take it out")
        for removed, ending, length in self._all():
            if removed != "payloads" and length < KEY_IS_YOUNG:
                raise wrong_key(
                    removed,
                    f"{show_duration(KEY_IS_YOUNG)} is the least: a start that is delivered once more has to"
                    " find its run",
                )
            for longer in LEVELS[LEVELS.index(removed) + 1 :]:
                limit = kept.get(longer, {}).get(ending)
                if limit is not None and limit < length:
                    raise wrong_key(
                        removed,
                        f"of {ending} runs they go with {longer}, after {show_duration(limit)}; keep {longer} as"
                        f" long, or {removed} no longer",
                    )
        return self

    @property
    def retention(self) -> Retention:
        entries: dict[Removed, ByEnding | None] = {
            "payloads": self.payloads,
            "transcripts": self.transcripts,
            "audit": self.audit,
        }
        return Retention({name: one.lengths for name, one in entries.items() if one is not None})

    def _all(self) -> Iterator[tuple[Removed, Ended, timedelta]]:
        for removed, by_ending in self.retention.kept_for.items():
            for ending, length in by_ending.items():
                yield removed, ending, length
