"""A card that Slack lets nobody edit any more keeps its buttons: one reply below it says what became of it."""

from __future__ import annotations

import pytest

from agent.rules.ids import RunId
from bot.slack.ids import ASK_AGAIN
from tests.agent.rules.histories import History, approved, denied
from tests.bot.cards.waits import expired, patient
from tests.bot.thread import test_group_elsewhere as group
from tests.bot.thread.cards_elsewhere import CARD, cards, has_buttons, put
from tests.bot.thread.scene import CHANNEL, Message, Scene

CODES = ["cant_update_message", "edit_window_closed"]


async def frozen(scene: Scene, history: History, code: str = "cant_update_message") -> RunId:
    """Its cards stand there, and nobody can edit anything any more."""
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    scene.sandbox.faults.add(error=code, method="chat.update", times=1000)
    return run_id


def below(scene: Scene, channel: str) -> list[str]:
    """What is said below the cards there."""
    tops: list[Message] = cards(scene, channel)
    return [
        one["text"]
        for top in tops
        for one in scene.sandbox.messages(channel, top["ts"])
        if one["ts"] != top["ts"]
    ]


@pytest.mark.parametrize("code", CODES)
async def test_below_it_stands_once_what_was_decided(scene: Scene, code: str) -> None:
    history = put("thread")
    run_id = await frozen(scene, history, code)
    await scene.go_on(run_id, history.then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert has_buttons(shown[CARD][0])
    (said,) = shown["closed:apr_1"]
    assert said["thread_ts"] == shown["status"][0]["ts"]
    assert "waits for a decision no more: approved by <@U0BOB> <!date^" in said["text"]
    # A click may have changed it all the same.
    assert said["text"].endswith("if that still has buttons, they do nothing now.")
    posts = len(scene.sandbox.calls("chat.postMessage"))
    await scene.store.threads.try_now(run_id)
    await scene.until_drawn(run_id, step=0.2)
    await scene.settled()
    assert len(scene.sandbox.calls("chat.postMessage")) == posts


async def test_what_nobody_decided_can_be_asked_again_from_there(scene: Scene) -> None:
    run_id = await frozen(scene, patient())
    scene.clock.advance(25 * 3600)
    await scene.go_on(run_id, expired(patient()))
    (said,) = (await scene.until_drawn(run_id, step=0.2))["closed:apr_1"]
    assert ASK_AGAIN in str(said["blocks"])
    assert "no more: nobody decided by <!date^" in said["text"]
    assert said["text"].count("<!date^") == 1


@pytest.mark.parametrize(("card", "channels"), [("C0OPS", ["C0OPS"]), ("dm", ["D0BOB", "D0FRANK"])])
async def test_it_is_said_below_each_card_wherever_that_stands(
    scene: Scene, card: str, channels: list[str]
) -> None:
    history = put(card)
    run_id = await frozen(scene, history)
    await scene.go_on(run_id, history.then(denied(1)))
    await scene.until_drawn(run_id, step=0.2)
    for channel in channels:
        (said,) = below(scene, channel)
        assert "no more: denied by <@U0BOB>" in said


async def test_of_calls_that_share_it_what_is_decided_is_said_of_each(scene: Scene) -> None:
    history = group.put("thread", "thread")
    run_id = await frozen(scene, history)
    await scene.go_on(run_id, history := history.then(denied(2)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert {key for key in shown if key.startswith("closed:")} == {"closed:apr_2"}
    await scene.go_on(run_id, history.then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert len(shown["closed:apr_1"]) == len(shown["closed:apr_2"]) == 1
    one, two = (shown[f"closed:apr_{number}"][0]["text"] for number in (1, 2))
    assert one.partition(" waits for ")[0] != two.partition(" waits for ")[0], "each says which"


async def test_where_it_can_be_edited_nothing_is_said_besides(scene: Scene) -> None:
    history = put("thread")
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    card = scene.messages(run_id)[CARD][0]
    scene.sandbox.inside.posting.delete(scene.sandbox.inside.workspace.channel(CHANNEL), card["ts"])
    await scene.go_on(run_id, history.then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert not [key for key in shown if key.startswith("closed:")], "what is gone has no buttons"
