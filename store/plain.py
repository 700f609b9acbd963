"""Appends that move their run's head and write its facts, and change little else: most are.

What such an append follows is known from the one before, so nothing is read for it, and any number of them
are done in a few statements. Each is guarded by all that it takes for granted; where that does not hold,
nothing was done, and it is done in the general way (``store.appends``), which finds out why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agent.rules.events import (
    CallJudged,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
)
from agent.rules.ids import OperationId, RunId
from agent.rules.recorded import Recorded
from store.bodies import Fact
from store.instants import as_number
from store.names import why_no_name

#: What may answer a question about a call, or say what becomes of what it has reserved.
_OF_CALLS = (CallStarted, CallLookedUp, CallReturned, CallRefused)


class Head(NamedTuple):
    """The last fact of a run, as far as is known here."""

    seq: int
    hash: str


class Plain(NamedTuple):
    """An append by whoever holds the run, of facts that are plain."""

    run_id: RunId
    facts: tuple[Fact[Event], ...]
    #: None: behind whatever is there.
    expected_seq: int | None
    fence: int
    is_drawn_here: bool
    #: Of the store's clock: what a statement is told of the time.
    told: Callable[[], datetime | None]


class Move(NamedTuple):
    """A plain append, as it is written if its run's head is still ``seen`` and its fence the newest."""

    wanted: Plain
    seen: Head
    recorded: list[Recorded]
    #: The form of journal that it takes to read them.
    form: int
    #: Only where nobody is asked anything about the run's calls, and nothing is reserved for them.
    is_of_calls: bool
    operations: list[OperationId]
    #: What comes next follows this.
    head: Head

    @property
    def run_id(self) -> RunId:
        return self.wanted.run_id


def is_plain(facts: Sequence[Fact[Event]]) -> bool:
    """Do these need no row of their own elsewhere, beside the operations of a reply's calls?"""
    for fact in facts:
        if why_no_name(fact.id) is not None or not _is_plain(fact.event):
            return False
    return bool(facts)


def _is_plain(event: Event) -> bool:
    match event:
        case ModelReplied(calls=calls):
            return all(why_no_name(call.operation_id) is None for call in calls)
        case CallJudged(verdict=verdict):
            return verdict.grant is None
        case CallStarted(reserves=reserves, grant=grant):
            return not reserves and grant is None
        case ModelFailed() | CallPreviewed() | CallProgressed():
            return True
        case CallLookedUp() | CallReturned() | CallRefused():
            return True
        case _:
            return False


def move_from(head: Head, wanted: Plain) -> Move | None:
    """None where it is to follow another fact than the last."""
    if wanted.expected_seq is not None and wanted.expected_seq != head.seq:
        return None
    form, is_of_calls, operations = 0, False, list[OperationId]()
    for fact in wanted.facts:
        event = fact.event
        form = max(form, event.form)
        if isinstance(event, ModelReplied):
            operations += [call.operation_id for call in event.calls]
        elif isinstance(event, _OF_CALLS):
            is_of_calls = True
    recorded = chain_up(wanted.run_id, head.seq, head.hash, wanted.facts)
    new = Head(recorded[-1].seq, recorded[-1].hash)
    return Move(wanted, head, recorded, form, is_of_calls, operations, new)


def chain_up(
    run_id: RunId, seq: int, previous: str, facts: Sequence[Fact[Event]]
) -> list[Recorded]:
    """The facts behind ``seq``, each with the hash that ties it to the one before."""
    added = []
    for next_seq, fact in enumerate(facts, seq + 1):
        previous = fact.hash_behind(previous, run_id, next_seq)
        added.append(Recorded(run_id, next_seq, fact.id, fact.at, previous, fact.event))
    return added


def rows_of(move: Move) -> list[tuple[Any, ...]]:
    """Of the journal: run, seq, event id, time, hash, body as it is kept."""
    return [
        (one.run_id, one.seq, one.id, as_number(one.at), one.hash, fact.kept(one.run_id, one.seq))
        for fact, one in zip(move.wanted.facts, move.recorded, strict=True)
    ]
