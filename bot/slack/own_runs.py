"""Which of their runs somebody means who names none: one that is where they say so, else the only one there is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.ports import RunRow
from agent.rules.ids import Principal, RunId
from agent.rules.state import RunState
from bot.slack.cards.text import quoted
from bot.slack.ids import Place
from bot.slack.interruptions import Interruption
from bot.slack.messages import address_of
from bot.slack.services import Services
from bot.slack.since import is_done_by

#: So many of their newest runs are looked at, and listed.
LOOKED_AT: Final = 20
_LISTED: Final = 5
#: How far the two clocks may be apart.
_APART: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Own:
    """Somebody's runs that have not ended, newest first."""

    #: None where it isn't clear which is meant, or there is none.
    meant: RunId | None = None
    #: To this one it has been done since it was said: by another word right before, or by the same, as Slack delivers
    #: a message more than once. Whoever said it had not seen that yet.
    done: RunState | None = None
    others: tuple[RunState, ...] = ()

    def told(self, how: Interruption) -> str:
        """Of those that are not meant; empty where there are none."""
        if not self.others:
            return ""
        shown = [f"{quoted(one.prompt, 80)} ({one.run_id})" for one in self.others[:_LISTED]]
        more = len(self.others) - len(shown)
        lines = [*(f"• {one}" for one in shown), *([f"• {more} more"] if more > 0 else [])]
        also = "Also at work" if self.meant or self.done else "At work elsewhere"
        return "\n".join([f"{also}, for `/agent {how} RUN`:", *lines])


async def own_runs(
    services: Services,
    requester: Principal,
    how: Interruption,
    channel: str | None,
    said_at: datetime | None = None,
) -> Own:
    """With the one that is meant in ``channel``: the newest there to which it can be done. Of runs elsewhere it is
    clear only to a command, where there is but one: what is said may be meant for another's. ``said_at``: when they
    said so in a message. Raises ``StoreUnavailable``."""
    lists = services.runtime.store.lists
    rows = await lists.runs(limit=LOOKED_AT, requester=requester, active_only=True)
    own = await read_here(services, rows)
    read = {one.run_id for one in own}
    if said_at is not None:
        lately = await lists.runs(limit=LOOKED_AT, requester=requester) if how == "stop" else []
        by_store = services.apart.by_store(said_at)
        stopped = await read_here(services, [one for one in lately if one.status == "cancelled"])
        since = (one for one in (*own, *stopped) if is_done_by(one, how, by_store, requester))
        if done := next(since, None):
            return Own(
                done=done,
                others=tuple(
                    services.shown(one) for one in own if one.stop is None and one is not done
                ),
            )
        own = [one for one in own if _has_begun(one, said_at)]
    # What is being stopped is meant only where there is nothing else.
    own = [one for one in own if one.stop is None] or own
    if not own:
        # What can't be read here is told so when it is tried.
        return Own(next((one.run_id for one in rows if one.run_id not in read), None))
    here = [one for one in own if is_in(one, channel)]
    if not here and (len(own) > 1 or said_at is not None):
        return Own(others=tuple(map(services.shown, own)))
    chosen = _chosen(here or own, how)
    return Own(chosen.run_id, others=tuple(services.shown(one) for one in own if one is not chosen))


async def read_here(services: Services, rows: Sequence[RunRow]) -> list[RunState]:
    """Those that can be read by this version. Raises ``StoreUnavailable``."""
    found = []
    for row in rows:
        with suppress(NotFound, CorruptJournal, UnknownEvent):
            found.append(await services.runtime.state(row.run_id))
    return found


def _has_begun(state: RunState, said_at: datetime) -> bool:
    """By Slack's clock where a message began it; else by the store's, and they may differ."""
    began = address_of(state.ref) if state.ref else None
    if began is None:
        return state.started_at - _APART < said_at
    return float(began.ts) < said_at.timestamp()


def is_in(state: RunState, channel: str | None) -> bool:
    """Does the run talk in this channel?"""
    place = Place.of(state.place)
    return place is not None and place.channel == channel


def _chosen(states: Sequence[RunState], how: Interruption) -> RunState:
    """What is paused already is not meant by ``pause``, nor what is not by ``resume``, where there is another."""
    if how == "stop":
        return states[0]
    is_to_be_held = how == "resume"
    return next((one for one in states if (one.held is not None) is is_to_be_held), states[0])
