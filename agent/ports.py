"""What the runtime needs of the world: a store, a model, a clock, ids.

Rows that show a thread are keyed by opaque strings here; the bot writes and reads them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol

from agent.rules.anchors import Break, Head
from agent.rules.control import RecordedControl, StampedControl
from agent.rules.decisions import Decider
from agent.rules.events import Usage
from agent.rules.ids import ApprovalId, GrantId, OperationId, Principal, RunId, SessionId
from agent.rules.recorded import Recorded, Stamped
from agent.rules.standing import Grant, Switch
from agent.rules.state import RunState
from agent.rules.transcript import Message


class Clock(Protocol):
    """The store's clock: the one that judges."""

    def now(self) -> datetime:
        """Aware, in UTC."""


class Ids(Protocol):
    """Makes names that nobody has used."""

    def new(self, prefix: str) -> str:
        """``prefix_…``, ordered by time."""

    def event(self) -> str:
        """A UUIDv7."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The exclusive, expiring right to advance a run or to draw a thread."""

    run_id: RunId
    holder: str
    #: Grows with each claim; whoever has an older one has been replaced.
    fence: int
    expires_at: datetime
    #: How often the run has been claimed since its journal last moved, this time included, but for
    #: those that let it go in good order. Of a thread: always 1.
    claims: int = 1


class Journal(Protocol):
    """The facts of all runs. What was appended stays; an event's id is appended once, however often
    it is tried."""

    async def start(self, run_id: RunId, started: Stamped, *, key: str | None = None) -> RunId:
        """Begin a run and make it due. A run that was begun with ``key`` is found, not begun again:
        its id is the answer. Raises ``SessionBusy`` while the session has another active run."""

    async def read(self, run_id: RunId, after: int = 0) -> list[Recorded]:
        """The events behind ``after``, in order. Raises ``NotFound``, ``CorruptJournal``,
        ``UnknownEvent``."""

    async def intend(
        self,
        run_id: RunId,
        events: Sequence[Stamped],
        *,
        expected_seq: int,
        fence: int | None = None,
    ) -> list[Recorded]:
        """Append what begins something or ends the run: all or nothing, and only if the journal
        still ends at ``expected_seq``. Without ``fence`` (from outside) the run is made due. A
        decision is appended only while its approval is pending and not expired, a call's start only
        while its limits have room for what it reserves (``LimitReached``).

        Raises ``SeqConflict`` when the journal moved or the approval is no longer open,
        ``LeaseLost`` when ``fence`` has been replaced, and ``SessionBusy`` for a ``run_reopened``
        while its session has another active run."""

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        """Append what already happened, behind whatever others recorded meanwhile.

        Raises ``NotFound``, ``LeaseLost``, and ``SeqConflict`` for what can't follow a run's end."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What became of leases that were to be extended."""

    extended: tuple[Lease, ...] = ()
    #: Still held, but not extended: somebody else was at these at this moment. To be asked again soon.
    busy: frozenset[RunId] = frozenset()


class Leases(Protocol):
    """Leases on runs, or on threads: one mechanism."""

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
        *,
        but_not: Collection[RunId] = (),
    ) -> list[Lease]:
        """Up to ``limit`` that are due, oldest first; only runs of ``agents`` where given, and none of
        ``but_not``: what this holder still works."""

    async def claim_one(
        self, run_id: RunId, holder: str, term: timedelta, *, seen_seq: int
    ) -> Lease | None:
        """This one, due or not; None while somebody holds it, if it has moved on from ``seen_seq``, or
        if it isn't for this build."""

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        """Extend what is still held, without waiting for anybody; what is missing from the answer is
        lost."""

    async def suspend(self, lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        """Let go until an event or ``until``: only if nothing moved since ``seen_seq``; else False.

        A thread that is let go has been drawn up to ``seen_seq``. Raises ``LeaseLost``."""

    async def defer(
        self,
        lease: Lease,
        *,
        until: datetime,
        seen_seq: int | None = None,
        is_fault: bool = False,
    ) -> None:
        """Let go and come back at ``until``; at once, if anything moved since ``seen_seq``. After a
        fault (``is_fault``) this claim goes on counting.

        A lost lease is no error."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """What the lists know of a run without reading its journal."""

    run_id: RunId
    agent: str
    session: SessionId
    head_seq: int
    status: Literal["active", "finished", "failed", "cancelled"]
    holder: str | None


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """Where an approval is asked, and whether it still is."""

    approval_id: ApprovalId
    run_id: RunId
    status: str
    requested_at: datetime


class Lists(Protocol):
    """Which runs and approvals there are. Each touches only the rows that it gives."""

    async def runs(
        self, *, limit: int, requester: Principal | None = None, active_only: bool = False
    ) -> list[RunRow]:
        """Newest first; only those that ``requester`` asked for, or that have not ended."""

    async def run(self, run_id: RunId) -> RunRow | None: ...

    async def active_run(self, session: SessionId) -> RunRow | None: ...

    async def approvals(self, *, limit: int, pending_only: bool = True) -> list[ApprovalRow]:
        """Oldest first."""

    async def approval(self, approval_id: ApprovalId) -> ApprovalRow | None: ...

    async def run_of_operation(self, operation_id: OperationId) -> RunId | None: ...


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """One message of a thread: meant to be posted, or posted."""

    key: str
    status: Literal["posting", "posted"]
    #: Where it stands, once that is known.
    address: str | None
    #: Of what was last sent; empty when somebody else may have changed the message.
    digest: str
    attempted_at: datetime
    #: How often it had been doubted when it was read: a later doubt outlives what is saved.
    doubts: int = 0


class Threads(Protocol):
    """What is known of the messages that show a run. Writes raise ``LeaseLost``."""

    async def messages(self, run_id: RunId) -> dict[str, ThreadMessage]:
        """By key."""

    async def shown_seq(self, run_id: RunId) -> int:
        """Up to which event all of it had been shown when it was last let go of; 0: none."""

    async def save(self, lease: Lease, message: ThreadMessage) -> None:
        """Insert or replace the message of this key; durable when it returns."""

    async def forget(self, lease: Lease, key: str) -> None:
        """The message is gone from the thread."""

    async def doubt(self, run_id: RunId, key: str) -> None:
        """Somebody else may have changed this message: it is drawn again. Needs no lease."""

    async def run_at(self, address: str) -> RunId | None:
        """The newest run that has a message at this address."""


class Wakeups(Protocol):
    """Word that something in the store has moved, in whatever process."""

    @property
    def moves(self) -> int:
        """How often it has moved; take it before you look, and wait beyond it."""

    async def wait(self, moves: int, timeout: float) -> None:
        """Until there are more than ``moves``, or ``timeout`` seconds have passed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process on this store, as the others see it."""

    process_id: str
    build: str
    agents: tuple[str, ...]
    does_work: bool
    draws: bool
    #: The names of each agent's tools; None where an older build did not say.
    tools: Mapping[str, tuple[str, ...]] | None = None
    #: The newest form of journals that it can read: told by the store, None where an older build did
    #: not say.
    form: int | None = field(default=None, compare=False)

    def can_read(self, form: int) -> bool:
        """Can it read a journal of this form? Whoever did not say so is of the second; whoever did not
        say which tools it has either, of the first."""
        return form <= (self.form or (1 if self.tools is None else 2))

    def can_take_on(self, agent: str, tools: Collection[str], form: int) -> bool:
        """Has it this agent, with these tools, and can it read a journal of this form? Whoever did not
        say which tools it has counts as having them."""
        if agent not in self.agents or not self.can_read(form):
            return False
        return self.tools is None or set(tools) <= set(self.tools.get(agent, ()))


class Processes(Protocol):
    """Who is alive. A process that died on this host is known at once."""

    async def join(self, process: Process) -> None:
        """Make this process known; it must beat at least once a term."""

    async def beat(self, process_id: str) -> None: ...

    async def leave(self, process_id: str) -> None: ...

    async def alive(self, term: timedelta) -> list[Process]:
        """Those who beat within the last ``term`` and are not known to be dead."""

    async def bury_dead(self) -> list[str]:
        """End the leases of processes that died on this host; their ids."""


class ControlJournal(Protocol):
    """The facts that belong to no run: one chain for the whole store."""

    async def record(self, events: Sequence[StampedControl]) -> None:
        """Append; an event's id is appended once, however often it is tried."""

    async def read(self, after: int = 0, limit: int = 100) -> list[RecordedControl]:
        """Up to ``limit`` events behind ``after``, in order. Raises ``CorruptJournal``,
        ``UnknownEvent``."""

    async def newest_policy(self, agent: str) -> RecordedControl | None:
        """The newest ``policy_loaded`` of this agent, found without reading what else there is.
        Raises ``CorruptJournal``, ``UnknownEvent``."""

    async def grants_in_force(self, agent: str, run_id: RunId, session: SessionId) -> list[Grant]:
        """The grants that a call of this run may rest on, by the store's clock, oldest first: those for
        the run, for its session, and for its agent wherever it is at work. A grant that can't be read
        is not among them."""

    async def grants(self, after: GrantId | None = None, limit: int = 100) -> list[Grant]:
        """Up to ``limit`` grants in force, in the order of their ids, behind ``after``."""

    async def switches(self, after: str = "", limit: int = 100) -> list[Switch]:
        """How each switch stands that was ever turned: up to ``limit``, in the order of their names,
        behind ``after``. Raises ``CorruptJournal``, ``UnknownEvent``."""

    async def mend(self) -> list[str]:
        """Put right what is kept of grants and switches beside the journal; what that was, in words.
        Raises ``CorruptJournal``, ``UnknownEvent``."""


class Limits(Protocol):
    """What is used of limits by the calls that reserved something of them."""

    async def used(self, limits: Collection[str]) -> dict[str, Decimal]:
        """Of each of these keys; zero where nothing was ever reserved."""

    async def mend(self) -> list[str]:
        """Put right what is kept beside the calls' reservations; what that was, and what can't be put
        right, in words."""


class Projections(Protocol):
    """What follows from the journals and is kept beside them, so that it is found at once: approvals,
    operations, how far threads are, and what a run's row says of it. The journals are right."""

    async def differences(self, state: RunState) -> list[str]:
        """What contradicts the run's journal, of which ``state`` is the fold, in words. Nothing while
        the journal is ahead of it. Raises ``NotFound``."""

    async def mend(self, state: RunState) -> list[str]:
        """The same, and put right in one transaction; nothing is written where nothing is wrong.
        Raises ``NotFound``, ``CorruptJournal`` for what can't be put right."""

    def suspects(self) -> AsyncIterator[RunId]:
        """Runs that have not ended, are not due, and wait for nobody, as far as can be seen without
        reading their journals."""

    async def askers(self, approval_id: ApprovalId) -> list[RunId]:
        """Unfinished runs of which one may have asked this approval, by their journals alone: for one
        whose row was lost. A search takes a while; after one in vain there is none for some seconds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of the check of one journal."""

    #: The last fact that was found whole.
    head: Head
    #: None where all of it is.
    broken: Break | None


class Verifier(Protocol):
    """Whether the journals are what was written: each fact's hash covers the one before it.

    With ``anchored``, a head that was taken out of the store earlier, also whether the journal still
    holds what it held then."""

    async def check(self, run_id: RunId, anchored: Head | None = None) -> Checked:
        """One run's. Raises ``NotFound``."""

    async def check_control(self, anchored: Head | None = None) -> Checked:
        """The control journal."""

    def runs(self) -> AsyncIterator[RunId]:
        """Every run, in the order of the ids."""

    def orphans(self) -> AsyncIterator[RunId]:
        """Runs of which there are facts, but no row that says where they stand."""


class Directory(Protocol):
    """Who people are, at this moment."""

    async def find(self, principal: Principal, groups: Collection[str]) -> Decider | None:
        """This principal as a decider, with those of ``groups`` that they are in; None when they
        can't be looked up, or may decide nothing any more."""


class Store(Protocol):
    """Everything durable."""

    @property
    def clock(self) -> Clock: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def run_leases(self) -> Leases: ...
    @property
    def thread_leases(self) -> Leases: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def lists(self) -> Lists: ...
    @property
    def control(self) -> ControlJournal: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def wakeups(self) -> Wakeups: ...
    @property
    def processes(self) -> Processes: ...
    @property
    def projections(self) -> Projections: ...
    @property
    def verifier(self) -> Verifier: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """All that a model is told."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as the model wrote it; ``arguments`` is the text that is to be JSON."""

    model_call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = field(default_factory=Usage)


class ModelUnavailable(Exception):
    """The model could not answer now; ``retry_after`` seconds when it said how long, or None for the
    caller's own back-off. Any other exception of a model is final."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Model(Protocol):
    """Asks a model. It may be asked the same twice: after a crash nobody knows of the first time."""

    @property
    def name(self) -> str: ...

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Raises ``ModelUnavailable``."""
