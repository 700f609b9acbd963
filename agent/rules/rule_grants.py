"""The ``grants`` of a rule, as they are written: which consent people may give beforehand."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agent.rules.parts import GrantScope
from agent.rules.rule_durations import Duration

#: For how long a grant may hold at most where its rule does not say: a working day.
GRANTS_LAST = timedelta(hours=8)


class RuleGrants(BaseModel):
    """Which grants people may give with their yes, and for how long at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scopes: tuple[GrantScope, ...] = Field(min_length=1)
    #: Left out: ``GRANTS_LAST``.
    longest: Duration | None = None

    @field_validator("scopes")
    @classmethod
    def _are_different(cls, scopes: tuple[GrantScope, ...]) -> tuple[GrantScope, ...]:
        if len(set(scopes)) < len(scopes):
            raise ValueError("each scope is named once")
        return scopes

    @field_validator("longest")
    @classmethod
    def _lasts(cls, longest: timedelta | None) -> timedelta | None:
        if longest is not None and longest <= timedelta():
            raise ValueError("it has to be longer than no time at all")
        return longest
