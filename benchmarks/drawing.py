"""What a thread costs, and how many threads at once stay within what Slack allows.

Time is the sandbox's, the store's and the drawers', and is moved: minutes of Slack's pass in seconds. The
figures are counts and that time, not this machine's.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from benchmarks.figures import figure
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.slack.ids import Place
from tests.agent.rules.histories import begun, judged, replied, waiting
from tests.bot.slack.workspace import bot_in, drawing
from tests.bot.thread.reads import reads_of_threads
from tests.bot.thread.scene import TEAM, Scene, many_channels, open_scene

RUNS, CHANNELS, DRAWERS = 200, 20, 2
STEP = 0.25
#: What may be sent of progress while something more urgent waits: what was already under way.
IN_PASSING = 2
#: A start, a claim and three small commits, between an event and a call.
FIRST_SIGN = 10.0


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    async with open_scene(folder, rates="real") as scene:
        await scene.draw("bot-1")
        await scene.draw("bot-2", await scene.second_store())
        runs = [
            await scene.begin(begun(), place=str(Place(TEAM, channel)))
            for channel in many_channels(scene.sandbox, CHANNELS)
            for _ in range(RUNS // CHANNELS)
        ]
        opened = await _until_drawn(scene, runs)
        yield figure(
            f"{RUNS} threads opened at once in {CHANNELS} channels / as many posts at four a second",
            opened / (RUNS / 4),
            1.2,
            seconds=opened,
        )
        async for one in _urgent_before_the_rest(scene, runs):
            yield one
        async for one in _unchanged(scene, runs[0]):
            yield one
        yield figure("rules of Slack's broken / one", float(len(scene.sandbox.violations)), 0.0)
    yield await _first_sign(folder)


async def _first_sign(folder: Path) -> dict[str, object]:
    """From a mention to the thread's first message, by this machine's clock."""
    floors, signs = [], []
    own = folder / "first"
    own.mkdir()
    async with open_sandbox() as sandbox, bot_in(sandbox, own) as bot, drawing(bot):
        for channel in many_channels(sandbox, CHANNELS):
            began = time.perf_counter()
            await bot.services.slack.auth_test()
            floors.append(time.perf_counter() - began)
            seen = sandbox.inside.record.calls()[-1]["seq"]
            await bot.say("U0ALICE", "<@U0PILOT> refund ORD-1 180", channel)
            post = await sandbox.until(partial(_first, sandbox, seen, "chat.postMessage"))
            event = next(one for one in sandbox.deliveries("events_api") if one["seq"] > seen)
            signs.append(post["at"] - event["at"])
    sign, floor = median(signs), median(floors)
    return figure(
        "from a mention to the first message / a call of Slack",
        sign / floor,
        FIRST_SIGN,
        milliseconds=sign * 1000,
    )


def _first(sandbox: OpenSandbox, seen: int, method: str) -> dict[str, Any] | None:
    return next((one for one in sandbox.calls(method) if one["seq"] > seen), None)


async def _urgent_before_the_rest(
    scene: Scene, runs: Sequence[RunId]
) -> AsyncIterator[dict[str, object]]:
    """Half of them end, a quarter ask, and a quarter only go on, all at once."""
    ending, asking, going = runs[: RUNS // 2], runs[RUNS // 2 : -RUNS // 4], runs[-RUNS // 4 :]
    told, began = scene.sandbox.calls()[-1]["seq"], scene.clock.seconds()
    for run_id in going:
        await scene.go_on(run_id, begun().then(replied(1)).then(judged(1)))
    for run_id in asking:
        await scene.go_on(run_id, waiting())
    for run_id in ending:
        await scene.go_on(run_id, begun().then(RunFinished(answer="Done.")))
    await _until_drawn(scene, runs)
    calls = [one for one in scene.sandbox.calls() if one["seq"] > told]
    edits = [one for one in calls if one["method"] == "chat.update"]
    finals = _first_messages(scene, ending)
    urgent = [one for one in calls if one["method"] == "chat.postMessage" or _ts(one) in finals]
    took = max(one["at"] for one in urgent) - began
    yield figure(
        f"{len(edits)} edits / as many at one in 1.6 s",
        (edits[-1]["at"] - began) / (len(edits) * 1.6),
        1.2,
        seconds=edits[-1]["at"] - began,
    )
    yield figure(
        f"{len(urgent)} final states and cards / their edits at one in 1.6 s",
        took / (len(ending) * 1.6),
        1.2,
        seconds=took,
    )
    early = [_ts(one) for one in edits if _ts(one) not in finals and one["at"] < began + took]
    passed = len(set(early) & _first_messages(scene, going))
    yield figure(
        "edits of progress before the last of those / those on their way",
        passed / IN_PASSING,
        1.0,
        that_say_whom_a_run_waits_for=float(len(early) - passed),
    )


def _ts(call: dict[str, Any]) -> object:
    return call["arguments"].get("ts")


def _first_messages(scene: Scene, runs: Sequence[RunId]) -> set[object]:
    """Where they stand."""
    return {
        one["ts"]
        for channel in scene.sandbox.inside.workspace.channels
        for one in scene.sandbox.messages(channel)
        if one.get("metadata", {}).get("event_payload", {}).get("run_id") in runs
    }


async def _unchanged(scene: Scene, run_id: RunId) -> AsyncIterator[dict[str, object]]:
    """Drawn once more, though nothing has changed."""
    before = len(scene.sandbox.calls())
    with reads_of_threads() as reads:
        scene.rows.ask("update threads set shown_seq = 0, wake_at = 1 where run_id = ?", run_id)
        await _until_drawn(scene, [run_id])
    calls = len(scene.sandbox.calls()) - before
    yield figure("calls of Slack to draw what is unchanged / one", float(calls), 0.0)
    yield figure("reads to draw what is unchanged / one", float(len(reads)), 1.0)


async def _until_drawn(scene: Scene, runs: Sequence[RunId]) -> float:
    """The seconds that passed."""
    began = scene.clock.seconds()
    await scene.until_all_drawn(runs, step=STEP)
    return scene.clock.seconds() - began
