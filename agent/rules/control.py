"""The control journal's vocabulary: what happened that belongs to no run.

The same rules hold as for the events of runs: add kinds and optional fields, never change one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self, assert_never, get_args

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    model_validator,
)

from agent.errors import UnknownEvent
from agent.rules.ids import ApprovalId, EventId, GrantId, Principal, RunId, SessionId
from agent.rules.names import NAME, Name
from agent.rules.parts import Authority
from agent.rules.purges import PurgedPart
from agent.rules.upcasts import upcast, version_of


class _ControlEvent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1


class DecisionRefused(_ControlEvent):
    """Somebody wanted to decide an approval and was told no."""

    kind: Literal["decision_refused"] = "decision_refused"
    run_id: RunId
    approval_id: ApprovalId
    #: ``approve``, ``deny``, ``steer``, ``answer``, ``settle``.
    action: str
    by: Principal
    claimed_by: Principal | None = None
    #: The error's stable name (``not_allowed``, ``already_decided`` …), and its words.
    code: str
    message: str


class PolicyLoaded(_ControlEvent):
    """From here on an agent's calls are judged by this policy."""

    kind: Literal["policy_loaded"] = "policy_loaded"
    agent: str
    policy_version: str
    #: The process that loaded it, by its build.
    build: str
    #: The same by its id, where it has one.
    process: str | None = None
    #: What it was read from: the file's name, without the folder, and SHA-256 of its bytes, in hex; None where it
    #: was read from no file, or by an older build.
    file: str | None = None
    digest: str | None = None


class GrantGiven(_ControlEvent):
    """A grant, a principal's standing consent: a call to ``tool`` by ``agent`` may happen without being asked for,
    if each argument that ``where`` names equals what it says. Nothing in ``where``: any arguments, which
    whoever gives it must have said in so many words."""

    kind: Literal["grant_given"] = "grant_given"
    grant_id: Annotated[GrantId, NAME]
    by: Principal
    #: Who spoke for ``by``, when somebody did.
    claimed_by: Principal | None = None
    #: The id by which rules name them, those groups of theirs that could decide, and why they might.
    user: str | None = None
    groups: tuple[str, ...] = ()
    authority: Authority = "listed"
    agent: Name
    tool: str
    where: dict[str, JsonValue]
    #: For one run, or for one session; for neither: wherever the agent is at work.
    run_id: Annotated[RunId, NAME] | None = None
    session: Annotated[SessionId, NAME] | None = None
    expires_at: AwareDatetime | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _is_of_one_scope(self) -> Self:
        if self.run_id is not None and self.session is not None:
            raise ValueError("a grant is for a run or for a session, not for both")
        return self


class GrantRevoked(_ControlEvent):
    """A grant stands no more, from now on."""

    kind: Literal["grant_revoked"] = "grant_revoked"
    grant_id: Annotated[GrantId, NAME]
    by: Principal
    claimed_by: Principal | None = None
    reason: str = ""


class SwitchTurned(_ControlEvent):
    """A switch is on, or off, from now on. What it means, whoever asks for it knows."""

    kind: Literal["switch_turned"] = "switch_turned"
    switch: Name
    is_on: bool
    by: Principal
    claimed_by: Principal | None = None
    reason: str = ""


class SwitchRefused(_ControlEvent):
    """Somebody wanted to turn a switch, and may not."""

    kind: Literal["switch_refused"] = "switch_refused"
    switch: Name
    is_on: bool
    by: Principal
    code: str


class RunsPurged(_ControlEvent):
    """What had been kept long enough was removed of these runs."""

    kind: Literal["runs_purged"] = "runs_purged"
    by: Principal
    parts: tuple[PurgedPart, ...]


class KeyChanged(_ControlEvent):
    """A key is in use from now on, the newest of all (``in_use``); or nothing is kept with it any more
    (``retired``)."""

    kind: Literal["key_changed"] = "key_changed"
    change: Literal["in_use", "retired"]
    #: Of an encryption key; None: the audit key.
    key_id: str | None


ControlEvent = Annotated[
    DecisionRefused
    | PolicyLoaded
    | GrantGiven
    | GrantRevoked
    | SwitchTurned
    | SwitchRefused
    | RunsPurged
    | KeyChanged,
    Field(discriminator="kind"),
]

_ADAPTER: TypeAdapter[ControlEvent] = TypeAdapter(ControlEvent)
_VERSIONS: dict[str, int] = {
    model.model_fields["kind"].default: model.model_fields["version"].default
    for model in get_args(get_args(ControlEvent)[0])
}


def can_change_verdicts(event: ControlEvent) -> bool:
    """May a call that was about to start not start any more, or otherwise, once this is a fact?"""
    match event:
        case PolicyLoaded() | GrantGiven() | GrantRevoked() | SwitchTurned():
            return True
        case DecisionRefused() | SwitchRefused() | RunsPurged() | KeyChanged():
            return False
        case _:
            assert_never(event)


@dataclass(frozen=True, slots=True)
class StampedControl:
    """A control event with its id and its time: ready to be appended, any number of times."""

    id: EventId
    at: datetime
    event: ControlEvent


@dataclass(frozen=True, slots=True)
class RecordedControl:
    """A control event as the journal holds it."""

    seq: int
    id: EventId
    at: datetime
    hash: str
    event: ControlEvent


def refusal_id(event: DecisionRefused) -> EventId:
    """The id of a refused decision: one for each person, approval, action and reason, so that
    somebody who goes on clicking fills no journal."""
    what = (event.approval_id, event.by, event.claimed_by or "", event.action, event.code)
    return EventId("evt_" + hashlib.sha256("\n".join(what).encode()).hexdigest()[:32])


def switch_refusal_id(event: SwitchRefused) -> EventId:
    """As ``refusal_id``: one for each person, switch and wish."""
    what = ("switch", event.switch, str(event.is_on), event.by, event.code)
    return EventId("evt_" + hashlib.sha256("\n".join(what).encode()).hexdigest()[:32])


def dump_control(event: ControlEvent) -> dict[str, Any]:
    """The event as JSON values: ``kind``, ``version`` and its own fields."""
    dumped: dict[str, Any] = _ADAPTER.dump_python(event, mode="json")
    return dumped


def describe_control(recorded: RecordedControl) -> dict[str, Any]:
    """The event as users see it: ``seq``, ``id``, ``at``, ``hash`` and the event's own fields."""
    return {
        "seq": recorded.seq,
        "id": recorded.id,
        "at": recorded.at.isoformat().replace("+00:00", "Z"),
        "hash": recorded.hash,
        **dump_control(recorded.event),
    }


def load_control(fields: Mapping[str, Any]) -> ControlEvent:
    """The event that these JSON values are. Raises ``UnknownEvent`` for what a newer build wrote,
    pydantic's ``ValidationError`` for what no build could have written."""
    current = upcast(dict(fields))
    kind, version = str(current.get("kind")), version_of(current)
    if version > _VERSIONS.get(kind, 0):
        raise UnknownEvent(kind, version)
    return _ADAPTER.validate_python(current)
