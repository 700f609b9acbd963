"""Threads are drawn while Slack fails, forgets to answer and asks to be left alone, and while those who draw
die: in the end each shows exactly what its run wants, and nothing stands there twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from agent.rules.events import RunFailed, RunFinished
from agent.rules.ids import RunId
from bot.slack.ids import Place
from bot.slack.thread.draw import ThreadDrawer
from store.open import SqlStore
from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import (
    History,
    approved,
    begun,
    call_started,
    denied,
    replied,
    returned,
    waiting,
)
from tests.bot.thread.scene import TEAM, Scene, many_channels, open_scene
from tests.bot.thread.test_going_on import finished as asked_twice
from tests.chaos.drawers import DrawingProcess

HOUR = timedelta(hours=1)
CHANNELS = 10
STEP = 0.5
DRAWERS = 2


def _paid() -> History:
    history = waiting().then(approved(1))
    return history.then(call_started(1, history.now)).then(returned(1)).then(replied(text="Done."))


#: Each as far as it goes, and how.
STORIES = (
    _paid().then(RunFinished(answer="Done.")),
    waiting().then(denied(1)).then(replied(text="Well.")).then(RunFinished(answer="Well.")),
    waiting().then(approved(1)).then(RunFailed(error="The model is gone.")),
    waiting(),
    # Failed, taken on again, asked again, done.
    asked_twice(),
    waiting().then(reminded(1), after=HOUR).then(reminded(1, 2), after=HOUR).then(approved(1)),
    begun().then(RunFinished(answer="word " * 5000)),
)


@dataclass
class Trouble:
    """Runs that go on, drawers that die; by chance, and the same chance again with the same seed."""

    scene: Scene
    chance: random.Random
    folder: Path
    stories: dict[RunId, History] = field(default_factory=dict)
    reached: dict[RunId, int] = field(default_factory=dict)
    drawers: dict[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    deaths: int = 0
    _names: int = 0

    async def begin(self, count: int) -> None:
        channels = many_channels(self.scene.sandbox, CHANNELS)
        for number in range(count):
            place = str(Place(TEAM, channels[number % CHANNELS]))
            run_id = await self.scene.begin(begun(), place=place)
            self.stories[run_id] = self.chance.choice(STORIES)
            self.reached[run_id] = begun().length

    async def go_on(self) -> bool:
        """One of the runs takes a step; False when all have come to their ends."""
        unfinished = [
            one for one, story in self.stories.items() if self.reached[one] < story.length
        ]
        if not unfinished:
            return False
        run_id = self.chance.choice(unfinished)
        story = self.stories[run_id]
        reached = self.reached[run_id]
        to = self.chance.randint(reached + 1, story.length)
        # What fails is taken on again by somebody else, later.
        ends = [n for n, one in enumerate(story.recorded, 1) if isinstance(one.event, RunFailed)]
        to = min([to, *(end for end in ends if end > reached)])
        await self.scene.go_on(run_id, History(story.recorded[:to]))
        self.reached[run_id] = to
        return True

    async def replace(self) -> None:
        """One who draws dies, and another comes: by turns within this process and as one of its own."""
        if len(self.drawers) == DRAWERS:
            await self.kill(self.chance.choice(sorted(self.drawers)))
        self._names += 1
        name = f"bot-{self._names}"
        if self._names % 2:
            store = await self.scene.second_store()
            drawer = await self.scene.draw(name, store)
            self.drawers[name] = partial(self._cut_off, drawer, store)
        else:
            clock = self.scene.clock.shared(self.folder / "clock")
            said = self.folder / f"{name}.log"
            process = DrawingProcess(self.scene, name, clock, said)
            self.drawers[name] = process.kill
            await process.ready()

    async def kill(self, name: str) -> None:
        self.deaths += 1
        await self.drawers.pop(name)()
        self.scene.bury(name)

    async def _cut_off(self, drawer: ThreadDrawer, store: SqlStore) -> None:
        await self.scene.ended(drawer)
        await self.scene.close(store)

    def disturb(self) -> None:
        """Of ten calls three go wrong, each in its own way."""
        add = self.scene.sandbox.faults.add
        for method in ("chat.postMessage", "chat.update"):
            add(method=method, status=500, share=0.1)
            add(method=method, drop_after_commit=True, share=0.1)
            add(method=method, ratelimited=True, retry_after=2, share=0.1)
        add(method="conversations.replies", status=503, share=0.2)

    async def pass_time(self) -> None:
        self.scene.pass_time(STEP)
        await asyncio.sleep(0.001)

    def rules_broken(self) -> list[str]:
        """But for those of the dead: who is killed by the time it is told to wait tells nobody else."""
        broken = [one["kind"] for one in self.scene.sandbox.violations]
        early = broken.count("call_before_retry_after")
        return [kind for kind in broken if kind != "call_before_retry_after"] + [
            f"{early} calls too early, after {self.deaths} deaths"
        ] * (early > self.deaths)

    def faults_of_ours(self) -> list[str]:
        """What the processes said that they must not."""
        said = {one.name: one.read_text() for one in self.folder.glob("bot-*.log")}
        return [f"{name}: {words}" for name, words in said.items() if "Traceback" in words]


@pytest.mark.timeout(2400)
async def test_in_the_end_every_thread_shows_its_run(
    tmp_path: Path, url: str, thread_runs: int, thread_seed: int
) -> None:
    async with open_scene(tmp_path, rates="real", url=url, allow_violations=True) as scene:
        trouble = Trouble(scene, random.Random(thread_seed), tmp_path)
        await trouble.begin(thread_runs)
        try:
            for _ in range(DRAWERS):
                await trouble.replace()
            trouble.disturb()
            while await trouble.go_on():
                for _ in range(trouble.chance.randint(0, 4)):
                    await trouble.pass_time()
                if trouble.chance.random() < 0.05:
                    await trouble.replace()
            await scene.until_all_drawn(trouble.stories, step=STEP)
        finally:
            for name in list(trouble.drawers):
                await trouble.kill(name)
        await _all_is_well(scene, list(trouble.stories))
        assert trouble.faults_of_ours() == []
        assert trouble.rules_broken() == []


async def _all_is_well(scene: Scene, runs: Sequence[RunId]) -> None:
    differs = {one: keys for one in runs if (keys := await scene.differs(one))}
    assert differs == {}
    twice = [
        (one, key) for one in runs for key, found in scene.messages(one).items() if len(found) != 1
    ]
    assert twice == []
