"""Whatever somebody does, at whatever point of a run: at each of its appends, while the model thinks, before a
tool does what it does. A run is played once for each point and each deed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent import Approve, Deny
from agent.errors import DecisionRefused, RunEnded
from agent.ports import ModelUnavailable
from agent.rules.ids import Principal, RunId
from agent.rules.state import RunState
from tests.agent.engine.world import EXPIRES, KINDS, OWNER, Handle, World, begin
from tests.examples import every

CAROL = Principal("slack:T0PILOT:U0CAROL")


@dataclass
class Somebody:
    """Another process, and what those who use it have been told."""

    world: World
    handle: Handle
    run_id: RunId
    said: list[str] = field(default_factory=list)
    stopped: bool = False

    async def says(self) -> None:
        words = f"word {len(self.said)}"
        with suppress(RunEnded):
            await self.handle.runtime.steer(self.run_id, words, CAROL, ref=words)
            self.said.append(words)

    async def holds(self) -> None:
        with suppress(RunEnded):
            await self.handle.runtime.hold(self.run_id, CAROL)

    async def stops(self) -> None:
        with suppress(RunEnded):
            await self.handle.runtime.stop(self.run_id, CAROL)
            self.stopped = True

    async def approves(self) -> None:
        await self._decides(Approve())

    async def denies(self) -> None:
        await self._decides(Deny("no"))

    async def _decides(self, decision: Approve | Deny) -> None:
        for approval in (await self.handle.runtime.state(self.run_id)).open_approvals:
            with suppress(DecisionRefused):
                await self.handle.runtime.decide(approval.id, decision, OWNER)

    async def takes_over(self) -> None:
        """As if whoever works it had been frozen until others went on without it."""
        self.world.wait()
        await self.handle.work()

    async def outwaits(self) -> None:
        """The same, for so long that what was asked expires."""
        self.world.clock.advance(EXPIRES)
        await self.handle.work()


Deeds = Mapping[str, tuple[Callable[[Somebody], Awaitable[None]], ...]]
DEEDS: Deeds = {
    "a message": (Somebody.says,),
    "a message and a hold": (Somebody.says, Somebody.holds),
    "a stop": (Somebody.stops,),
    "a message, a hold, then a stop": (Somebody.says, Somebody.holds, Somebody.stops),
    "a yes, then a stop, then a yes": (Somebody.approves, Somebody.stops, Somebody.approves),
    "a no and a message": (Somebody.denies, Somebody.says),
    "being replaced": (Somebody.takes_over,),
    "being replaced, with a stop": (Somebody.stops, Somebody.takes_over),
    "being replaced for long": (Somebody.outwaits,),
}


#: What it is worth to play with a tool of each kind.
ALL_KINDS = ("a message and a hold", "a stop", "being replaced")


@pytest.mark.parametrize("what", DEEDS)
async def test_what_somebody_does_at_any_point_is_done_once_and_whole(
    what: str, tmp_path: Path
) -> None:
    for at in range(1, 100, every(2)):
        world = World(tmp_path / f"{at}", KINDS if what in ALL_KINDS else ("put", "post"))
        async with world.process() as others, world.process() as ours:
            run_id = await begin(others)
            somebody = Somebody(world, others, run_id)

            async def does(somebody: Somebody = somebody) -> None:
                for deed in DEEDS[what]:
                    await deed(somebody)

            ours.points.deeds[at] = does
            state = await world.bring_to_an_end(ours, run_id)
            await _check_words(others, state, somebody)
            assert (state.ending == "cancelled") == somebody.stopped
        if ours.points.count < at:
            break
    assert at > 8, "the sweep has not met every point of the story"


async def test_whoever_holds_a_run_beside_its_model_s_failure_is_heard_before_it_is_asked_again(
    tmp_path: Path,
) -> None:
    for at in range(1, 100, every(2)):
        world = World(tmp_path / f"{at}", ())
        async with world.process() as others, world.process() as ours:
            run_id = await begin(others)
            somebody = Somebody(world, others, run_id)
            world.troubles += [ModelUnavailable("away"), ValueError("none such")]
            await others.work()
            await somebody.says()
            world.wait()

            async def does(somebody: Somebody = somebody) -> None:
                await somebody.holds()

            ours.points.deeds[at] = does
            await world.bring_to_an_end(ours, run_id)
        if ours.points.count < at:
            break
    assert at > 4, "the sweep has not met every point of the story"


@pytest.mark.parametrize("how", ["die", "die_after"])
@pytest.mark.parametrize("what", ["a message and a hold", "a stop", "being replaced"])
async def test_a_crash_at_any_point_behind_it_changes_nothing(
    what: str, how: str, tmp_path: Path
) -> None:
    for at in range(1, 100, every(2)):
        world = World(tmp_path / f"{at}", ("post", "wire"))
        async with world.process() as others:
            run_id = await begin(others)
            somebody = Somebody(world, others, run_id)
            async with world.process() as ours:

                async def does(somebody: Somebody = somebody, ours: Handle = ours) -> None:
                    for deed in DEEDS[what]:
                        await deed(somebody)
                    await (ours.points.die() if how == "die" else ours.points.die_after())

                ours.points.deeds[at] = does
                await world.bring_to_an_end(ours, run_id)
            world.wait()
            async with world.process() as fresh:
                state = await world.bring_to_an_end(fresh, run_id)
            await _check_words(others, state, somebody)
            assert (state.ending == "cancelled") == somebody.stopped
        if ours.points.count < at:
            break
    assert at > 8, "the sweep has not met every point of the story"


async def _check_words(handle: Handle, state: RunState, somebody: Somebody) -> None:
    """What was taken was said to the run that was there, or began the next one, and was heard."""
    runs = await handle.runtime.runs()
    heard = [said.text for run in runs for said in run.said]
    begun = [run.prompt for run in runs if run.run_id != state.run_id]
    assert sorted(heard + begun) == sorted(somebody.said), "each message is somewhere, once"
    if state.ending == "finished":
        assert state.answer == " / ".join(["go", *(said.text for said in state.said)])
    assert state.ending in ("finished", "cancelled")
