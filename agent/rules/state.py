"""What is known of a run: the values that ``fold`` makes of its events, and that everything else reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from agent.rules.calls import Call
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.ids import (
    BY_RULES,
    ApprovalId,
    CallId,
    GroupId,
    Principal,
    RunId,
    SessionId,
)
from agent.rules.interventions import SessionContinued
from agent.rules.parts import (
    ApprovalKind,
    Approvers,
    Cut,
    GivenFile,
    Halt,
    ProviderState,
    Quoted,
    Summary,
    Taint,
    Words,
)

ApprovalStatus = Literal[
    "pending",
    "approved",
    "denied",
    "steered",
    "answered",
    "settled",
    "expired",
    "superseded",
    "cancelled",
]
Ending = Literal["finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Vote:
    """One yes of several that are needed."""

    voted: ApprovalVoted
    at: datetime


@dataclass(frozen=True)
class Approval:
    """A question to a person, and what became of it."""

    requested: ApprovalRequested
    requested_at: datetime
    status: ApprovalStatus = "pending"
    #: The yeses before the one that decided; one a principal.
    votes: tuple[Vote, ...] = ()
    decided: ApprovalDecided | None = None
    decided_at: datetime | None = None
    #: Of the event that asked it.
    seq: int = 0
    #: How often people were reminded of it, and how many of its escalations have been reached.
    reminders: int = 0
    stage: int = 0
    superseded_by: ApprovalId | None = None
    #: When somebody wanted it to be asked once more, after nobody had decided it.
    asked_again_at: datetime | None = None
    #: Since when nothing can be decided any more: it was decided, replaced, or had become idle.
    closed_at: datetime | None = None

    @property
    def id(self) -> ApprovalId:
        return self.requested.approval_id

    @property
    def kind(self) -> ApprovalKind:
        return self.requested.approval_kind

    @property
    def approvers(self) -> Approvers:
        """Who may decide by now: those who were asked, and those of each escalation since."""
        also = self.requested.patience.escalate[: self.stage]
        return self.requested.approvers.with_others(also)

    @property
    def yeses(self) -> tuple[tuple[ApprovalVoted | ApprovalDecided, datetime], ...]:
        """Who said yes and when, as far as it counted when the newest of them did: the votes, and the
        decision if it is an approval."""
        said: list[tuple[ApprovalVoted | ApprovalDecided, datetime]]
        said = [(vote.voted, vote.at) for vote in self.votes if vote.voted.by not in self._left_out]
        if self.status == "approved" and self.decided is not None and self.decided_at is not None:
            said = [one for one in said if one[0].by != self.decided.by]
            said.append((self.decided, self.decided_at))
        return tuple(said)

    @property
    def _left_out(self) -> tuple[Principal, ...]:
        if self.decided is not None and self.decided.action == "approve":
            return self.decided.not_counted
        return self.votes[-1].voted.not_counted if self.votes else ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: its text and the calls that it proposed."""

    text: str
    call_ids: tuple[CallId, ...]
    asked_at: int
    #: The name under which people are asked about its calls.
    group: GroupId
    #: What people had said to the run since the reply before.
    heard: tuple[Words, ...] = ()
    #: What its model wants to have back.
    provider: ProviderState | None = None


#: Ahead of words that the model is told behind a decision, and that were said before it.
EARLY = "[Said before the decision above.]"
#: In place of words that the model is told as guidance, where something came with them.
AS_GUIDANCE = "[What was said with this was given as guidance: see what became of the call.]"


def _is_decided(call: Call) -> bool:
    """Does what became of it tell the model what somebody wants?"""
    return call.result is not None and call.result.outcome in ("guided", "answered", "denied")


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said to the run."""

    seq: int
    at: datetime
    by: Principal
    text: str
    ref: str | None
    #: What others had said before, and what was shared with it.
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: The seq at which it was put otherwise, or taken back, the last time.
    changed: int = 0
    #: It was said before what the run began with.
    is_handed_on: bool = False
    #: Somebody who decides used it as guidance: the model is told it as what became of a call.
    is_guidance: bool = False
    #: When it was edited to read so, as far as that is known.
    as_of: datetime | None = None

    @property
    def news(self) -> int:
        """Since which seq it stands as it is: a request made before did not hold it so."""
        return self.changed or self.seq

    @property
    def words(self) -> Words:
        text = AS_GUIDANCE if self.is_guidance else self.text
        return Words(text=text, quoted=self.quoted, files=self.files)


@dataclass(frozen=True, slots=True)
class LastingWord:
    """What was said and holds until something else is: a hold, a stop."""

    by: Principal
    at: datetime
    reason: str | None = None

    @property
    def is_a_rules(self) -> bool:
        """Did no person say it, but the rule of a question that nobody decided, or a budget?"""
        return self.by in BY_RULES


@dataclass(frozen=True)
class RunState:
    """Everything that is known of one run at ``seq``. Never changed, only replaced."""

    run_id: RunId
    agent: str
    session: SessionId
    prompt: str
    requester: Principal
    channel: str | None
    place: str | None
    started_at: datetime
    seq: int
    updated_at: datetime
    head_hash: str = ""
    #: The form of journals in which all of its events can be read.
    form: int = 1
    #: Nothing of it is carried out. It stays so, whatever its agent is by now.
    is_dry_run: bool = False
    replies: tuple[Reply, ...] = ()
    #: The calls of the last reply, which are all that can still change much, and those before it: apart,
    #: so that an event costs the same however long the run is.
    current: Mapping[CallId, Call] = field(default_factory=dict)
    earlier: Mapping[CallId, Call] = field(default_factory=dict)
    approvals: Mapping[ApprovalId, Approval] = field(default_factory=dict)
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    #: As far as it is known.
    cost_usd: Decimal = Decimal(0)
    #: How many replies there are of which it is not; and up to how many of them people let it go on.
    unpriced: int = 0
    unpriced_allowed: int = 0
    #: The time in which its model was asked, or its calls ran.
    worked: timedelta = timedelta()
    #: Model requests that failed since the last one that did not.
    model_failures: int = 0
    #: All of which it is not known what they used, so that it is not counted.
    unanswered: int = 0
    model_error: str | None = None
    retry_at: datetime | None = None
    #: Where the newest failure stands; and up to where what people said was in a request that failed.
    failed_at: int = 0
    asked_in_vain: int = 0
    #: From when to when the run had failed, each time that it was taken on again; and how many
    #: replies there were the last time.
    outages: tuple[tuple[datetime, datetime], ...] = ()
    replies_before: int = 0
    #: Of the message that it began with: where it stands, what others had said before, what was shared with it.
    ref: str | None = None
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: When that was edited to read so, as far as it is known.
    as_of: datetime | None = None
    #: What people said, oldest first.
    said: tuple[Said, ...] = ()
    #: What was edited or deleted, as it is now, while a request may be under way that held it as it was: the
    #: reply to such a one makes it something that was said since.
    rewritten: tuple[Said, ...] = ()
    #: The messages that were edited, and those that were deleted, by their refs.
    edited: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    #: Who paused it, while it is; from when to when it was before; who wants it to end.
    held: LastingWord | None = None
    holds: tuple[tuple[datetime, datetime], ...] = ()
    stop: LastingWord | None = None
    #: What a switch or a window keeps of it from starting, and since when; from when to when there was any before.
    halts: tuple[Halt, ...] = ()
    halted_at: datetime | None = None
    haltings: tuple[tuple[datetime, datetime], ...] = ()
    #: What people have allowed it beyond its budget, and the newest question about that.
    allowances: Mapping[str, Decimal] = field(default_factory=dict)
    budget_id: ApprovalId | None = None
    #: The run, and its seq, whose history this one took over.
    taken_from: tuple[RunId, int] | None = None
    #: Who had it begin there, and who had done so with the run before: they asked for it as well.
    forked_by: tuple[Principal, ...] = ()
    #: What its model is told of the conversation's earlier runs.
    past: SessionContinued | None = None
    #: What it is told of the conversation in fewer words: how much of long results, and what stands for its first
    #: ``summarised`` replies and all before them. ``summing``: so many are to be summed up before it is asked.
    cuts: tuple[Cut, ...] = ()
    summary: Summary | None = None
    summarised: int = 0
    summing: int | None = None
    #: Of the newest reply that says so: how large its request was thought to be, and was, in tokens.
    measured: tuple[int, int] | None = None
    #: How large the largest request was thought to be that had a reply.
    taken: int = 0
    #: How large a request was thought to be that was too long; and how many were in a row.
    too_long: int | None = None
    too_long_in_a_row: int = 0
    #: What it has been told in words of whom nobody vouches for, oldest first; and so many of them before its newest
    #: reply.
    taints: tuple[Taint, ...] = ()
    taints_told: int = 0
    ending: Ending | None = None
    ended_at: datetime | None = None
    answer: str | None = None
    error: str | None = None

    @property
    def is_ended(self) -> bool:
        return self.ending is not None

    @property
    def tainted_by(self) -> tuple[Taint, ...]:
        """What had tainted the run when its model proposed the calls of its newest reply."""
        return self.taints[: self.taints_told]

    @property
    def requesters(self) -> tuple[Principal, ...]:
        """All who asked for it: where a rule says that it is not for whoever asked, none of them decides."""
        return (self.requester, *self.forked_by)

    @property
    def calls(self) -> Mapping[CallId, Call]:
        """All calls by their ids, in the order in which they were proposed."""
        return {**self.earlier, **self.current}

    @property
    def own_calls(self) -> tuple[Call, ...]:
        """The calls of this run: not those that are history of another."""
        return tuple(call for call in self.calls.values() if call.told is None)

    @property
    def reopened(self) -> int:
        """How often the run was taken on again after it had failed."""
        return len(self.outages)

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls without a result, in the order in which they were proposed.

        Only the last reply can have any: the model is asked again when all have theirs.
        """
        return tuple(call for call in self.current.values() if call.status != "ended")

    @property
    def open_approvals(self) -> tuple[Approval, ...]:
        return tuple(a for a in self.approvals.values() if a.status == "pending")

    @property
    def unheard(self) -> tuple[Said, ...]:
        """What people said that no reply of the model has seen."""
        seen = self.replies[-1].asked_at if self.replies else 0
        return tuple(one for one in self.said if one.news > seen)

    @property
    def unseen(self) -> tuple[Said, ...]:
        """The same without what the model is told otherwise: of what was used as guidance only what came with
        it is news."""
        return tuple(
            one for one in self.unheard if not (one.is_guidance and one.words.is_text_only)
        )

    def told(self, said: Iterable[Said]) -> Iterator[Words]:
        """These as the model is told them: behind what became of the newest calls, though some were said before
        people decided on those."""
        ends = [call.ended_at for call in self.current.values() if _is_decided(call)]
        last = max((end for end in ends if end is not None), default=None)
        for one in said:
            is_early = last is not None and one.at < last and not (one.changed or one.is_guidance)
            text = f"{EARLY} {one.words.text}"
            yield one.words.model_copy(update={"text": text}) if is_early else one.words

    @property
    def said_earlier(self) -> tuple[Said, ...]:
        """What is told before what the run began with: it had been said before that."""
        before = self.replies[0].asked_at if self.replies else self.seq
        return tuple(one for one in self.said if one.is_handed_on and one.news <= before)

    @property
    def request(self) -> Words:
        """What it began with, and what came with it."""
        return Words(text=self.prompt, quoted=self.quoted, files=self.files)

    def calls_of(self, reply: Reply) -> tuple[Call, ...]:
        return tuple(self.call(call_id) for call_id in reply.call_ids)

    def call(self, call_id: CallId) -> Call:
        """The call of this id. Raises ``KeyError``."""
        return self.current[call_id] if call_id in self.current else self.earlier[call_id]
