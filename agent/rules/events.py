"""The journal's vocabulary: everything that can happen to a run.

Add kinds, and optional fields; never change or remove one. A changed meaning is a new ``version``
and an entry in ``upcasts``. Names are past tense: an event is a fact, and facts are not judged.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from agent.rules.ids import ApprovalId, CallId, GroupId, OperationId, Principal, SessionId
from agent.rules.reservations import Reservation

Effect = Literal["read", "idempotent", "once"]
ApprovalKind = Literal["call", "question", "review"]
ReceiptStatus = Literal["committed", "rejected", "unknown"]
SettleOutcome = Literal["happened", "not_happened", "check", "give_up"]
DecisionAction = Literal["approve", "deny", "steer", "answer", "settle"]
#: Why a decider's word counts: a rule lists them, they hold the database, or the agent's author says so.
Authority = Literal["listed", "operator", "code"]
RefusalCode = Literal[
    "unknown_tool", "malformed", "invalid_args", "policy", "denied_before", "preview_changed"
]


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
    #: How many different people must say yes.
    count: int = 1
    #: Groups of which each must give a yes of its own; their members may decide.
    one_from_each: tuple[str, ...] = ()

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        return 2 if self.count > 1 or self.one_from_each else 1

    @property
    def all_groups(self) -> tuple[str, ...]:
        """Every group whose members may decide."""
        return tuple(dict.fromkeys((*self.groups, *self.one_from_each)))


class Verdict(Part):
    """What the policy says of one call, and where it says so."""

    action: Literal["allow", "ask", "deny"]
    reason: str
    #: The rule in words, as it stands on the card and in the audit.
    rule: str
    policy_version: str
    approvers: Approvers = Approvers()
    #: How long a yes may wait to be carried out; None: for as long as the run lives.
    valid_for: timedelta | None = None

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        return 2 if self.valid_for is not None else self.approvers.form


class Receipt(Part):
    """What is known of a call's effect."""

    status: ReceiptStatus
    external_id: str | None = None


class Word(Part):
    """Who said something of an approval, and why they might: what is known of them at that time."""

    by: Principal
    #: Who spoke for ``by``, when somebody did (an operator's ``--by``).
    claimed_by: Principal | None = None
    #: The id by which rules name them, and those groups of theirs that could decide.
    user: str | None = None
    groups: tuple[str, ...] = ()
    authority: Authority = "listed"


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    #: The newest version of this kind that this build knows.
    NEWEST: ClassVar[int] = 1

    version: int = 1

    @property
    def form(self) -> int:
        """The form of journals in which this can be read: a build of an older form would not know it,
        or would overlook what it asks for. What needs nothing new is written as it always was, so that
        old and new builds can work side by side."""
        return 1


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
    #: The name under which people are asked about these calls.
    group: GroupId | None = None


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
    #: Can the tool say beforehand what would happen, and must it be the same when it happens?
    can_preview: bool = False
    preview_must_match: bool = False
    #: Not something to be done, but something to be asked of people.
    is_question: bool = False
    #: Judged once more at its start, and no longer covered by the yes that it had: why.
    again_because: str | None = None

    NEWEST: ClassVar[int] = 2

    @property
    def form(self) -> int:
        is_new = self.can_preview or self.is_question or self.again_because is not None
        return 2 if is_new else self.verdict.form


class CallPreviewed(_Event):
    """The tool said what would happen; without ``preview``, ``error`` says why it could not."""

    kind: Literal["call_previewed"] = "call_previewed"
    call_id: CallId
    preview: str | None = None
    error: str | None = None

    @property
    def form(self) -> int:
        return 2


class CallRefused(_Event):
    """A call will not run, and no person was asked: its message is its result."""

    kind: Literal["call_refused"] = "call_refused"
    call_id: CallId
    code: RefusalCode
    message: str
    #: Where the policy refused it: the verdict.
    verdict: Verdict | None = None

    NEWEST: ClassVar[int] = 2

    @property
    def form(self) -> int:
        return 2 if self.code in ("denied_before", "preview_changed") else 1


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
    #: It was asked before and is asked again: why.
    again_because: str | None = None

    NEWEST: ClassVar[int] = 2

    @property
    def form(self) -> int:
        is_new = self.approval_kind == "question" or self.again_because is not None
        return 2 if is_new else self.approvers.form


class ApprovalVoted(Word, _Event):
    """A yes that is not yet enough: more are needed, and they are counted together."""

    kind: Literal["approval_voted"] = "approval_voted"
    approval_id: ApprovalId
    note: str | None = None
    #: Those whose earlier yes counted no more by then: it could not be found that they still might.
    not_counted: tuple[Principal, ...] = ()

    @property
    def form(self) -> int:
        return 2


class ApprovalDecided(Word, _Event):
    """A principal decided an approval; the first decision is the only one."""

    kind: Literal["approval_decided"] = "approval_decided"
    approval_id: ApprovalId
    action: DecisionAction
    note: str | None = None
    reason: str | None = None
    #: Steer by arguments: all arguments, as they are to be used.
    args: dict[str, JsonValue] | None = None
    #: Steer by guidance.
    guidance: str | None = None
    #: Answer: what they said, or the option that they chose.
    text: str | None = None
    #: Settle: what became of an unknown effect.
    outcome: SettleOutcome | None = None
    #: Approve: as with a vote, those whose earlier yes was none of this.
    not_counted: tuple[Principal, ...] = ()

    NEWEST: ClassVar[int] = 2

    @property
    def form(self) -> int:
        return 2 if self.action == "answer" or self.not_counted else 1


class CallStarted(_Event):
    """Durable before the effect. From here on the effect may have happened."""

    kind: Literal["call_started"] = "call_started"
    call_id: CallId
    attempt: int
    #: When nobody can still be running it; found started after this, it is recovered.
    deadline: AwareDatetime
    #: What the tool declares now, where that is stricter than when the call was judged.
    effect: Effect | None = None
    #: What it reserves of limits, unless an attempt before holds that already.
    reserves: tuple[Reservation, ...] = ()

    NEWEST: ClassVar[int] = 3

    @property
    def form(self) -> int:
        return 3 if self.reserves else 1 if self.effect is None else 2


class CallLookedUp(_Event):
    """The outside system says that the effect of an earlier attempt did not happen: it may be run
    again, under the same operation id."""

    kind: Literal["call_looked_up"] = "call_looked_up"
    call_id: CallId

    @property
    def form(self) -> int:
        return 2


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


class RunReopened(_Event):
    """Somebody has a failed run go on from where it failed."""

    kind: Literal["run_reopened"] = "run_reopened"
    by: Principal

    @property
    def form(self) -> int:
        return 2


Event = Annotated[
    RunStarted
    | ModelReplied
    | ModelFailed
    | CallJudged
    | CallPreviewed
    | CallRefused
    | ApprovalRequested
    | ApprovalVoted
    | ApprovalDecided
    | CallStarted
    | CallLookedUp
    | CallReturned
    | CallLeftUnknown
    | RunFinished
    | RunFailed
    | RunReopened,
    Field(discriminator="kind"),
]
