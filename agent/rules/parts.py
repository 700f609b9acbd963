"""What events are made of: the values inside them, and what every event has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue

from agent.rules.exact import plus
from agent.rules.ids import CallId, GrantId, OperationId, Principal

Effect = Literal["read", "idempotent", "once"]
ApprovalKind = Literal["call", "question", "review", "budget"]
#: What silence means. ``wait``: the question closes, and the run waits until it is asked again; ``deny``: the
#: call's result is that nobody decided; ``stop``: the run is stopped; ``escalate``: others are asked as well,
#: and when they have been silent too it waits.
OnExpiry = Literal["wait", "deny", "stop", "escalate"]
#: Who is told of a question: those who may decide it by a mention on its card, or directly; all who are in
#: the channel; nobody.
Notify = Literal["mention", "dm", "channel", "none"]
#: Where a grant holds: in its run, or in all of its conversation.
GrantScope = Literal["run", "thread"]
#: What a run may use up: model requests, tokens, money, and the time in which it waits for nobody.
BudgetName = Literal["model_calls", "tokens", "cost_usd", "minutes"]
ReceiptStatus = Literal["committed", "rejected", "unknown"]
SettleOutcome = Literal["happened", "not_happened", "check", "give_up"]
DecisionAction = Literal["approve", "deny", "steer", "answer", "settle"]
#: Why a decider's word counts: a rule lists them, they hold the database, or the agent's author says so.
Authority = Literal["listed", "operator", "code"]
#: How a call ended.
Outcome = Literal[
    "ok",
    "error",
    "refused",
    "denied",
    "guided",
    "answered",
    "expired",
    "happened",
    "given_up",
    "cancelled",
    "dry_run",
]
RefusalCode = Literal[
    "unknown_tool",
    "malformed",
    "invalid_args",
    "policy",
    "denied_before",
    "preview_changed",
    "newer_message",
    "dry_run",
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
    #: False: what it cost is not known, and ``cost_usd`` says nothing.
    is_priced: bool = True

    @property
    def form(self) -> int:
        """See ``form`` of events: an older build would count it as nothing."""
        return 1 if self.is_priced else 6


class ProviderState(Part):
    """What a model's provider wants to have back with the next request, beside the reply's text and calls:
    signatures, encrypted reasoning. Nothing but the models reads it, and without it a conversation goes on all
    the same."""

    #: What wrote it, with its version.
    lib: str
    #: Whose it is: only the same model gets it back.
    model: str
    #: The reply as that holds it, without the texts and arguments, which stand beside this.
    message: dict[str, JsonValue]
    #: So many characters has each of its texts, of which the reply's is made up.
    texts: tuple[int, ...] = ()


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
    #: Any full member of the workspace too.
    members: bool = False

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        if self.members:
            return 5
        return 2 if self.count > 1 or self.one_from_each else 1

    @property
    def all_groups(self) -> tuple[str, ...]:
        """Every group whose members may decide."""
        return tuple(dict.fromkeys((*self.groups, *self.one_from_each)))

    def with_others(self, others: Iterable[Escalation]) -> Approvers:
        """Those of the escalations may decide as well; what a yes takes stays as it is."""
        others = tuple(others)
        if not others:
            return self
        users, groups = list(self.users), list(self.groups)
        for one in others:
            users += one.users
            groups += one.groups
        return self.model_copy(
            update={
                "users": tuple(dict.fromkeys(users)),
                "groups": tuple(dict.fromkeys(groups)),
            }
        )


class Escalation(Part):
    """Who may decide as well, and is told so, when nobody has decided for so long."""

    after: timedelta
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Patience(Part):
    """How long a question waits, and what happens meanwhile and then. Counted from the request."""

    expires: timedelta | None = None
    on_expiry: OnExpiry = "wait"
    #: So often whoever may decide is reminded.
    remind: timedelta | None = None
    escalate: tuple[Escalation, ...] = ()

    def after(self, stage: int) -> Patience:
        """What is left of it once so many escalations have been reached, for a question asked then."""
        return self.model_copy(update={"escalate": self.escalate[stage:]})

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        return 1 if self == Patience() else 3


class Delivery(Part):
    """Where a question is put, and who is told. Neither says who may decide it."""

    #: ``thread``: the run's own; ``dm``: to each who may decide it, directly; else a channel's id.
    card: str = "thread"
    notify: Notify = "mention"

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        return 1 if self == Delivery() else 4


class Granting(Part):
    """Which grants a rule allows, and for how long at most."""

    scopes: tuple[GrantScope, ...]
    longest: timedelta | None = None


class LimitUse(Part):
    """A rule's limit as it stood when a call was judged, and what the call adds to it."""

    #: Of the limit, in the store; opaque.
    key: str
    used: Decimal
    amount: Decimal
    max: Decimal
    #: The expression that is added up; None: calls are counted.
    what: str | None = None
    #: Of the amounts, where they are money.
    currency: str | None = None
    #: By whom, where, and in which window, as the rule names them; the window goes by the clocks of ``zone``.
    per: tuple[str, ...] = ()
    zone: str = "UTC"
    #: When the next window begins; None: it never does.
    until: AwareDatetime | None = None

    @property
    def is_over(self) -> bool:
        """What adds nothing is always within it."""
        return self.amount > 0 and plus(self.used, self.amount) > self.max


class Taint(Part):
    """Something that the model was told in words of whom nobody vouches for."""

    #: ``past``: earlier runs of the conversation, of which a journal of before does not say more.
    source: Literal["tool", "file", "message", "past"]
    #: Of the tool, or of the file.
    name: str = ""
    #: Whose message it was, or whose file.
    by: Principal | None = None


#: What may be said of a call, the loosest first.
STRICTNESS: Final = ("allow", "ask", "deny")


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
    #: How long people are waited for.
    patience: Patience = Patience()
    #: Where they are asked.
    delivery: Delivery = Delivery()
    #: Which grants people may give with their yes; None: none.
    granting: Granting | None = None
    #: Whoever approves is asked once more whether they mean it.
    confirm: bool = False
    #: The grant under which it is allowed, where the rule alone would ask.
    grant: GrantId | None = None
    #: It was judged as any call is, and will not be carried out.
    dry_run: bool = False
    #: The limit of its rule, where that could be counted; None: it has none.
    limit: LimitUse | None = None
    #: What had been read of others' words before the call was proposed; nothing: it is not tainted. An older build,
    #: of which no rule can speak of it, needs it for nothing.
    tainted_by: tuple[Taint, ...] = ()

    def approvers_at(self, stage: int) -> Approvers:
        """Who may decide once so many escalations have been reached."""
        return self.approvers.with_others(self.patience.escalate[:stage])

    @property
    def form(self) -> int:
        """See ``form`` of events."""
        if self.dry_run or self.limit is not None:
            return 6
        own = 3 if self.grant is not None else 2 if self.valid_for is not None else 1
        return max(own, self.patience.form, self.approvers.form, self.delivery.form)


class Receipt(Part):
    """What is known of a call's effect."""

    status: ReceiptStatus
    external_id: str | None = None
    #: It was not begun: of a dry run it is certain that nothing happened.
    dry_run: bool = False


class Quoted(Part):
    """What somebody else said in the thread: context for what was asked, and no instruction."""

    by: Principal
    text: str
    at: AwareDatetime | None = None
    #: Where it stands; opaque here.
    ref: str | None = None
    #: As ``Words.as_of``.
    as_of: AwareDatetime | None = None


class GivenFile(Part):
    """A file that was shared with a message: as text, or why it was not read. With both, ``text`` is not all
    of it."""

    name: str
    text: str | None = None
    why_not: str | None = None
    #: In bytes, where it is known.
    size: int | None = None


def were_edited(as_of: datetime | None, quoted: Sequence[Quoted]) -> bool:
    """Had words, or what is quoted with them, been edited when they came? Builds before form 6 would let an older edit
    change them."""
    return as_of is not None or any(one.as_of is not None for one in quoted)


class Words(Part):
    """What somebody said, and what came with it."""

    text: str
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: When it was edited to read so; None: it is as it was said at first.
    as_of: AwareDatetime | None = None

    @property
    def is_text_only(self) -> bool:
        return not (self.quoted or self.files)


class Summary(Part):
    """What stands for the oldest part of a conversation that is told no more. ``text`` is the model's own; the rest
    is told word for word."""

    text: str
    #: What people had said in it, oldest first.
    said: tuple[str, ...] = ()
    #: What had become of calls that were more than reading, oldest first.
    done: tuple[str, ...] = ()
    #: So much of both, older, was too much to be kept.
    left_out: int = 0


class Cut(Part):
    """A limit, in characters, to how much is told of each result of the first ``turns`` replies, and of earlier
    runs; ``with_files``: of each file, and of what others had said, that came with words before them too."""

    turns: int
    limit: int
    with_files: bool = False


class Halt(Part):
    """What keeps a run, or some of its calls, from starting: a switch that is on, or a freeze window that is open."""

    #: The switch.
    switch: str | None = None
    #: Or the window, in words.
    window: str | None = None
    #: Nothing but these is kept. None of them: all of the run is.
    call_ids: tuple[CallId, ...] = ()
    #: Who turned the switch on, and when; why, of either.
    by: Principal | None = None
    at: AwareDatetime | None = None
    reason: str = ""
    #: When the window ends, and the same as a clock of its zone shows it.
    until: AwareDatetime | None = None
    ends: str = ""


class Word(Part):
    """Who said something of an approval, and why they might: what is known of them at that time."""

    by: Principal
    #: Who spoke for ``by``, when somebody did (an operator's ``--by``).
    claimed_by: Principal | None = None
    #: The id by which rules name them, and those groups of theirs that could decide.
    user: str | None = None
    groups: tuple[str, ...] = ()
    authority: Authority = "listed"


class EventBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    #: The newest version of this kind that this build knows.
    NEWEST: ClassVar[int] = 1
    #: Up to this form it is written without a newer version: builds of that form know it so.
    UNVERSIONED: ClassVar[int] = 1

    version: int = 1

    @property
    def form(self) -> int:
        """The form of journals in which this can be read: a build of an older form would not know it,
        or would overlook what it asks for. What needs nothing new is written as it always was, so that
        old and new builds can work side by side."""
        return 1
