"""What a process puts into the control journal: decisions that were refused, policies that hold."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from agent.engine.agents import Agent
from agent.engine.presence import workers_of
from agent.errors import CorruptJournal, DecisionRefused, StoreError, UnknownEvent
from agent.ports import Store
from agent.rules.control import (
    DecisionRefused as RefusedDecision,
)
from agent.rules.control import (
    PolicyLoaded,
    RecordedControl,
    StampedControl,
    refusal_id,
)
from agent.rules.decisions import Decider, Decision
from agent.rules.ids import EventId, RunId

log = logging.getLogger(__name__)

#: A refusal's words beyond this are cut: they may list every field of a call.
MESSAGE_LIMIT = 1_000


async def record_refusal(
    store: Store, run_id: RunId, decision: Decision, decider: Decider, refused: DecisionRefused
) -> None:
    """Somebody was told no. A store that can't take it down is only logged: the refusal stands."""
    event = RefusedDecision.model_validate(
        {
            "run_id": run_id,
            "approval_id": refused.approval_id,
            "action": type(decision).__name__.lower(),
            "by": decider.principal,
            "claimed_by": decider.claimed_by,
            "code": refused.code,
            "message": str(refused)[:MESSAGE_LIMIT],
        }
    )
    stamped = StampedControl(refusal_id(event), store.clock.now(), event)
    try:
        await store.control.record([stamped])
    except StoreError as error:
        log.warning("a refused decision on %s can't be recorded: %s", refused.approval_id, error)


@dataclass(frozen=True, slots=True)
class Source:
    """Which process loaded policies, and from what: the file's name, without the folder, and SHA-256 of its
    bytes, in hex. Nothing said of the file: from none."""

    build: str
    process: str | None = None
    file: str | None = None
    digest: str | None = None


async def record_policies(
    store: Store, agents: Mapping[str, Agent], source: Source, *, is_first: bool = True
) -> None:
    """Take down which policy holds for each agent, where it is another than the last one recorded, or was read
    from other bytes. ``is_first``: this process has just begun, so that others may have another policy.

    Raises ``StoreError``."""
    events: list[StampedControl] = []
    for name, agent in agents.items():
        version, before = agent.policy.version, await _last_loaded(store, name)
        if before is not None and _is_of(before, version, source.digest):
            continue
        if is_first and before is not None and _version(before) != version:
            await _warn_of_others(store, name, before)
        loaded = PolicyLoaded(
            agent=name,
            policy_version=version,
            build=source.build,
            process=source.process,
            file=source.file,
            digest=source.digest,
        )
        # By what it follows: several processes that start at once record it once.
        id = _id_of(name, version, source.digest or "", before.id if before else "")
        events.append(StampedControl(id, store.clock.now(), loaded))
    if events:
        await store.control.record(events)


async def newest_version(store: Store, agent: str) -> str | None:
    """The policy that was recorded last for the agent; None: none was, or this build can't read it. Raises
    ``StoreError``."""
    recorded = await _last_loaded(store, agent)
    return None if recorded is None else _version(recorded)


def _is_of(recorded: RecordedControl, version: str, digest: str | None) -> bool:
    event = recorded.event
    if not isinstance(event, PolicyLoaded) or event.policy_version != version:
        return False
    return digest is None or event.digest == digest


async def _warn_of_others(store: Store, agent: str, before: RecordedControl) -> None:
    """Which policy a live process has is not known; what was loaded last, before ours, is."""
    if not (others := await workers_of(store, agent)):
        return
    names = ", ".join(one.process_id for one in others)
    log.warning(
        "agent %s is judged by policy %s in %s, as it seems", agent, _version(before), names
    )


async def _last_loaded(store: Store, agent: str) -> RecordedControl | None:
    """None also where this build can't read it."""
    try:
        return await store.control.newest_policy(agent)
    except (CorruptJournal, UnknownEvent) as error:
        log.warning("the last policy of %s can't be read: %s", agent, error)
        return None


def _version(recorded: RecordedControl) -> str | None:
    event = recorded.event
    return event.policy_version if isinstance(event, PolicyLoaded) else None


def _id_of(agent: str, version: str, digest: str, follows: str) -> EventId:
    what = "\n".join((agent, version, digest, follows))
    return EventId("evt_" + hashlib.sha256(what.encode()).hexdigest()[:32])
