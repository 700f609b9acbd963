"""Threads that were opened for runs that did not begin: whoever was to begin them has died.

Slack delivers no command twice, so nobody begins them any more. The message says so.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from agent.chores import Chore
from agent.errors import LeaseLost
from agent.ports import Opening, Store
from agent.rules.ids import RunId
from bot.slack.cards.not_started import not_started_message
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter, editing
from bot.slack.roots.opening import GIVEN_UP_AFTER, asking_for
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, SlackRefused, SlackThreads
from bot.slack.thread.keys import STATUS_KEY
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.searching import Searching
from bot.slack.thread.setbacks import Later, is_lasting

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 30.0
#: At a time: there are as many as processes die. Those of which nothing can be said now go last.
_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Sees to them, in each process: two that do it at once do the same."""

    store: Store
    slack: SlackThreads
    limiter: Limiter
    bookmarks: Bookmarks = field(default_factory=Bookmarks)
    #: Those that could not be seen to, the one that was tried last at the end.
    _left: dict[RunId, None] = field(default_factory=dict)

    def chore(self) -> Chore:
        async def some() -> bool:
            await self.see_to_all()
            return False

        return Chore("known of what was opened for no run", some, _LOOK_SECONDS)

    async def see_to_all(self) -> None:
        """Once; what can't be done now is tried the next time, behind what has not been tried. Raises
        ``StoreError``."""
        for opening in await self._next():
            place = Place.of(opening.place)
            self._left.pop(opening.run_id, None)
            if place is None or await self._is_told(opening, place):
                log.warning("%s was not started: whoever was to has died", opening.run_id)
                await self.store.openings.forget(opening.run_id)
            else:
                self._left[opening.run_id] = None

    async def _next(self) -> list[Opening]:
        limit = _AT_ONCE + len(self._left)
        found = await self.store.openings.give_up(GIVEN_UP_AFTER, limit=limit)
        for gone in self._left.keys() - {one.run_id for one in found}:
            del self._left[gone]
        turns = {run_id: turn for turn, run_id in enumerate(self._left, 1)}
        return sorted(found, key=lambda one: turns.get(one.run_id, 0))[:_AT_ONCE]

    async def _is_told(self, opening: Opening, at: Place) -> bool:
        """Does nothing stand there any more that says that it has begun? Raises ``StoreError``."""
        asking = asking_for(opening.run_id, self.limiter, self.store.clock.now())
        searching = Searching(self.slack, asking, self.bookmarks, self.store.clock)
        try:
            found, _ = await searching.read_back(
                STATUS_KEY, at, attempted_at=opening.begun_at, believed_after=GIVEN_UP_AFTER
            )
            if found is not None:
                await self._say_so(asking, found, at)
        except (Later, LeaseLost, AnswerLost) as error:
            log.info("the thread of %s is looked at later: %s", opening.run_id, error)
            return False
        except SlackRefused as error:
            log.warning("what was opened for %s: Slack refuses: %s", opening.run_id, error.code)
            return is_lasting(error)
        return True

    async def _say_so(self, asking: Asking, root: Address, at: Place) -> None:
        action, message = editing(at.team), not_started_message()
        await asking.allow(action, Priority.WAITING)
        edit = partial(self.slack.update, root, message.text, message.blocks)
        await asking.call(action, edit)
