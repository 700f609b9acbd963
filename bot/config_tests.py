"""Calls as people write them down, to see what a policy makes of them: ``tests`` of ``pilothouse.yml``, and files of
examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    model_validator,
)

from agent.rules.named_ids import GroupIds, UserIds
from agent.rules.requesters import RequesterKind
from agent.rules.values import read_moment

#: All of a principal: ``slack:TEAM:USER``, ``cli:NAME``; or a person's id alone.
_PRINCIPAL = re.compile(r"[UW][A-Z0-9_]+|[a-z]+:\S+")
#: The workspace of a person who is named by their id alone.
ANY_TEAM = "T0"


def _requester(name: str) -> str:
    if not _PRINCIPAL.fullmatch(name):
        raise ValueError(f"{name!r} is nobody's id; write one such as U0123, or slack:T0123:U0123")
    return name if ":" in name else f"slack:{ANY_TEAM}:{name}"


def _plain(value: Any) -> Any:
    """What YAML takes for a date, as the text that it is."""
    match value:
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return value


def _moment(value: Any) -> datetime:
    """A time of a zone, as YAML takes it or as the text that it is."""
    at = value if isinstance(value, datetime) else read_moment(value)
    if at is None or at.tzinfo is None:
        raise ValueError("write a time and its zone, such as 2026-11-30T14:00:00Z")
    return at


_Args = Annotated[dict[str, JsonValue], BeforeValidator(_plain)]
_Text = Annotated[str, Field(min_length=1)]


class ExampleCall(BaseModel):
    """A call that somebody might have an agent propose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: _Text
    args: _Args = Field(default_factory=dict)
    requester: Annotated[str, AfterValidator(_requester)]
    #: Left out: the one that is meant when nobody is named.
    agent: _Text | None = None
    channel: str | None = None
    session: str = "session_example"
    #: Of the requester. Left out: it is not known.
    groups: GroupIds | None = None
    kind: RequesterKind | None = None
    tainted: StrictBool = False


class TimedCall(ExampleCall):
    """And when."""

    #: Left out: at no time in particular, when no freeze window is open.
    at: Annotated[datetime, BeforeValidator(_moment)] | None = None


class ExpectedApprovers(BaseModel):
    """Who is to decide; what is left out may be as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    users: UserIds | None = None
    groups: GroupIds | None = None
    one_from_each: GroupIds | None = None
    count: Annotated[int, Field(ge=1, strict=True)] | None = None
    requester: StrictBool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> ExpectedApprovers:
        if not self.model_fields_set:
            raise ValueError("say who is to decide, or take it out")
        return self


class PolicyTest(TimedCall):
    """And what is to become of it."""

    #: ``frozen``: it is allowed, and a freeze window keeps it.
    expect: Literal["allow", "ask", "deny", "frozen"]
    reason: str | None = None
    approvers: ExpectedApprovers | None = None
