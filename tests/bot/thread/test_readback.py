"""A message is found, or known not to be there, however much else was said in its channel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.rules.ids import RunId
from bot.slack.clients import slack_client
from bot.slack.ids import METADATA_TYPE
from bot.slack.limiter import Limiter, reading
from bot.slack.thread.edge import AnswerLost, Page
from bot.slack.thread.readback import Bookmarks, Sought, find_posted
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import CHANNEL, TEAM, Scene, eventually

#: More than what Slack allows at once to be read.
MANY = 2_200


def talk(scene: Scene, times: int = MANY) -> None:
    inside = scene.sandbox.inside
    alice, channel = inside.workspace.users["U0ALICE"], inside.workspace.channel(CHANNEL)
    for number in range(times):
        inside.posting.say(alice, channel, f"talk {number}", [], None)


async def is_drawn_soon(scene: Scene, run_id: RunId) -> None:
    began_at = scene.clock.seconds()
    await scene.until_drawn(run_id, step=0.5)
    assert scene.clock.seconds() - began_at < 60


@pytest.mark.parametrize("is_done", [True, False], ids=["posted", "not posted"])
async def test_a_post_that_was_lost_is_looked_for_in_a_busy_channel(
    scene: Scene, is_done: bool
) -> None:
    run_id = await scene.begin(waiting())
    if is_done:
        scene.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True)
    else:
        scene.sandbox.faults.add(method="chat.postMessage", status=500)
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    talk(scene)
    await is_drawn_soon(scene, run_id)
    assert {key: len(found) for key, found in scene.messages(run_id).items()} == {
        "status": 1,
        "approval:apr_1": 1,
    }


async def test_what_lands_on_a_page_that_was_read_is_found_whatever_slacks_clock_says(
    scene: Scene,
) -> None:
    await scene.sandbox.faults.now(clock_ahead=7200)
    talk(scene, MANY + 400)
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(method="chat.postMessage", status=500)
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    scene.clock.advance(1.0)
    scene.wake()
    # In the time by Slack's own clock, for as long as it allows.
    await eventually(lambda: len(scene.sandbox.calls("conversations.history")) >= 12)
    await scene.settled()
    # Nothing more is read until its absence is to be believed.
    limiter = Limiter(scene.store.allowances, scene.clock.seconds)
    await limiter.withhold(reading(TEAM, is_thread=False), 15)
    scene.clock.advance(3)
    metadata = {"event_type": METADATA_TYPE, "event_payload": {"run_id": run_id, "key": "status"}}
    await slack_client("xoxb-sandbox", scene.sandbox.api_url).chat_postMessage(
        channel=CHANNEL, text="landed late", metadata=metadata
    )
    await is_drawn_soon(scene, run_id)
    assert len(scene.messages(run_id)["status"]) == 1


async def test_what_was_said_long_after_a_lost_post_is_not_read(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(method="chat.postMessage", status=500)
    drawer = await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    await drawer.stop()
    scene.clock.advance(3600)
    talk(scene)
    await scene.draw("bot-2")
    await scene.until_drawn(run_id, step=0.1)
    assert len(scene.sandbox.calls("conversations.history")) <= 3


async def test_a_message_without_a_row_is_found_in_a_busy_channel(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = await scene.until_drawn(run_id)
    talk(scene)
    scene.lose_messages(run_id, "status")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await is_drawn_soon(scene, run_id)
    assert [one["ts"] for one in scene.messages(run_id)["status"]] == [before["status"][0]["ts"]]


async def test_where_there_is_no_end_to_what_is_read_it_is_not_known_that_it_is_not_there() -> None:
    now = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
    sought = Sought(RunId("run_1"), "status", None, now)

    async def read_page(cursor: str | None) -> Page:
        return Page([], "more", None)

    with pytest.raises(AnswerLost):
        await find_posted(read_page, sought, Bookmarks().of(sought, now))


def test_it_is_gone_on_with_for_as_long_as_somebody_does() -> None:
    bookmarks, now = Bookmarks(), datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
    sought = Sought(RunId("run_1"), "status", None, now)
    first = bookmarks.of(sought, now)
    for minutes in (8, 16, 24):
        assert bookmarks.of(sought, now + timedelta(minutes=minutes)) is first
    assert bookmarks.of(sought, now + timedelta(minutes=35)) is not first
