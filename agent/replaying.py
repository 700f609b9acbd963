"""Going over the journal of a run that is stored: with its agent's budget, and the grants of then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.engine.agents import Agent
from agent.errors import CorruptJournal, UnknownEvent
from agent.mending import must_have_payloads
from agent.ports import Store
from agent.rules.control import RecordedControl
from agent.rules.events import RunStarted
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from agent.rules.replaying.granted import Consents, named_in
from agent.rules.replaying.replay import Difference, replay

_AT_A_TIME = 500


async def replay_run(store: Store, agents: Mapping[str, Agent], run_id: RunId) -> list[Difference]:
    """Its differences; what can't be read is one. Raises ``NotFound``, ``PayloadsRemoved``."""
    await must_have_payloads(store, run_id)
    try:
        recorded = await store.journal.read(run_id)
    except CorruptJournal as error:
        return [Difference(error.seq, str(error), "what can't be read")]
    except UnknownEvent as error:
        return [Difference(error.seq or 0, str(error), error.kind)]
    first = recorded[0].event if recorded else None
    agent = agents.get(first.agent) if isinstance(first, RunStarted) else None
    consents = Consents(await _control(store, recorded))
    return replay(recorded, agent.budget if agent else None, consents.instead_of)


async def _control(store: Store, recorded: Sequence[Recorded]) -> Sequence[RecordedControl]:
    """All of the control journal, where the run rests on anything in it."""
    facts: list[RecordedControl] = []
    if not any(named_in(one.event) for one in recorded):
        return facts
    while page := await store.control.read(facts[-1].seq if facts else 0, _AT_A_TIME):
        facts += page
    return facts
