"""Who may do what to an agent's runs, and how many of them one person may start, as it is written."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agent.rules.access import Access
from agent.rules.rule import People

MEMBERS = "members"
_HOW = "write members, or name people: {users: [U0123], groups: [S0123]}"


class NamedPeople(People):
    """Some people, and nobody else."""

    @model_validator(mode="after")
    def _names_somebody(self) -> NamedPeople:
        if self.is_nobody:
            raise ValueError("name at least one user or group, or write members")
        return self


def _members_or_named(written: object) -> object:
    """What is none of the two names nobody, and is refused: never everybody."""
    if written == MEMBERS:
        return None
    if not isinstance(written, dict):
        raise ValueError(_HOW)
    return written


#: None: every full member.
_Who = Annotated[NamedPeople | None, BeforeValidator(_members_or_named)]


class PeopleEntry(BaseModel):
    """The lists of an agent. One that is left out is for every full member."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: _Who = None
    steer: _Who = None
    stop: _Who = None

    @model_validator(mode="after")
    def _says_something(self) -> PeopleEntry:
        if not self.model_fields_set:
            raise ValueError("give at least one of start, steer and stop")
        return self

    @property
    def access(self) -> Access:
        return Access(self.start, self.steer, self.stop)


class StartsEntry(BaseModel):
    """How many runs of an agent may be started."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    per_user_hour: Annotated[int, Field(ge=1, le=10_000, strict=True)]
