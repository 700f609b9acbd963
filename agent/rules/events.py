"""The journal's vocabulary: everything that can happen to a run.

Add kinds, and optional fields; never change or remove one. A changed meaning is a new ``version``
and an entry in ``upcasts``. Names are past tense: an event is a fact, and facts are not judged.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AwareDatetime, Field, JsonValue

from agent.rules.ids import ApprovalId, CallId, GrantId, GroupId, Principal, SessionId
from agent.rules.interventions import InterventionEvent
from agent.rules.long_conversations import ConversationEvent
from agent.rules.parts import (
    ApprovalKind,
    Approvers,
    DecisionAction,
    Delivery,
    Effect,
    EventBase,
    GivenFile,
    Patience,
    ProposedCall,
    ProviderState,
    Quoted,
    Receipt,
    RefusalCode,
    SettleOutcome,
    Usage,
    Verdict,
    Word,
    were_edited,
)
from agent.rules.reservations import Reservation


class RunStarted(EventBase):
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
    #: Of the message that it began with, where it stands; opaque here. An older build needs it for nothing.
    ref: str | None = None
    #: What others had said before, and what was shared with it.
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: Nothing of it is ever carried out.
    dry_run: bool = False
    #: As ``Words.as_of``: an older build would let an older edit change it.
    as_of: AwareDatetime | None = None

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        if self.dry_run or were_edited(self.as_of, self.quoted):
            return 6
        return 5 if self.quoted or self.files else 1


class ModelReplied(EventBase):
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
    #: When it was asked; what journals of before do not say is not known.
    began_at: AwareDatetime | None = None
    #: For whoever asks the same model again. An older build, which can't ask it, needs it for nothing.
    provider: ProviderState | None = None
    #: In tokens, how large the request was thought to be. An older build needs it for nothing.
    estimated: int | None = None

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        return self.usage.form


class ModelFailed(EventBase):
    """A model request failed. Without ``retry_at`` it is not tried again."""

    kind: Literal["model_failed"] = "model_failed"
    error: str
    retry_at: AwareDatetime | None = None
    #: When the model was asked.
    began_at: AwareDatetime | None = None
    #: What a reply used that could not be taken; None: not known.
    usage: Usage | None = None
    #: The request was longer than the model can read at once: in tokens, how large it was thought to be.
    too_long: int | None = None

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        return 1 if self.usage is None and self.too_long is None else 6


class CallJudged(EventBase):
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

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        is_new = self.can_preview or self.is_question or self.again_because is not None
        return max(2 if is_new else 1, self.verdict.form)


class CallPreviewed(EventBase):
    """The tool said what would happen; without ``preview``, ``error`` says why it could not."""

    kind: Literal["call_previewed"] = "call_previewed"
    call_id: CallId
    preview: str | None = None
    error: str | None = None

    @property
    def form(self) -> int:
        return 2


class CallRefused(EventBase):
    """A call will not run, and no person decided that: its message is its result."""

    kind: Literal["call_refused"] = "call_refused"
    call_id: CallId
    code: RefusalCode
    message: str
    #: Where the policy refused it: the verdict. In a dry run, that under which it would have begun.
    verdict: Verdict | None = None

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        if self.code == "dry_run":
            return 6
        own = 2 if self.code in ("denied_before", "preview_changed") else 1
        return 3 if self.code == "newer_message" else own


class ApprovalRequested(EventBase):
    """A question to a person. Immutable: a changed question is a new one that supersedes it."""

    kind: Literal["approval_requested"] = "approval_requested"
    approval_id: ApprovalId
    group: GroupId
    approval_kind: ApprovalKind = "call"
    #: Of the call that it is about; a budget is about none.
    call_id: CallId | None
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
    #: How long it waits; ``expires_at`` is when that is over.
    patience: Patience = Patience()
    #: Where it is asked.
    delivery: Delivery = Delivery()
    #: A yes to it lets nothing be carried out.
    dry_run: bool = False

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        if self.dry_run:
            return 6
        is_new = self.approval_kind == "question" or self.again_because is not None
        own = 3 if self.approval_kind == "budget" else 2 if is_new else 1
        return max(own, self.approvers.form, self.patience.form, self.delivery.form)

    @property
    def of_call(self) -> CallId:
        """The call that it is about. Raises ``LookupError`` for a budget, which is about none."""
        if self.call_id is None:
            raise LookupError(f"{self.approval_id} is about no call")
        return self.call_id


class ApprovalVoted(Word, EventBase):
    """A yes that is not yet enough: more are needed, and they are counted together."""

    kind: Literal["approval_voted"] = "approval_voted"
    approval_id: ApprovalId
    note: str | None = None
    #: Those whose earlier yes counted no more by then: it could not be found that they still might.
    not_counted: tuple[Principal, ...] = ()

    @property
    def form(self) -> int:
        return 2


class ApprovalDecided(Word, EventBase):
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
    #: Answer: of the message in which they said it, where it stands; opaque here. Not known of buttons and
    #: forms, nor of journals of before; an older build needs it for nothing. Guidance: of the message that it
    #: was, which an older build would tell its model twice.
    ref: str | None = None
    #: Settle: what became of an unknown effect.
    outcome: SettleOutcome | None = None
    #: Approve: as with a vote, those whose earlier yes was none of this.
    not_counted: tuple[Principal, ...] = ()
    #: Approve: the grant that was given with it.
    grant: GrantId | None = None

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        if self.guidance is not None and self.ref is not None:
            return 6
        own = 2 if self.action == "answer" or self.not_counted else 1
        return 3 if self.grant is not None else own


class CallStarted(EventBase):
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
    #: The grant under which it starts.
    grant: GrantId | None = None

    NEWEST: ClassVar[int] = 3

    @property
    def form(self) -> int:
        return 3 if self.reserves or self.grant else 1 if self.effect is None else 2


class CallProgressed(EventBase):
    """The tool said how far it is: a word for people, of this attempt, while it runs. Not each is recorded."""

    kind: Literal["call_progressed"] = "call_progressed"
    call_id: CallId
    attempt: int
    #: One short line; data.
    text: str

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        return 6


class CallLookedUp(EventBase):
    """The outside system says that the effect of an earlier attempt did not happen: it may be run
    again, under the same operation id."""

    kind: Literal["call_looked_up"] = "call_looked_up"
    call_id: CallId

    @property
    def form(self) -> int:
        return 2


class CallReturned(EventBase):
    """The one result of a call, and what is known of its effect."""

    kind: Literal["call_returned"] = "call_returned"
    call_id: CallId
    is_error: bool = False
    #: What the model is told: JSON.
    output: JsonValue
    receipt: Receipt | None = None
    #: Found by looking the effect up, not by running the call.
    is_found: bool = False
    #: Is it in words of whom nobody vouches for? See ``taint``. None: journals of before do not say.
    untrusted: bool | None = None


class CallLeftUnknown(EventBase):
    """A call ended with no word on its effect, and it can't simply be run again."""

    kind: Literal["call_left_unknown"] = "call_left_unknown"
    call_id: CallId
    detail: str
    #: Is there a way to look the effect up again?
    can_be_checked: bool = False


class RunFinished(EventBase):
    """The agent is done; ``answer`` is its last word."""

    kind: Literal["run_finished"] = "run_finished"
    answer: str


class RunFailed(EventBase):
    """The run can't go on."""

    kind: Literal["run_failed"] = "run_failed"
    error: str


class RunReopened(EventBase):
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
    | CallProgressed
    | CallLookedUp
    | CallReturned
    | CallLeftUnknown
    | RunFinished
    | RunFailed
    | RunReopened
    | InterventionEvent
    | ConversationEvent,
    Field(discriminator="kind"),
]
#: One for each kind.
MODELS: tuple[type[EventBase], ...] = get_args(get_args(Event)[0])
