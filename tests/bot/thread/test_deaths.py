"""Whoever dies in the middle of drawing, and whoever dies after them, no key is posted twice and the newest is
what stays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import pytest

from agent.rules.ids import RunId
from bot.slack.thread.draw import ThreadDrawer
from store.open import SqlStore
from tests.agent.rules.histories import waiting
from tests.bot.thread.mortal import MortalClient, mortal
from tests.bot.thread.scene import Scene, eventually
from tests.bot.thread.test_drawing import finished
from tests.examples import every

#: Longer than it is waited between two looks for what was posted: few of them, and yet time enough to die at.
STEP = 4.0
#: No thread here takes more calls than that to be shown.
ENOUGH = 20
#: So many open it: the status, its card, and the status once more, with whom it waits for.
OPENING = 3
#: Three more show how it ends.
CALLS = range(1, OPENING + 4)


@dataclass(frozen=True)
class Death:
    """At which of its calls somebody dies: before Slack has heard of it, or when it has done it."""

    call: int
    is_done: bool

    def __str__(self) -> str:
        return f"{self.call} {'done' if self.is_done else 'unheard'}"


DEATHS = [Death(call, is_done) for call in CALLS for is_done in (False, True)]


@dataclass
class Deaths:
    """One run after the other, each drawn by those who die and at last by one who does not."""

    scene: Scene
    other: SqlStore
    _names: int = 0

    async def drawn_by(self, death: Death, run_id: RunId) -> bool:
        """Did they die of it? Else they have drawn it first."""
        client = mortal(self.scene, death.call, is_done=death.is_done)
        name, drawer = await self._draw(client)

        async def is_over() -> bool:
            return client.died.is_set() or await self._is_drawn(run_id)

        await eventually(is_over)
        died = client.died.is_set()
        await self._end(name, drawer)
        return died

    async def drawn_at_last(self, run_id: RunId) -> None:
        name, drawer = await self._draw(None)
        await eventually(lambda: self._is_drawn(run_id))
        await self._end(name, drawer)
        twice = {key for key, found in self.scene.messages(run_id).items() if len(found) > 1}
        assert twice == set()
        assert await self.scene.differs(run_id) == []

    async def _draw(self, client: MortalClient | None) -> tuple[str, ThreadDrawer]:
        self._names += 1
        name, store = f"bot-{self._names}", (self.scene.store, self.other)[self._names % 2]
        return name, await self.scene.draw(name, store, client)

    async def _is_drawn(self, run_id: RunId) -> bool:
        return await self.scene.is_drawn_by_now(run_id, step=STEP)

    async def _end(self, name: str, drawer: ThreadDrawer) -> None:
        await self.scene.ended(drawer)
        self.scene.bury(name)


async def begun_and_drawn_by(deaths: Deaths, first: Death) -> RunId:
    """A thread of which the first one has drawn as much as they could."""
    run_id = await deaths.scene.begin(waiting())
    if first.call <= OPENING:
        assert await deaths.drawn_by(first, run_id)
        return run_id
    await deaths.drawn_at_last(run_id)
    await deaths.scene.go_on(run_id, finished())
    assert await deaths.drawn_by(Death(first.call - OPENING, first.is_done), run_id)
    return run_id


@pytest.mark.parametrize("is_done", [False, True], ids=["unheard", "done"])
@pytest.mark.parametrize("first", DEATHS[:: every(3)], ids=str)
async def test_at_whatever_call_two_die_one_after_the_other_the_third_shows_all_of_it_once(
    scene: Scene, first: Death, is_done: bool
) -> None:
    deaths = Deaths(scene, await scene.second_store())
    for call in count(1):
        assert call < ENOUGH
        run_id = await begun_and_drawn_by(deaths, first)
        died = await deaths.drawn_by(Death(call, is_done), run_id)
        if first.call <= OPENING:
            await scene.go_on(run_id, finished())
        await deaths.drawn_at_last(run_id)
        if not died:
            break
    assert call > 1
