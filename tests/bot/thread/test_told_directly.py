"""Whoever may decide is told directly of a card in a channel: with a link, or with the card itself where they are
not in that channel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from agent.rules.parts import Approvers, Delivery, Escalation, Notify, Patience
from bot.sandbox.workspace import Channel, Group
from bot.slack.ids import Place
from tests.agent.rules.happenings import HOUR, escalated, reminded
from tests.agent.rules.histories import (
    FINANCE,
    History,
    approved,
    asked,
    begun,
    denied,
    judged,
    replied,
)
from tests.bot.thread.scene import CHANNEL, TEAM, Scene, eventually
from tests.bot.thread.test_called_directly import below_the_card
from tests.bot.thread.test_elsewhere import CARD, cards, delete, has_buttons, put


def leaves(scene: Scene, user: str, channel: str) -> None:
    scene.sandbox.inside.workspace.channel(channel).members.remove(user)


@pytest.mark.parametrize(("card", "channel"), [("thread", CHANNEL), ("C0OPS", "C0OPS")])
async def test_who_is_not_in_the_channel_of_the_card_gets_the_card_itself(
    scene: Scene, card: str, channel: str
) -> None:
    leaves(scene, "U0FRANK", channel)
    run_id = await scene.begin(put(card, "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    (franks,) = cards(scene, "D0FRANK")
    assert has_buttons(franks)
    (bobs,) = cards(scene, "D0BOB")
    assert "Look at it" in bobs["text"]
    assert not has_buttons(bobs)
    await scene.go_on(run_id, put(card, "dm").then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    (franks,) = cards(scene, "D0FRANK")
    assert "Approved* by <@U0BOB>" in str(franks)
    assert not has_buttons(franks)
    assert "waited for a decision: approved by <@U0BOB>." in cards(scene, "D0BOB")[0]["text"]


@pytest.mark.parametrize("notify", ["dm", "mention"])
async def test_of_a_run_in_somebody_s_direct_messages_each_who_may_decide_gets_the_card(
    scene: Scene, notify: Notify
) -> None:
    """A mention there would ring nobody."""
    run_id = await scene.begin(put("thread", notify), place=str(Place(TEAM, "D0ALICE")))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0BOB", "D0FRANK"):
        assert [has_buttons(one) for one in cards(scene, channel)] == [True]


async def test_whose_direct_messages_they_are_is_rung_by_the_card_alone(scene: Scene) -> None:
    alice = Approvers(users=("U0ALICE", "U0BOB"), requester=True)
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1, approvers=alice))
    run_id = await scene.begin(history, place=str(Place(TEAM, "D0ALICE")))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    assert [has_buttons(one) for one in cards(scene, "D0BOB")] == [True]
    assert len(scene.sandbox.messages("D0ALICE")) == 1


async def test_where_slack_does_not_say_who_is_in_the_channel_all_get_a_link(scene: Scene) -> None:
    leaves(scene, "U0FRANK", CHANNEL)
    scene.sandbox.faults.add(error="fatal_error", method="conversations.members", times=100)
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0BOB", "D0FRANK"):
        assert ["Look at it" in one["text"] for one in cards(scene, channel)] == [True]


async def test_whoever_leaves_later_keeps_the_link_and_nobody_is_looked_up_again(
    scene: Scene,
) -> None:
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    leaves(scene, "U0FRANK", CHANNEL)
    scene.clock.advance(120)
    await scene.go_on(run_id, put("thread", "dm").then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert len(scene.sandbox.calls("conversations.members")) == 1
    assert [
        "a decision: approved by <@U0BOB>." in one["text"] for one in cards(scene, "D0FRANK")
    ] == [True]


async def test_a_card_that_was_deleted_there_is_there_again_before_long(scene: Scene) -> None:
    leaves(scene, "U0FRANK", CHANNEL)
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    delete(scene, "D0FRANK")
    scene.clock.advance(301)
    scene.wake()
    await eventually(lambda: cards(scene, "D0FRANK"))
    assert [has_buttons(one) for one in cards(scene, "D0FRANK")] == [True]


async def test_of_several_calls_on_one_card_each_has_its_own_there(scene: Scene) -> None:
    """Who may decide one of them need not be one who may decide the others."""
    leaves(scene, "U0FRANK", CHANNEL)
    franks = Approvers(users=("U0FRANK",))
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    delivery = Delivery(notify="dm")
    questions = [asked(n, approvers=who) for n, who in ((1, FINANCE), (2, franks))]
    run_id = await scene.begin(
        history.then(*(one.model_copy(update={"delivery": delivery}) for one in questions))
    )
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    assert "2 actions to decide" in str(scene.messages(run_id)[CARD])
    assert [has_buttons(one) for one in cards(scene, "D0FRANK")] == [True, True]
    assert len(cards(scene, "D0BOB")) == 1


async def test_of_several_calls_on_one_card_one_message_tells_each(scene: Scene) -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    questions = [asked(number, approvers=FINANCE) for number in (1, 2)]
    delivery = Delivery(notify="dm")
    history = history.then(*(one.model_copy(update={"delivery": delivery}) for one in questions))
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)

    def told() -> list[str]:
        both = [scene.sandbox.messages(one) for one in ("D0BOB", "D0FRANK")]
        assert [len(one) for one in both] == [1, 1]
        return [said["text"] for one in both for said in one]

    assert all(one.startswith("2 actions wait for a decision. You may") for one in told())
    await scene.go_on(run_id, history := history.then(denied(1)))
    await scene.until_drawn(run_id, step=0.5)
    assert all(one.startswith("1 of 2 actions waits for a decision.") for one in told())
    await scene.go_on(run_id, history.then(approved(2)))
    await scene.until_drawn(run_id, step=0.5)
    assert all("denied by <@U0BOB>; “Refund an order” approved by" in one for one in told())


async def test_whoever_is_asked_as_well_later_is_told_too(scene: Scene) -> None:
    leaves(scene, "U0FRANK", CHANNEL)
    patience = Patience(escalate=(Escalation(after=HOUR, users=("U0FRANK",)),))
    question = asked(1, approvers=Approvers(users=("U0BOB",)), patience=patience)
    question = question.model_copy(update={"delivery": Delivery(notify="dm")})
    history: History = begun().then(replied(1)).then(judged(1, "ask")).then(question)
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    assert cards(scene, "D0FRANK") == []
    await scene.go_on(run_id, history.then(escalated(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert [has_buttons(one) for one in cards(scene, "D0FRANK")] == [True]
    assert len(cards(scene, "D0BOB")) == 1


@pytest.mark.parametrize("told", [1, 2, 3])
async def test_whoever_dies_while_people_are_told_nobody_is_left_out_or_told_twice(
    scene: Scene, told: int
) -> None:
    leaves(scene, "U0FRANK", CHANNEL)
    run_id = await scene.begin(put("thread", "dm"))
    drawer = await scene.draw("old")
    await eventually(partial(_has_posted, scene, told + 1), 0.001)
    await scene.ended(drawer)
    scene.bury("old")
    await scene.draw("new", await scene.second_store())
    await scene.until_drawn(run_id, step=0.5)
    assert [has_buttons(one) for one in cards(scene, "D0FRANK")] == [True]
    assert ["Look at it" in one["text"] for one in cards(scene, "D0BOB")] == [True]


async def test_all_who_may_decide_are_told_where_they_are_more_than_may_be_written_to_at_once(
    scene: Scene,
) -> None:
    inside = scene.sandbox.inside.workspace
    many = tuple(f"U0MANY{number:02}" for number in range(18))
    for user in many:
        inside.users[user] = replace(inside.users["U0BOB"], id=user)
        direct = f"D{user[1:]}"
        inside.channels[direct] = Channel(direct, "", "im", [user, "U0PILOT"])
    inside.groups["S0FINANCE"] = Group("S0FINANCE", "finance", "Finance", many)
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=5)
    assert [user for user in many if len(cards(scene, f"D{user[1:]}")) != 1] == []


@pytest.mark.parametrize(
    "fault",
    [
        {"ratelimited": True, "retry_after": 1},
        {"error": "service_unavailable"},
        {"error": "some_word"},
    ],
    ids=str,
)
async def test_whom_slack_refused_at_first_is_told_after_the_others(
    scene: Scene, fault: dict[str, Any]
) -> None:
    scene.sandbox.faults.add(method="chat.postMessage", contains="D0FRANK", **fault)
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=5)
    assert len(cards(scene, "D0BOB")) == 1
    assert len(cards(scene, "D0FRANK")) == 1


def _has_posted(scene: Scene, count: int) -> bool:
    return len(scene.sandbox.calls("chat.postMessage")) >= count


async def test_who_has_the_card_because_they_are_not_in_the_channel_is_reminded_below_it(
    scene: Scene,
) -> None:
    leaves(scene, "U0FRANK", CHANNEL)
    history = put("thread", "dm")
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    history = history.then(reminded(1))
    await scene.go_on(run_id, history)
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "Reminder" in shown["reminder:apr_1:1"][0]["text"], "the others are in the channel"
    (reminder,) = below_the_card(scene, "D0FRANK")
    assert "<@U0FRANK>" in reminder
    assert below_the_card(scene, "D0BOB") == []
    await scene.go_on(run_id, history.then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    (reminder,) = below_the_card(scene, "D0FRANK")
    assert "waited for a decision here" in reminder
