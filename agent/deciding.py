"""Taking decisions: who said yes before is looked up again, one decision wins, a refusal is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from agent.appending import Appending, Taken, Wanted
from agent.control_record import record_refusal
from agent.engine.agents import Agent
from agent.engine.circumstances import circumstances_of
from agent.errors import ConfigError, DecisionRefused
from agent.mending import find_asker
from agent.ports import Directory, Ids, Store
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.control import StampedControl
from agent.rules.decisions import Approve, Decider, Decision, Steer, decide
from agent.rules.events import ApprovalDecided, Event
from agent.rules.grants import give
from agent.rules.ids import ApprovalId, EventId, GrantId, Principal
from agent.rules.judgement import Judgement
from agent.rules.limiting import promised
from agent.rules.parts import Word
from agent.rules.state import RunState

Voters = Mapping[Principal, Decider | None]


@dataclass(frozen=True, slots=True)
class Deciding:
    """Takes decisions on the approvals of one store. ``directory`` knows who people are today; without
    it a vote counts as it was given."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids
    appending: Appending
    directory: Directory | None = None

    async def take(
        self,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        *,
        seen: RunState | None = None,
        redraws: str | None = None,
    ) -> Taken:
        """Record the decision, whatever else happens to the run meanwhile; the first one wins. ``seen`` is the
        run that asks, as it was just read; ``redraws`` as for ``Journal.intend``.

        Raises ``NotFound``, one of ``DecisionRefused``, ``ConfigError`` for an agent that is not
        here, or ``StoreUnavailable`` (then nothing was decided)."""
        asker = seen or await find_asker(self.store, approval_id)
        try:
            return await self._take(asker, approval_id, decision, decider, redraws)
        except DecisionRefused as refused:
            await record_refusal(self.store, asker.run_id, decision, decider, refused)
            raise

    async def _take(
        self,
        asker: RunState,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        redraws: str | None,
    ) -> Taken:
        voters: Voters = {}

        async def wanted(state: RunState) -> Wanted:
            nonlocal voters
            voters = await self._voters(state, approval_id, decision, decider, voters)
            agent = self.agents.get(state.agent)
            around = await self._around(agent, state, decision)
            events = self._events(state, approval_id, decision, decider, voters, agent, around)
            return self._with_grant(state, approval_id, decision, decider, events)

        return await self.appending.take(asker.run_id, wanted, seen=asker, redraws=redraws)

    def _with_grant(
        self,
        state: RunState,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        events: tuple[Event, ...],
    ) -> Wanted:
        """The grant that was given with a yes, which the decision names."""
        if not isinstance(decision, Approve) or decision.grant is None:
            return Wanted(events)
        now, grant_id = self.store.clock.now(), GrantId(self.ids.new("grt"))
        approval = state.approvals[approval_id]
        given = give(
            state,
            approval,
            decision.grant,
            decider.word,
            now=now,
            grant_id=grant_id,
            reason=decision.note,
        )
        named = tuple(
            event.model_copy(update={"grant": grant_id})
            if isinstance(event, ApprovalDecided)
            else event
            for event in events
        )
        return Wanted(named, [StampedControl(EventId(self.ids.event()), now, given)])

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
        groups = approval.approvers.all_groups
        found = await asyncio.gather(*(self._today(word, groups) for word in unknown))
        return voters | dict(zip((word.by for word in unknown), found, strict=True))

    async def _around(
        self, agent: Agent | None, state: RunState, decision: Decision
    ) -> Circumstances:
        """What a call that is steered is judged by; nothing, where its agent is not here."""
        if agent is None:
            return NOTHING_KNOWN
        steers = isinstance(decision, Steer) and decision.args is not None
        now = self.store.clock.now()
        return await circumstances_of(
            self.store, agent, state, now, directory=self.directory, steers=steers
        )

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
        agent: Agent | None,
        around: Circumstances,
    ) -> tuple[Event, ...]:
        def judge(tool: str, args: Mapping[str, JsonValue]) -> Judgement:
            if agent is None:
                raise ConfigError(
                    f"The agent {state.agent} is not configured here, so its calls can't be changed. "
                    "Nothing was decided."
                )
            return agent.judge(state, tool, args, promised(around, state))

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
