"""Taking decisions: who said yes before is looked up again, one decision wins, a refusal is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from agent.control_record import record_refusal
from agent.engine.agents import Agent
from agent.errors import ConfigError, CorruptJournal, DecisionRefused, SeqConflict
from agent.mending import find_asker, mend
from agent.ports import Directory, Ids, Store
from agent.rules.decisions import Approve, Decider, Decision, decide
from agent.rules.events import Event, Word
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, Principal
from agent.rules.judgement import Judgement
from agent.rules.recorded import Stamped
from agent.rules.state import RunState

Voters = Mapping[Principal, Decider | None]


@dataclass(frozen=True, slots=True)
class Taken:
    """A decision that was recorded: the state that it was made on, and the one after it."""

    before: RunState
    after: RunState


@dataclass(frozen=True, slots=True)
class Deciding:
    """Takes decisions on the approvals of one store. ``directory`` knows who people are today; without
    it a vote counts as it was given."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids
    stamp: Callable[[Event], Stamped]
    directory: Directory | None = None

    async def take(self, approval_id: ApprovalId, decision: Decision, decider: Decider) -> Taken:
        """Record the decision, whatever else happens to the run meanwhile; the first one wins.

        Raises ``NotFound``, one of ``DecisionRefused``, ``ConfigError`` for an agent that is not
        here, or ``StoreUnavailable`` (then nothing was decided)."""
        asker = await find_asker(self.store, approval_id)
        try:
            return await self._take(asker, approval_id, decision, decider)
        except DecisionRefused as refused:
            await record_refusal(self.store, asker.run_id, decision, decider, refused)
            raise

    async def _take(
        self, asker: RunState, approval_id: ApprovalId, decision: Decision, decider: Decider
    ) -> Taken:
        state, run_id = asker, asker.run_id
        conflicted_at = 0
        voters: Voters = {}
        while True:
            voters = await self._voters(state, approval_id, decision, decider, voters)
            events = self._events(state, approval_id, decision, decider, voters)
            await mend(self.store, state)
            if state.seq == conflicted_at and not await mend(self.store, state):
                raise CorruptJournal(run_id, state.seq, "its list of approvals contradicts it")
            stamped = [self.stamp(event) for event in events]
            try:
                recorded = await self.store.journal.intend(run_id, stamped, expected_seq=state.seq)
            except SeqConflict:
                # Somebody was faster at something: look at what it is.
                conflicted_at = state.seq
                state = fold(await self.store.journal.read(run_id))
                continue
            return Taken(state, fold(recorded, state))

    async def _voters(
        self,
        state: RunState,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        known: Voters,
    ) -> Voters:
        """Those who said yes before, as they are today. Only another yes counts theirs."""
        approval = state.approvals.get(approval_id)
        if self.directory is None or approval is None or approval.status != "pending":
            return {}
        if not isinstance(decision, Approve):
            return {}
        voters = {**known, decider.principal: decider}
        asked = {vote.voted.by: vote.voted for vote in approval.votes}
        unknown = [word for by, word in asked.items() if by not in voters]
        groups = approval.requested.approvers.all_groups
        found = await asyncio.gather(*(self._today(word, groups) for word in unknown))
        return voters | dict(zip((word.by for word in unknown), found, strict=True))

    async def _today(self, word: Word, groups: Collection[str]) -> Decider | None:
        if self.directory is None or word.authority != "listed":
            return Decider(word.by, word.user, frozenset(word.groups), word.authority)
        return await self.directory.find(word.by, groups)

    def _events(
        self,
        state: RunState,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        voters: Voters,
    ) -> tuple[Event, ...]:
        def judge(tool: str, args: Mapping[str, JsonValue]) -> Judgement:
            agent = self.agents.get(state.agent)
            if agent is None:
                raise ConfigError(
                    f"The agent {state.agent} is not configured here, so its calls can't be changed. "
                    "Nothing was decided."
                )
            return agent.judge(state, tool, args)

        return decide(
            state,
            approval_id,
            decision,
            decider,
            now=self.store.clock.now(),
            judge=judge,
            next_approval_id=ApprovalId(self.ids.new("apr")),
            voters=None if self.directory is None else voters,
        )
