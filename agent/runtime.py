"""The façade: everything that can be done with runs, without Slack and without SQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta

from agent.appending import Appending
from agent.blocked import why_blocked
from agent.control_record import record_refusal
from agent.deciding import Deciding
from agent.engine.advance import Engine
from agent.engine.agents import Agent
from agent.engine.follow import follow
from agent.engine.in_force import AgentsInForce
from agent.engine.new_ids import UuidIds
from agent.engine.presence import is_worked, process_of
from agent.engine.worker import Worker
from agent.errors import DecisionRefused
from agent.granting import Granting
from agent.intervening import Intervening
from agent.mending import mend_all
from agent.ports import Directory, Ids, Process, Store, ThreadMessage
from agent.reading import Reading
from agent.replaying import replay_run
from agent.rules.anchors import Anchor
from agent.rules.decisions import By, Decider, Decision, principal_of
from agent.rules.events import Event
from agent.rules.ids import ApprovalId, EventId, GrantId, Principal, RunId, SessionId
from agent.rules.parts import GivenFile, Quoted, Words
from agent.rules.people import hold, stop
from agent.rules.recorded import Recorded, Stamped
from agent.rules.replaying.replay import Difference
from agent.rules.standing import Grant
from agent.rules.state import RunState
from agent.starting import Starting
from agent.switching import Switching
from agent.verifying import Progress, Verified, verify
from agent.working import DRAIN, TERM, Working

log = logging.getLogger(__name__)

#: Who lifts a hold where nobody is named.
BY_PROGRAM = Principal("code:runtime")


class Runtime(Reading):
    """Runs of ``agents`` on one store. Any number of these, in any number of processes, may share it.

    A runtime starts, decides and reads; a ``worker`` does the work. Who does something is always ``by``: a
    ``Decider`` where it depends on them (``decide``, ``ask_again``), and that or the bare principal
    elsewhere: who may do the rest is for whoever asks. Raises ``ConfigError`` when two
    agents have one name, or there is none.
    """

    def __init__(
        self,
        agents: Iterable[Agent],
        store: Store,
        *,
        ids: Ids | None = None,
        directory: Directory | None = None,
        term: timedelta = TERM,
        drain: timedelta = DRAIN,
        build: str = "",
    ) -> None:
        """``directory`` looks up those whose votes are counted, at the moment when they are, and who asked for a
        run, where a rule speaks of that; ``term`` is that of the leases, ``drain`` the time that running calls get at
        the end of what is worked here, ``build`` how this process is named."""
        self.agents = AgentsInForce(agents)
        super().__init__(store)
        self._ids: Ids = ids or UuidIds()
        self._engine = Engine(store, self.agents, self._ids, self.agents.are_as_of, directory)
        self._term = term
        self._build = build
        self._working = Working(self._engine, term, drain, build)
        appending = Appending(store, self._stamp)
        self._deciding = Deciding(store, self.agents, self._ids, appending, directory)
        self._starting = Starting(store, self.agents, self._ids, self._stamp)
        self._granting = Granting(store, self._ids)
        self.switching = Switching(store, self.agents, self._ids)
        self._intervening = Intervening(store, self._starting, appending)

    @property
    def default_agent(self) -> str:
        """The one that is meant when nobody is named."""
        return next(iter(self.agents))

    async def start(
        self,
        prompt: str,
        *,
        requester: Principal,
        agent: str | None = None,
        session: SessionId | None = None,
        key: str | None = None,
        channel: str | None = None,
        place: str | None = None,
        run_id: RunId | None = None,
        root: ThreadMessage | None = None,
        ref: str | None = None,
        quoted: Sequence[Quoted] = (),
        files: Sequence[GivenFile] = (),
        as_of: datetime | None = None,
        wait: bool = False,
    ) -> RunId:
        """Begin a run and answer with its id; without ``agent``, the first one's.

        The same ``key`` again finds the run that is there. ``wait`` returns only when the run has
        ended or waits for a person, and works it here if nobody else does. Raises ``SessionBusy``
        while the session has another active run, ``KeyReused`` for a key that began a run with
        other words, ``ConfigError`` for an unknown agent, ``NothingToDo`` for a prompt of blanks,
        ``TooLong``, ``TooManyStarts`` where the requester has started as many as the agent takes. With a
        ``session`` that had runs, the agent is told what was said and done in them.

        ``run_id`` (``new_run_id``) is the id that it gets, ``root`` the message that has opened its thread: raises
        ``OpeningGivenUp`` unless that is under way (``Openings``). ``ref`` says where the prompt stands, for
        ``edit_message``, ``as_of`` when it was edited to read so, if it was. ``quoted``, oldest first, and ``files``
        are data that go with it; too much of it is cut.
        """
        run_id = await self._starting.start(
            prompt,
            requester=requester,
            agent=agent,
            session=session,
            key=key,
            channel=channel,
            place=place,
            run_id=run_id,
            root=root,
            ref=ref,
            quoted=quoted,
            files=files,
            as_of=as_of,
        )
        if wait:
            await self._working.settle(run_id)
        return run_id

    def new_run_id(self) -> RunId:
        """An id for ``start``, where it has to be known before."""
        return self._starting.new_run_id()

    async def decide(
        self,
        approval_id: ApprovalId,
        decision: Decision,
        by: Decider,
        *,
        seen: RunState | None = None,
        redraws: str | None = None,
        wait: bool = False,
    ) -> RunState:
        """Take a decision; the state after it. The first one wins, whoever makes it and wherever.

        A yes that is not enough yet is counted, and the approval stays open. ``seen`` is the run that asks, where
        the caller has just read it (``approval``): it is not read again unless it has moved. ``redraws`` is where a
        message stands that the caller is about to redraw; it is announced with the decision, as of the state's
        ``updated_at`` (``Threads.announce``). ``wait`` as for ``start``. A refusal goes into the control journal.
        Raises ``NotFound``, one of ``DecisionRefused``, or ``StoreUnavailable`` (then nothing was decided).
        """
        taken = await self._deciding.take(approval_id, decision, by, seen=seen, redraws=redraws)
        return await self._working.settle(taken.after.run_id) if wait else taken.after

    async def decide_stream(
        self, approval_id: ApprovalId, decision: Decision, by: Decider
    ) -> AsyncGenerator[Recorded]:
        """Take a decision when the first event is asked for, and give the run's events from it on,
        until the run has ended or waits for people; it is worked here if nobody else does.

        Raises as ``decide`` does, and ``Blocked``."""
        taken = await self._deciding.take(approval_id, decision, by)
        async with aclosing(self._working.to_pause(taken.after.run_id)) as events:
            async for recorded, _ in events:
                if recorded.seq > taken.before.seq:
                    yield recorded

    async def record_refusal(
        self, run_id: RunId, decision: Decision, by: Decider, refused: DecisionRefused
    ) -> None:
        """Take down a decision that was refused before it came to ``decide``, because nobody could say
        who decides there. What ``decide`` refuses is recorded already."""
        await record_refusal(self.store, run_id, decision, by, refused)

    def stream(self, run_id: RunId, after: int = 0) -> AsyncIterator[Recorded]:
        """The run's events behind ``after``, live, up to its end. Raises ``NotFound``."""
        return follow(self.store, run_id, after)

    def work_to_pause(self, run_id: RunId) -> AsyncGenerator[tuple[Recorded, RunState]]:
        """All events of the run, each with the state after it, until it has ended or waits for people; it is
        worked here while nobody else does. Close it in the end. Raises ``NotFound``, and ``Blocked`` when neither
        this process nor any live one can take it on."""
        return self._working.to_pause(run_id)

    async def settle(self, run_id: RunId) -> RunState:
        """Wait until the run has ended or waits for people; work it here if nobody else does. Raises as
        ``work_to_pause``."""
        return await self._working.settle(run_id)

    async def resume(
        self, run_id: RunId, by: By = BY_PROGRAM, *, wait: bool = False
    ) -> RunState | None:
        """Lift a hold, or try a blocked or unfinished run again: here and now, until it suspends or
        ends, if nobody else works it; ``wait`` as for ``start``. None when nothing was to do: it has
        ended, waits for people (or, without ``wait``, for a time), or somebody alive works it. What it
        waits for is asked in its thread at once where it could not be, or is not there any more.

        Raises ``NotFound``, and ``Blocked`` when this process can't take it on."""
        lifted = await self._intervening.lift(run_id, principal_of(by))
        await self.store.threads.try_now(run_id)
        if lifted is not None and not wait and await self.is_worked(lifted):
            return lifted
        return await self._working.resume(run_id, wait=wait) or lifted

    async def recover(self, *, mends: bool = True) -> list[RunId]:
        """Take up every run that is due and that nobody alive holds, and work it here until it
        suspends or ends; which these were. Any number of processes may do this at once. First it does what ``mend``
        does, unless the caller has: that takes a while where very much was removed."""
        return await self._working.recover(mends=mends)

    async def steer(
        self,
        run_id: RunId,
        text: str,
        by: By,
        *,
        ref: str | None = None,
        place: str | None = None,
        quoted: Sequence[Quoted] = (),
        files: Sequence[GivenFile] = (),
        as_of: datetime | None = None,
        may_begin: bool = True,
        wait: bool = False,
    ) -> RunState:
        """Tell the run something. The model hears it at its next turn, and it decides nothing. If the
        run ended before, the words begin the next one of its session; the state of the run that has
        them.

        ``ref`` says where they stand in the session: the same again is the same message, and begins no
        second run. ``place`` is where a run that they begin is to be shown: by default, where the one before is.
        Without ``may_begin`` nothing is begun, and ``RunEnded`` raised instead.
        ``quoted``, ``files``, ``as_of`` and ``wait`` as for ``start``. Raises ``NotFound``, ``NothingToDo``,
        ``TooLong``, ``KeyReused`` for a ``ref`` that stands for other words, ``Unstorable`` for one that is too long,
        ``RunEnded`` for a run that is being stopped, ``ConfigError`` where the next run's agent is not here, and
        ``TooManyStarts`` where the next run would be one too many."""
        words = Words(text=text, quoted=tuple(quoted), files=tuple(files), as_of=as_of)
        state = await self._intervening.steer(
            run_id, words, principal_of(by), ref=ref, place=place, may_begin=may_begin
        )
        return await self.settle(state.run_id) if wait else state

    async def edit_message(
        self, ref: str, text: str, by: By, session: SessionId, *, as_of: datetime | None = None
    ) -> bool:
        """Let what was said at ``ref`` to a run of ``session``, began one, or is quoted with that, read ``text``
        from now on: is it so? With ``as_of``, when it was edited, the newest edit holds, in whatever order they come.
        It is not where a reply of the model has seen it, where a later run has begun behind its own, and where it is
        not ``by`` who said it; nothing is recorded then. What its run has ended without having heard the next one is
        told as it is by then. A reply that is under way is kept, and not acted on.

        Raises ``NotFound`` where no run of the session knows of such a message (it may yet come),
        ``NothingToDo``, ``TooLong``."""
        return await self._intervening.edit(ref, text, principal_of(by), session, as_of)

    async def delete_message(self, ref: str, by: By, session: SessionId) -> bool:
        """Take back what was said at ``ref``: is it gone? When it is not, and what becomes of a reply that is
        under way, is as for ``edit_message``. A run to which nothing else was said, or all of it taken back, is
        stopped by ``by``. Raises ``NotFound`` as that does."""
        return await self._intervening.delete(ref, principal_of(by), session)

    async def hold(
        self, run_id: RunId, by: By, reason: str | None = None, *, wait: bool = False
    ) -> RunState:
        """Nothing new of the run begins until ``resume``; what has begun ends. Held already, it stays
        so. ``wait`` as for ``start``: until its running calls have ended. Raises ``NotFound``,
        ``RunEnded``, ``TooLong``."""
        state = await self._intervening.take(
            run_id, lambda state: hold(state, principal_of(by), reason)
        )
        return await self.settle(run_id) if wait else state

    async def stop(
        self, run_id: RunId, by: By, reason: str | None = None, *, wait: bool = False
    ) -> RunState:
        """End the run: nothing new begins, open questions close, what has begun is heard out. The
        state may still say that it runs: it ends when nothing of it is under way. ``wait`` as for
        ``start``. Raises ``NotFound``, ``RunEnded``, ``TooLong``."""
        state = await self._intervening.take(
            run_id, lambda state: stop(state, principal_of(by), reason)
        )
        return await self.settle(run_id) if wait else state

    async def ask_again(
        self, approval_id: ApprovalId, by: Decider, *, wait: bool = False
    ) -> RunState:
        """Ask once more what nobody decided in time; ``wait`` as for ``start``. Raises ``NotFound``,
        ``RunEnded``, one of ``DecisionRefused``."""
        state = await self._intervening.ask_again(approval_id, by)
        return await self.settle(state.run_id) if wait else state

    async def fork(
        self, run_id: RunId, at: int, by: By, *, text: str | None = None, wait: bool = False
    ) -> RunId:
        """A new run, in a session of its own, that begins where another had come to at ``at``; ``text``
        is said to it then by ``by``. It is for whoever asked for the other; where a rule says that those
        do not decide, neither does ``by``. What had been done is history and never runs again. ``wait`` as for
        ``start``.

        Raises ``NotFound``, ``NothingToDo`` for a ``text`` of blanks, ``TooLong``, and ``NoBoundary`` where a call
        is under way."""
        forked = await self._starting.fork(run_id, at, principal_of(by), text)
        if wait:
            await self.settle(forked)
        return forked

    async def replay(self, run_id: RunId) -> list[Difference]:
        """Fold the run's journal again and drive it by what was recorded: wherever this build would
        have taken another step, or can't read what is there. Raises ``NotFound``."""
        return await replay_run(self.store, self.agents, run_id)

    async def mend(self, *, at_sight: bool = False) -> list[RunId]:
        """Put right what was lost or changed of grants, switches, removals and limits, and beside the journals of
        runs that wait; which runs these were. ``at_sight``: what is in anybody's way, and shows without reading all
        there is. For a process that works runs, when it begins: whoever takes a run up mends that one."""
        return await mend_all(self.store, at_sight=at_sight)

    async def verify(
        self,
        run_id: RunId | None = None,
        anchor: Anchor | None = None,
        *,
        keeps_heads: bool = True,
        progress: Progress | None = None,
    ) -> Verified:
        """Check that each fact of this run, or of all runs and of the control journal, is what was written; with
        ``anchor``, also what they held when it was taken. The rest, and what is raised, as in ``agent.verifying``."""
        return await verify(
            self.store.verifier, run_id, anchor, keeps_heads=keeps_heads, progress=progress
        )

    async def grants(self) -> list[Grant]:
        """The grants that hold now, oldest first. They are given with a yes: see
        ``Approve.grant``."""
        return [grant async for grant in self._granting.in_force()]

    async def revoke(
        self,
        grant_id: GrantId,
        by: By,
        reason: str = "",
        *,
        claimed_by: Principal | None = None,
    ) -> Grant:
        """Take a grant back: what starts from now on is asked about again. What it was.
        Raises ``AlreadyRevoked``, ``NotFound`` where it does not hold (any more)."""
        return await self._granting.revoke(grant_id, principal_of(by), reason, claimed_by)

    async def retry(self, run_id: RunId, by: By, *, wait: bool = False) -> RunState:
        """Have a failed run go on from where it failed; the state after that. ``wait`` as for ``start``.

        Raises ``NotFound``, ``NotFailed``, ``SessionBusy`` while its session has an active run, and
        ``GoneOn`` once a later run has begun there: that was told what this one left."""
        state = await self._intervening.reopen(run_id, principal_of(by))
        return await self.settle(run_id) if wait else state

    async def blocked(self, state: RunState) -> dict[str, str] | None:
        """Why nobody takes the run on (``code``, ``message``, ``fix``): no live process that works its
        agent's runs can, and neither could this one where there is none. None where somebody can."""
        return await why_blocked(self.store, self.agents, state)

    async def is_worked(self, state: RunState) -> bool:
        """Is there a live process that can take this run on?"""
        return await is_worked(self.store, state)

    def process(self, process_id: str, *, draws: bool) -> Process:
        """How others see a process that works runs of these agents: to join with, beside a worker."""
        return process_of(self.agents, process_id, self._build, does_work=True, draws=draws)

    def worker(
        self,
        *,
        process_id: str | None = None,
        concurrency: int = 50,
        term: timedelta | None = None,
        may_claim: Callable[[], bool] = lambda: True,
    ) -> Worker:
        """What works runs of these agents; ``run`` it until ``stop``. ``may_claim`` can say that none is to be
        taken up now."""
        return Worker(
            self._engine,
            process_id=process_id or self._ids.new("proc"),
            concurrency=concurrency,
            term=term or self._term,
            may_claim=may_claim,
        )

    def _stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(self._ids.event()), self.store.clock.now(), event)
