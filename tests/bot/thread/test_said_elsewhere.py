"""What people say while a call waits, where its cards stand elsewhere than in the thread: there it is told that
something was said, and by whom."""

from __future__ import annotations

import json

import pytest

from agent.rules.interventions import MessageReceived
from bot.slack.ids import Place
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import FRANK, approved
from tests.bot.thread.cards_elsewhere import cards, has_buttons, posts, put
from tests.bot.thread.scene import CHANNEL, TEAM, Scene
from tests.bot.thread.test_undeliverable import in_a_thread_of_alices


@pytest.mark.parametrize(("where", "places"), [("dm", ["D0BOB", "D0FRANK"]), ("C0OPS", ["C0OPS"])])
async def test_that_something_is_said_in_the_thread_is_read_on_each_card_without_its_words(
    scene: Scene, where: str, places: list[str]
) -> None:
    """Nobody's telephone rings for it, either."""
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, put(where))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    told, posted = put(where), len(posts(scene, places[0]))
    for number in range(1, 6):
        ref = f"slack:T0PILOT:{CHANNEL}:1796000000.00000{number}"
        told = told.then(MessageReceived(by=FRANK, text=f"{60 + number} I said!", ref=ref))
    await scene.go_on(run_id, told)
    await scene.until_drawn(run_id, step=0.2)
    there = f"/archives/{CHANNEL}/p1796000000000005?thread_ts={root}&amp;cid={CHANNEL}|look at the newest>"
    for channel in places:
        (card,) = cards(scene, channel)
        assert "asked: 5 messages in its thread, by <@U0FRANK>" in card["text"]
        assert there in json.dumps(card)
        assert has_buttons(card)
        assert len(posts(scene, channel)) == posted
        edits = [one["arguments"]["channel"] for one in scene.sandbox.calls("chat.update")]
        assert edits.count(channel) == 1, "however many words there are"
    sent = json.dumps([one["arguments"] for one in scene.sandbox.calls("chat.update")])
    assert "I said" not in sent + json.dumps([posts(scene, one) for one in places], default=str)
    await scene.go_on(run_id, told.then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert "messages in its thread" not in json.dumps(cards(scene, places[0]))


async def test_on_a_card_in_the_channel_of_its_thread_the_words_stand(scene: Scene) -> None:
    run_id, _ = await in_a_thread_of_alices(scene)
    said = put(CHANNEL).then(MessageReceived(by=FRANK, text="60 I said!"))
    await scene.go_on(run_id, said)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    assert "<@U0FRANK>: “60 I said!”" in json.dumps(cards(scene, CHANNEL), ensure_ascii=False)


async def test_what_is_said_in_somebody_s_direct_messages_is_shown_to_nobody_else(
    scene: Scene,
) -> None:
    asks = put("thread")
    run_id = await scene.begin(asks, place=str(Place(TEAM, "D0ALICE")))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    words = said("only half", ref="slack:T0PILOT:D0ALICE:1796000000.000100")
    await scene.go_on(run_id, asks.then(words))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "only half" in str(shown["guidance:apr_1"])
    for channel in ("D0BOB", "D0FRANK"):
        (card,) = cards(scene, channel)
        assert "1 message in its thread, by <@U0ALICE>" in card["text"]
    sent = [one["arguments"] for one in scene.sandbox.calls()]
    assert {one["channel"] for one in sent if "only half" in str(one)} == {"D0ALICE"}
