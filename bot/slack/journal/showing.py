"""From ``/agent journal RUN`` to the run's time line, told privately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.rules.events import ApprovalDecided
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.interventions import MessageReceived
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from agent.rules.veiling import veiled, veiled_event
from bot.slack.answering import Answer
from bot.slack.cards.timeline import timeline_message
from bot.slack.cards.timeline_words import Links
from bot.slack.clients import SLACK_ERRORS
from bot.slack.ids import Address
from bot.slack.journal.readers import what_is_read
from bot.slack.links import best_for, cards_among
from bot.slack.looking import looked
from bot.slack.payloads import Actor
from bot.slack.services import Services
from bot.slack.thread.keys import STATUS_KEY, answer_key
from bot.slack.thread.posted import posted, where_said

Key = TypeVar("Key")

#: Of a long run no more are shown: the cards of what was asked before are not looked for.
_LINKED_EVENTS: Final = 1_000
_NO_RUNS: Final = "You have no runs. Of another one: `/agent journal RUN`, with its id."
_NOT_FOR_THEM: Final = (
    "There is no run with this id of which you may read what happened. That is for whoever asked for it, whoever"
    " is named to decide something in it, and the owners of its agent."
)
_UNREADABLE: Final = "This run can't be read by the version that runs now. ({run})"


async def journal(services: Services, actor: Actor, run_id: RunId | None) -> Answer:
    """What happened in this run, or in the newest of theirs, for whoever may read that. Others are told the same
    as where there is none."""
    return await looked(_journal(services, actor, run_id))


async def _journal(services: Services, actor: Actor, run_id: RunId | None) -> Answer:
    member = await services.people.member(actor.user, actor.team)
    if run_id is None and (run_id := await _newest(services, member.principal)) is None:
        return Answer(text=_NO_RUNS)
    try:
        events, state = await _read(services, run_id)
    except NotFound:
        return Answer(text=_NOT_FOR_THEM)
    except (CorruptJournal, UnknownEvent):
        row = await services.runtime.store.lists.run(run_id)
        is_theirs = row is not None and row.requester == member.principal
        return Answer(text=_UNREADABLE.format(run=run_id) if is_theirs else _NOT_FOR_THEM)
    if (reading := await what_is_read(services, actor, state)) is None:
        return Answer(text=_NOT_FOR_THEM)
    links = await _links(services, actor.user, events, state)
    known = services.secrets_in(state)
    shown = [replace(one, event=veiled_event(one.event, state, known)) for one in events]
    is_unsaid = reading == "decisions"
    told = timeline_message(shown, veiled(state, known), links, is_unsaid=is_unsaid)
    return Answer(text=told.text, blocks=told.blocks)


async def _read(services: Services, run_id: RunId) -> tuple[list[Recorded], RunState]:
    """Raises ``NotFound``, ``CorruptJournal``, ``UnknownEvent``."""
    events = await services.runtime.store.journal.read(run_id)
    return events, fold(events)


async def _newest(services: Services, requester: Principal) -> RunId | None:
    rows = await services.runtime.store.lists.runs(limit=1, requester=requester)
    return rows[0].run_id if rows else None


async def _links(services: Services, user: str, events: list[Recorded], state: RunState) -> Links:
    """None where Slack does not tell where our workspace is. Raises ``StoreError``."""
    try:
        url = (await services.people.home()).url
    except SLACK_ERRORS:
        return Links()
    if not url:
        return Links()
    messages = (await services.runtime.store.threads.known(state.run_id)).messages
    stands = posted(messages, state.place)
    cards = {
        approval_id: best_for(user, cards_among(stands, approval_id, state), approval_id, state)
        for approval_id in _asked(events[-_LINKED_EVENTS:])
    }
    root = stands.get(STATUS_KEY)
    ends = {end: stands.get(answer_key(end)) for end in range(state.reopened + 1)}
    refs = where_said(_refs(events[-_LINKED_EVENTS:]), messages, state.place)
    return Links(
        root=root.link(url) if root else None,
        cards=_linked(cards, url),
        ends=_linked(ends, url),
        messages=_linked(refs, url),
    )


def _asked(events: list[Recorded]) -> Iterator[ApprovalId]:
    """Whatever they are about, each once."""
    named = (getattr(recorded.event, "approval_id", None) for recorded in events)
    return iter(dict.fromkeys(one for one in named if one is not None))


def _linked(addresses: Mapping[Key, Address | None], url: str) -> dict[Key, str]:
    return {key: address.link(url) for key, address in addresses.items() if address is not None}


def _refs(events: list[Recorded]) -> Iterator[str]:
    for recorded in events:
        match recorded.event:
            case MessageReceived(ref=str(ref)) | ApprovalDecided(ref=str(ref)):
                yield ref
