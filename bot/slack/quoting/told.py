"""How far an agent has been told of a thread, by the journals of its runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent.rules.given import BY_CORE
from agent.rules.parts import Quoted
from agent.rules.state import RunState
from bot.slack.messages import address_of, key_of

#: Before whatever stands in a channel.
BEGINNING: Final = "0.000000"
#: In place of what others said before the oldest that is quoted.
LEFT_OUT: Final = Quoted(by=BY_CORE, text="[Older messages of this thread are left out.]")
#: Before words that are older than what the agent has been told last.
LATE: Final = Quoted(
    by=BY_CORE,
    text="[The message below was written before the last one that you were told, and came late.]",
)
_UNREAD: Final = "[Other messages of this thread could not be read.]"


@dataclass(frozen=True, slots=True)
class Told:
    """Of one thread: what was said in it up to this moment of Slack's has been handed on, as far as that is done
    with what others say; and those messages by their refs that are known besides."""

    up_to: str
    refs: frozenset[str]

    def lacks(self, quote: Quoted) -> bool:
        return quote.ref is not None and quote.ref not in self.refs


def told_of(runs: Iterable[RunState], channel: str) -> Told:
    """By the runs of its session, the newest first; older ones count only where the newer don't say."""
    up_to, refs = None, set[str]()
    for run in runs:
        refs |= set(_refs(run))
        moments = (_told_up_to(*words, channel) for words in _words(run))
        up_to = up_to or max(filter(None, moments), key=Decimal, default=None)
    return Told(up_to or BEGINNING, frozenset(refs))


def unread(team: str, channel: str, since: str) -> Quoted:
    """In place of what others said after ``since``; the next time it is read from there on."""
    return Quoted(by=BY_CORE, text=_UNREAD, ref=key_of(team, channel, since))


def is_between(ts: str, after: str, before: str) -> bool:
    """By Slack's clock, neither of them included."""
    return Decimal(after) < Decimal(ts) < Decimal(before)


def _words(run: RunState) -> Iterator[tuple[str | None, Sequence[Quoted]]]:
    """Where each thing that was said to the run stands, and what was quoted with it."""
    yield run.ref, run.quoted
    for said in run.said:
        yield said.ref, said.quoted


def _refs(run: RunState) -> Iterator[str]:
    for ref, quoted in _words(run):
        yield from filter(None, (ref, *(one.ref for one in quoted if one.by != BY_CORE)))
    decided = (approval.decided for approval in run.approvals.values())
    yield from filter(None, (one.ref for one in decided if one is not None))
    yield from run.deleted


def _told_up_to(ref: str | None, quoted: Sequence[Quoted], channel: str) -> str | None:
    """None where these words don't say: they were said elsewhere."""
    gap = next((one.ref for one in quoted if one.by == BY_CORE and one.ref), None)
    stands = address_of(gap or ref or "")
    return stands.ts if stands is not None and stands.channel == channel else None
