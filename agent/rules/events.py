"""The journal's vocabulary: everything that can happen to a run.

Add kinds, and optional fields; never change or remove one. A changed meaning is a new ``version``
and an entry in ``upcasts``. Names are past tense: an event is a fact, and facts are not judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from agent.errors import UnknownEvent
from agent.rules.ids import (
    ApprovalId,
    CallId,
    EventId,
    GroupId,
    OperationId,
    Principal,
    RunId,
    SessionId,
)
from agent.rules.upcasts import upcast, version_of

Effect = Literal["read", "idempotent", "once"]
ApprovalKind = Literal["call", "review"]
ReceiptStatus = Literal["committed", "rejected", "unknown"]
SettleOutcome = Literal["happened", "not_happened", "check", "give_up"]
DecisionAction = Literal["approve", "deny", "steer", "settle"]


class Part(BaseModel):
    """A value inside an event. Unknown fields, of a newer build, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ProposedCall(Part):
    """A tool call as the model wrote it; ``arguments`` is the text that is to be JSON."""

    call_id: CallId
    operation_id: OperationId
    #: The provider's own id, echoed back with the result. It may repeat, and nothing is keyed by it.
    model_call_id: str
    tool: str
    arguments: str


class Usage(Part):
    """What one model reply used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)


class Approvers(Part):
    """Who may decide. Users and groups are ids; nobody named means the operator alone."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    #: May the one who asked for the run decide it too?
    requester: bool = False


class Verdict(Part):
    """What the policy says of one call, and where it says so."""

    action: Literal["allow", "ask", "deny"]
    reason: str
    #: The rule in words, as it stands on the card and in the audit.
    rule: str
    policy_version: str
    approvers: Approvers = Approvers()


class Receipt(Part):
    """What is known of a call's effect."""

    status: ReceiptStatus
    external_id: str | None = None


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1


class RunStarted(_Event):
    """Somebody gave an agent something to do."""

    kind: Literal["run_started"] = "run_started"
    agent: str
    session: SessionId
    prompt: str
    requester: Principal
    #: Where the conversation takes place, for a condition of the policy; a channel's id.
    channel: str | None = None
    #: Where the thread is to be shown. Opaque here: the bot writes and reads it.
    place: str | None = None


class ModelReplied(_Event):
    """The model answered: with text, with calls, or with both."""

    kind: Literal["model_replied"] = "model_replied"
    text: str
    calls: tuple[ProposedCall, ...] = ()
    #: The seq that the model had seen when it was asked.
    asked_at: int
    model: str
    usage: Usage = Usage()


class ModelFailed(_Event):
    """A model request failed. Without ``retry_at`` it is not tried again."""

    kind: Literal["model_failed"] = "model_failed"
    error: str
    retry_at: AwareDatetime | None = None


class CallJudged(_Event):
    """A call's arguments fit the tool's schema, and the policy gave its verdict."""

    kind: Literal["call_judged"] = "call_judged"
    call_id: CallId
    title: str
    effect: Effect
    args: dict[str, JsonValue]
    #: The JSON schema of the arguments, so that a card can show them long afterwards.
    parameters: dict[str, Any]
    schema_digest: str
    verdict: Verdict


class CallRefused(_Event):
    """A call will not run, and no person was asked: its message is its result."""

    kind: Literal["call_refused"] = "call_refused"
    call_id: CallId
    code: Literal["unknown_tool", "malformed", "invalid_args", "policy"]
    message: str
    #: Where the policy refused it: the verdict.
    verdict: Verdict | None = None


class ApprovalRequested(_Event):
    """A question to a person. Immutable: a changed question is a new one that supersedes it."""

    kind: Literal["approval_requested"] = "approval_requested"
    approval_id: ApprovalId
    group: GroupId
    approval_kind: ApprovalKind = "call"
    call_id: CallId
    tool: str
    title: str
    args: dict[str, JsonValue]
    preview: str | None = None
    reason: str
    rule: str
    policy_version: str
    #: Of tool, schema, arguments and preview: what a yes is a yes to.
    hash: str
    approvers: Approvers
    expires_at: AwareDatetime | None = None
    supersedes: ApprovalId | None = None


class ApprovalDecided(_Event):
    """A principal decided an approval; the first decision is the only one."""

    kind: Literal["approval_decided"] = "approval_decided"
    approval_id: ApprovalId
    action: DecisionAction
    by: Principal
    #: Who spoke for ``by``, when somebody did (an operator's ``--by``).
    claimed_by: Principal | None = None
    note: str | None = None
    reason: str | None = None
    #: Steer by arguments: all arguments, as they are to be used.
    args: dict[str, JsonValue] | None = None
    #: Steer by guidance.
    guidance: str | None = None
    #: Settle: what became of an unknown effect.
    outcome: SettleOutcome | None = None


class CallStarted(_Event):
    """Durable before the effect. From here on the effect may have happened."""

    kind: Literal["call_started"] = "call_started"
    call_id: CallId
    attempt: int
    #: When nobody can still be running it; found started after this, it is recovered.
    deadline: AwareDatetime


class CallReturned(_Event):
    """The one result of a call, and what is known of its effect."""

    kind: Literal["call_returned"] = "call_returned"
    call_id: CallId
    is_error: bool = False
    #: What the model is told: JSON.
    output: JsonValue
    receipt: Receipt | None = None
    #: Found by looking the effect up, not by running the call.
    is_found: bool = False


class CallLeftUnknown(_Event):
    """A call ended with no word on its effect, and it can't simply be run again."""

    kind: Literal["call_left_unknown"] = "call_left_unknown"
    call_id: CallId
    detail: str
    #: Is there a way to look the effect up again?
    can_be_checked: bool = False


class RunFinished(_Event):
    """The agent is done; ``answer`` is its last word."""

    kind: Literal["run_finished"] = "run_finished"
    answer: str


class RunFailed(_Event):
    """The run can't go on."""

    kind: Literal["run_failed"] = "run_failed"
    error: str


Event = Annotated[
    RunStarted
    | ModelReplied
    | ModelFailed
    | CallJudged
    | CallRefused
    | ApprovalRequested
    | ApprovalDecided
    | CallStarted
    | CallReturned
    | CallLeftUnknown
    | RunFinished
    | RunFailed,
    Field(discriminator="kind"),
]

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
_VERSIONS: dict[str, int] = {
    model.model_fields["kind"].default: model.model_fields["version"].default
    for model in get_args(get_args(Event)[0])
}


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its id and its time: ready to be appended, any number of times."""

    id: EventId
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as the journal holds it."""

    run_id: RunId
    seq: int
    id: EventId
    at: datetime
    hash: str
    event: Event


def dump_event(event: Event) -> dict[str, Any]:
    """The event as JSON values: ``kind``, ``version`` and its own fields."""
    dumped: dict[str, Any] = _ADAPTER.dump_python(event, mode="json")
    return dumped


def load_event(fields: Mapping[str, Any]) -> Event:
    """The event that these JSON values are, older forms brought up to date.

    Raises ``UnknownEvent`` for what a newer build wrote, pydantic's ``ValidationError`` for what
    no build could have written.
    """
    current = upcast(dict(fields))
    kind, version = str(current.get("kind")), version_of(current)
    if version > _VERSIONS.get(kind, 0):
        raise UnknownEvent(kind, version)
    return _ADAPTER.validate_python(current)


def describe_event(recorded: Recorded) -> dict[str, Any]:
    """The event as users see it: ``seq``, ``id``, ``at``, ``hash`` and the event's own fields.

    ``hash`` is the chain's; what an approval is bound to is shown as ``binding_hash``.
    """
    own = dump_event(recorded.event)
    if "hash" in own:
        own["binding_hash"] = own.pop("hash")
    return {
        "seq": recorded.seq,
        "id": recorded.id,
        "at": recorded.at.isoformat().replace("+00:00", "Z"),
        "hash": recorded.hash,
        **own,
    }


def dump_text(value: object) -> str:
    """JSON text as the journal writes it: compact, non-ASCII as it is, always valid UTF-8.

    Half a surrogate pair, which some sources put into strings, becomes a replacement character.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
