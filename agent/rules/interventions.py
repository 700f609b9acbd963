"""What people and time do to a run while it lives, as events. See ``events`` for the rules of the vocabulary.

An older build knows none of these: a journal that has one is of form 3, or of a later one that it says.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field, JsonValue

from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.parts import (
    BudgetName,
    Effect,
    EventBase,
    GivenFile,
    Halt,
    OnExpiry,
    Outcome,
    Part,
    ProposedCall,
    ProviderState,
    Quoted,
    Receipt,
    Summary,
    Taint,
    Words,
    were_edited,
)


class Intervention(EventBase):
    """An event that came with form 3."""

    @property
    def form(self) -> int:
        return 3


class MessageReceived(Intervention):
    """Somebody said something to the agent. It decides nothing; the model is told at its next turn."""

    kind: Literal["message_received"] = "message_received"
    by: Principal
    text: str
    #: Where it stands, for whoever shows or edits it; opaque here.
    ref: str | None = None
    #: What others had said before, and what was shared with it.
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: It was said to the run before, which ended without having heard it: earlier than what this one began with.
    is_handed_on: bool = False
    #: It was quoted to the run, as what others say, and is told as an instruction alone by now: an older build would
    #: tell it twice.
    was_quoted: bool = False
    #: As ``Words.as_of``: an older build would let an older edit change it.
    as_of: AwareDatetime | None = None

    NEWEST: ClassVar[int] = 6
    UNVERSIONED: ClassVar[int] = 5

    @property
    def form(self) -> int:
        if self.is_handed_on or self.was_quoted or were_edited(self.as_of, self.quoted):
            return 6
        return 5 if self.quoted or self.files else 3


class Rewriting(Intervention):
    """What was said is not wanted as it was. Builds before form 6 knew it of less: not of what is quoted, nor of what a
    run has ended without having heard."""

    NEWEST: ClassVar[int] = 6

    @property
    def form(self) -> int:
        return 6


class MessageEdited(Rewriting):
    """Whoever said something put it otherwise, before the model had answered to it."""

    kind: Literal["message_edited"] = "message_edited"
    #: Of the message: what the run was told of it, what it began with, or what is quoted to it.
    ref: str
    text: str
    by: Principal
    #: When it was edited, by the clock of wherever it stands; None: nobody knows, and the last that came holds.
    as_of: AwareDatetime | None = None


class MessageDeleted(Rewriting):
    """Whoever said something took it back, before the model had answered to it."""

    kind: Literal["message_deleted"] = "message_deleted"
    ref: str
    by: Principal


class RunHeld(Intervention):
    """A person paused the run: nothing new begins until it is resumed."""

    kind: Literal["run_held"] = "run_held"
    by: Principal
    reason: str | None = None


class RunResumed(Intervention):
    """A person lets a held run go on."""

    kind: Literal["run_resumed"] = "run_resumed"
    by: Principal


class HaltsChanged(Intervention):
    """What keeps the run, or calls of it, from starting is this by now; nothing: it goes on."""

    kind: Literal["halts_changed"] = "halts_changed"
    halts: tuple[Halt, ...] = ()

    @property
    def form(self) -> int:
        return 6


class StopRequested(Intervention):
    """The run is to end: nothing new begins, what has begun is heard out, and what was asked is closed."""

    kind: Literal["stop_requested"] = "stop_requested"
    by: Principal
    reason: str | None = None


class RunCancelled(Intervention):
    """The run was stopped, and nothing of it is under way any more."""

    kind: Literal["run_cancelled"] = "run_cancelled"


class ApprovalExpired(Intervention):
    """Nobody decided in time, which is not a no. ``then`` is what the rule says of silence."""

    kind: Literal["approval_expired"] = "approval_expired"
    approval_id: ApprovalId
    then: OnExpiry = "wait"


class ApprovalReminded(Intervention):
    """Nobody has decided yet: whoever may is to be reminded, for the ``number``-th time."""

    kind: Literal["approval_reminded"] = "approval_reminded"
    approval_id: ApprovalId
    number: int = Field(ge=1)


class ApprovalEscalated(Intervention):
    """Nobody has decided yet: from here on those of the ``stage``-th escalation may as well."""

    kind: Literal["approval_escalated"] = "approval_escalated"
    approval_id: ApprovalId
    stage: int = Field(ge=1)


class ApprovalAskedAgain(Intervention):
    """Somebody wants a question that nobody decided to be asked once more."""

    kind: Literal["approval_asked_again"] = "approval_asked_again"
    approval_id: ApprovalId
    by: Principal


class BudgetReached(Intervention):
    """The run has used what it may, and its budget says that it is stopped then. (Where people are asked
    instead, that is an approval.)"""

    kind: Literal["budget_reached"] = "budget_reached"
    budget: BudgetName
    used: str
    limit: str


class TakenCall(Part):
    """A call of another run. One with an ``outcome`` is history: it has ended, and it never runs again. One
    without was never begun: it is proposed anew, and has another operation id."""

    proposed: ProposedCall
    title: str = ""
    effect: Effect = "once"
    args: dict[str, JsonValue] = Field(default_factory=dict)
    attempts: int = 0
    outcome: Outcome | None = None
    output: JsonValue = None
    #: In which words its model was told of it.
    told: str = ""
    receipt: Receipt | None = None


class TakenTurn(Part):
    """One reply of another run's model, and what people had said before it."""

    said: tuple[str, ...] = ()
    text: str = ""
    calls: tuple[TakenCall, ...] = ()
    #: In place of ``said``, where something came with it.
    words: tuple[Words, ...] = ()
    #: As with the reply itself.
    provider: ProviderState | None = None


class HistoryTaken(Intervention):
    """What another run had come to, up to one of its events: where this one begins."""

    kind: Literal["history_taken"] = "history_taken"
    of_run: RunId
    up_to: int
    turns: tuple[TakenTurn, ...] = ()
    #: Who wanted that, beside whoever the run is for: of a fork of a fork both, the newest last.
    forked_by: tuple[Principal, ...] = ()
    #: What stands for the first so many of its turns, and for what was before them.
    summary: Summary | None = None
    summarised: int = 0
    #: What had tainted it by then; None: journals of before do not say.
    taints: tuple[Taint, ...] | None = None

    @property
    def form(self) -> int:
        has_dry_run = any(call.outcome == "dry_run" for turn in self.turns for call in turn.calls)
        if has_dry_run or self.summary is not None:
            return 6
        return 5 if any(turn.words for turn in self.turns) else 3


class PastCall(Part):
    """A call of an earlier run of the conversation, and in which words this one's model is told of it."""

    proposed: ProposedCall
    told: str
    is_error: bool = False


class PastTurn(Part):
    """What people said in an earlier run of the conversation, and what its model replied."""

    said: tuple[str, ...] = ()
    text: str = ""
    calls: tuple[PastCall, ...] = ()
    #: What is to be known of how it went on from there.
    note: str = ""


class SessionContinued(Intervention):
    """The run goes on with a conversation: its model is told what had been said and done in the runs before
    it, of which ``of_run`` is the newest. All of that is past: nothing of it ever runs again."""

    kind: Literal["session_continued"] = "session_continued"
    of_run: RunId
    turns: tuple[PastTurn, ...] = ()
    #: So many older turns are not among them.
    left_out: int = 0
    #: So many of the newest runs could not be read.
    unreadable: int = 0
    #: What stands for all that was before the ``left_out`` turns.
    summary: Summary | None = None
    #: Whose words it may be made of, that of its requester included; None: journals of before do not say.
    taints: tuple[Taint, ...] | None = None

    @property
    def form(self) -> int:
        return 3 if self.summary is None else 6


InterventionEvent = (
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | RunHeld
    | RunResumed
    | HaltsChanged
    | StopRequested
    | RunCancelled
    | ApprovalExpired
    | ApprovalReminded
    | ApprovalEscalated
    | ApprovalAskedAgain
    | BudgetReached
    | HistoryTaken
    | SessionContinued
)
