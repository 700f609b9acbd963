"""One refusal costs nobody the card for good, and a file's says nothing of the messages beside it."""

from __future__ import annotations

import json

import pytest

from agent.rules.ids import RunId
from agent.rules.parts import Delivery
from bot.slack.thread.edge import SlackRefused
from bot.slack.thread.refusals import Refusals, Target
from tests.agent.rules.histories import (
    FINANCE,
    TWO_OF_FINANCE,
    History,
    asked,
    begun,
    judged,
    replied,
    voted,
)
from tests.bot.thread.cards_elsewhere import CARD, cards, delete, has_buttons, put
from tests.bot.thread.scene import CHANNEL, Message, Scene, eventually
from tests.bot.thread.test_files import COMPLETE, SCRIPT, files, may_be_approved

OF_CHANNEL = ["not_in_channel", "channel_not_found", "is_archived"]


def long_and_short(card: str) -> History:
    """Two calls of one reply wait: the first needs a file."""
    history = begun().then(replied(1, 2))
    script = {"script": SCRIPT, "host": "web-1"}
    for call, args in ((1, script), (2, {"order": "17"})):
        question = asked(call, args=args, approvers=FINANCE)
        delivery = Delivery(card=card)
        history = history.then(judged(call, "ask", args=args, approvers=FINANCE))
        history = history.then(question.model_copy(update={"delivery": delivery}))
    return history


def asked_there(scene: Scene, channel: str) -> list[Message]:
    """The cards of that channel, in its threads and out of them."""
    tops = scene.sandbox.messages(channel)
    every = {one["ts"]: one for top in tops for one in scene.sandbox.messages(channel, top["ts"])}
    return [one for one in every.values() if "approval.deny" in json.dumps(one.get("blocks"))]


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("code", ["channel_not_found", "some_word"])
async def test_whom_slack_refused_gets_the_card_later(scene: Scene, code: str, times: int) -> None:
    scene.sandbox.faults.add(error=code, method="chat.postMessage", contains="D0FRANK", times=times)
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=2)
    for channel in ("D0BOB", "D0FRANK"):
        assert [has_buttons(one) for one in cards(scene, channel)] == [True]
    assert "in direct messages of <@U0BOB> and <@U0FRANK>" in shown[CARD][0]["text"]


async def test_where_a_deleted_card_is_refused_once_it_is_there_again_later(scene: Scene) -> None:
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    delete(scene, "D0FRANK")
    scene.sandbox.faults.add(error="channel_not_found", method="chat.postMessage")
    scene.clock.advance(301)
    scene.wake()

    def is_there() -> bool:
        scene.pass_time(1)
        return bool(cards(scene, "D0FRANK"))

    await eventually(is_there, 0.002)
    assert [has_buttons(one) for one in cards(scene, "D0FRANK")] == [True]


async def test_those_who_have_it_see_what_is_new_while_slack_does_not_say_who_else_may(
    scene: Scene,
) -> None:
    scene.sandbox.faults.add(
        error="channel_not_found", method="chat.postMessage", contains="D0FRANK", times=1000
    )
    history = put("dm", approvers=TWO_OF_FINANCE)
    run_id = await scene.begin(history)
    await scene.draw()
    await eventually(lambda: scene.messages(run_id).get(CARD))
    (before,) = cards(scene, "D0BOB")
    scene.sandbox.faults.add(error="internal_error", method="usergroups.users.list", times=1000)
    scene.clock.advance(3_600)
    await scene.go_on(run_id, history.then(voted(1)))
    await eventually(lambda: cards(scene, "D0BOB")[0]["blocks"] != before["blocks"])


async def until_both_are_asked(scene: Scene, channel: str) -> tuple[Message, ...]:
    def are_there() -> bool:
        scene.pass_time(1)
        return len(asked_there(scene, channel)) == 2

    await eventually(are_there, 0.002)
    return tuple(asked_there(scene, channel))


async def test_a_refused_file_costs_nobody_the_card_beside_it(scene: Scene) -> None:
    scene.sandbox.faults.add(error="channel_not_found", method=COMPLETE, contains="D0FRANK")
    run_id = await scene.begin(long_and_short("dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=2)
    for channel in ("D0BOB", "D0FRANK"):
        assert list(map(may_be_approved, asked_there(scene, channel))) == [True, True]
        assert len(files(scene, channel)) == 1


async def test_a_file_that_is_refused_for_its_place_keeps_no_card_away(scene: Scene) -> None:
    scene.sandbox.faults.add(error="not_in_channel", method=COMPLETE, times=1000)
    run_id = await scene.begin(long_and_short("thread"))
    await scene.draw()
    long, short = await until_both_are_asked(scene, CHANNEL)
    assert not may_be_approved(long)
    assert "not_in_channel" in json.dumps(long["blocks"])
    assert may_be_approved(short)
    assert (await scene.store.threads.known(run_id)).trouble is None
    assert scene.sandbox.messages("D0ALICE") == [], "nobody is told that it can't be asked"


@pytest.mark.parametrize("code", [*OF_CHANNEL, "thread_not_found"])
def test_a_file_s_refusal_is_of_that_file_alone(code: str) -> None:
    now = 0.0
    refusals = Refusals(lambda: now)
    run_id, card = RunId("run_1"), "approval:apr_1"
    file = Target(run_id, "file:apr_1", CHANNEL, is_file=True)
    refusals.met(file, SlackRefused(code), is_awaited=True)
    assert refusals.of(file) is not None
    assert refusals.of(Target(run_id, card, CHANNEL)) is None
    assert refusals.of(Target(RunId("run_2"), card, CHANNEL)) is None
    refusals.try_again(run_id)
    assert refusals.of(file) is None, "something new is worth one try"
