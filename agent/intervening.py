"""Having a run do what people want of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent.appending import Appending, Taken, Wanted
from agent.errors import (
    CorruptJournal,
    NotFailed,
    NotFound,
    RunEnded,
    SessionBusy,
    UnknownEvent,
    Unstorable,
)
from agent.mending import find_asker, read_state
from agent.ports import Store
from agent.rules.decisions import Decider
from agent.rules.events import Event, RunReopened
from agent.rules.fold_messages import unheard_quote
from agent.rules.ids import ApprovalId, Principal, RunId, SessionId
from agent.rules.json_text import whole_text
from agent.rules.parts import Words
from agent.rules.people import (
    ask_again,
    delete,
    edit,
    has_heard,
    knows,
    may_change,
    must_be_same,
    resume,
    say,
)
from agent.rules.shapes import status_of
from agent.rules.silence import noted_late
from agent.rules.state import RunState
from agent.starting import Starting

Wish = Callable[[RunState], tuple[Event, ...]]

#: In so many of a session's newest runs it is looked whether a message has been delivered before.
RUNS_LIMIT = 20
#: So long may the key of a run be, as stores keep it.
KEY_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class Intervening:
    """What people do to the runs of one store."""

    store: Store
    starting: Starting
    appending: Appending

    async def take(self, run_id: RunId, wish: Wish) -> RunState:
        """Record what ``wish`` makes of the run as it is; the state after it. Raises as
        ``Appending.take`` does."""
        return (await self._take(run_id, wish)).after

    async def reopen(self, run_id: RunId, by: Principal) -> RunState:
        """Have a failed run go on; the state after it. Raises ``NotFailed`` for any other."""

        def wish(state: RunState) -> tuple[Event, ...]:
            if state.ending != "failed":
                raise NotFailed(run_id, status_of(state, self.store.clock.now()))
            return (RunReopened(by=by),)

        return await self.take(run_id, wish)

    async def _take(self, run_id: RunId, wish: Wish) -> Taken:
        async def wanted(state: RunState) -> Wanted:
            return Wanted(wish(state))

        return await self.appending.take(run_id, wanted)

    async def steer(
        self,
        run_id: RunId,
        words: Words,
        by: Principal,
        *,
        ref: str | None = None,
        place: str | None = None,
        may_begin: bool = True,
    ) -> RunState:
        """Say it to the run, or to the run that its session has by now, or, if it ``may_begin`` one, begin the
        session's next one with it, at ``place`` or where the one before was; the state of the run that has it.

        Raises ``NotFound``, ``NothingToDo``, ``TooLong``, ``KeyReused``, ``RunEnded`` while that run is
        being stopped, or has ended and no other may begin, and as ``start`` does."""
        text, ref = whole_text(words.text), None if ref is None else whole_text(ref)
        while True:
            if ref is not None and (heard := await self._heard_by(run_id, text, ref)):
                return heard
            try:
                return await self.take(
                    run_id,
                    lambda state: say(
                        state,
                        by,
                        text,
                        ref,
                        quoted=words.quoted,
                        files=words.files,
                        as_of=words.as_of,
                    ),
                )
            except RunEnded:
                ended = await read_state(self.store, run_id)
                if not ended.is_ended or not may_begin:
                    raise
            key = None if ref is None else _key_of(ended.session, ref)
            try:
                begun = await self.starting.start_next(
                    ended, by, words, key=key, ref=ref, place=place
                )
            except SessionBusy as busy:
                run_id = RunId(busy.run_id)
            else:
                return await read_state(self.store, begun)

    async def _heard_by(self, run_id: RunId, text: str, ref: str) -> RunState | None:
        """The run of the same session that has this message already, begun by it or told it, whichever of
        its runs it was sent to. Raises ``KeyReused`` where it has other words under this ``ref``."""
        lists = self.store.lists
        row = await lists.run(run_id)
        if row is None:
            return None
        # A message may have come as a start first, under the key of that.
        for key in (_key_of(row.session, ref), ref):
            begun = await lists.run_of_key(key)
            state = await read_state(self.store, begun) if begun else None
            if state is not None and state.session == row.session:
                must_be_same(state, ref, state.prompt, text)
                return state
        for one in await lists.runs_of_session(row.session, limit=RUNS_LIMIT):
            try:
                state = await read_state(self.store, one.run_id)
            except (CorruptJournal, UnknownEvent):
                continue  # What can't be read here hides nothing else.
            if has_heard(state, text, ref):
                return state
        return None

    async def edit(
        self, ref: str, text: str, by: Principal, session: SessionId, as_of: datetime | None
    ) -> bool:
        """Does their message read so from now on, or as they put it later? Raises ``NotFound``,
        ``NothingToDo``, ``TooLong``."""
        ref, text = whole_text(ref), whole_text(text)
        run_id = await self._told_of(ref, session)
        if run_id is None:
            return False
        state = await self.take(run_id, lambda state: edit(state, by, ref, text, as_of))
        return may_change(state, by, ref)

    async def delete(self, ref: str, by: Principal, session: SessionId) -> bool:
        """Is their message gone? Raises ``NotFound``."""
        ref = whole_text(ref)
        run_id = await self._told_of(ref, session)
        if run_id is None:
            return False
        state = await self.take(run_id, lambda state: delete(state, by, ref))
        return ref in state.deleted or not knows(state, ref)

    async def _told_of(self, ref: str, session: SessionId) -> RunId | None:
        """The newest run of the session that began with this message or was told it, or has yet to hear it as something
        that others said; None where a later one has gone
        on from what that had heard. Raises ``NotFound``."""
        rows = await self.store.lists.runs_of_session(session, limit=RUNS_LIMIT)
        for row in rows:
            try:
                state = await read_state(self.store, row.run_id)
            except (CorruptJournal, UnknownEvent):
                continue
            if knows(state, ref) or unheard_quote(state, ref) is not None:
                is_over = state.is_ended and row is not rows[0]
                return None if is_over else state.run_id
        raise NotFound("message", ref)

    async def lift(self, run_id: RunId, by: Principal) -> RunState | None:
        """Let a held run go on; None for one that is not held, or that nothing can be done to any
        more."""
        taken = await self._take(
            run_id, lambda state: () if state.is_ended or state.stop else resume(state, by)
        )
        return taken.after if taken.after.seq > taken.before.seq else None

    async def ask_again(self, approval_id: ApprovalId, decider: Decider) -> RunState:
        """Have a question asked once more that nobody decided in time, also where no process was there to
        note that it was over. Raises as the rule does."""
        row = await find_asker(self.store, approval_id)
        clock = self.store.clock
        await self.take(row.run_id, lambda state: noted_late(state, approval_id, clock.now()))
        return await self.take(row.run_id, lambda state: ask_again(state, approval_id, decider))


def _key_of(session: SessionId, ref: str) -> str:
    """The key of a run that a message begins: no other session's message has it, and no start of its own.
    Raises ``Unstorable``, also where the message begins none: whether it can be kept is no matter of time."""
    key = f"said:{session}:{ref}"
    if len(key.encode()) > KEY_BYTES:
        raise Unstorable(f"a ref of {len(ref.encode()):,} bytes")
    return key
