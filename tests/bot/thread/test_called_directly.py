"""Reminders and escalations of a question that is put to each person directly: below the card of each who may
still decide it, once, and with nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.rules.parts import Approvers, Delivery, Escalation, Patience
from bot.sandbox.workspace import Channel, Group
from bot.slack.thread import elsewhere
from tests.agent.rules.happenings import HOUR, escalated, reminded
from tests.agent.rules.histories import (
    BOB,
    FINANCE,
    History,
    approved,
    asked,
    begun,
    judged,
    replied,
    voted,
)
from tests.bot.thread.cards_elsewhere import cards, has_buttons
from tests.bot.thread.scene import CHANNEL, Scene, eventually

TWO = FINANCE.model_copy(update={"count": 2})
LEGAL = Patience(escalate=(Escalation(after=HOUR, users=("U0GINA", "U0HANS")),))


def put_directly(approvers: Approvers = FINANCE, patience: Patience | None = None) -> History:
    """A refund waits as ``apr_1``, asked of each who may decide it."""
    patience = patience or Patience()
    history = begun().then(replied(1)).then(judged(1, "ask", approvers=approvers))
    question = asked(1, approvers=approvers, patience=patience)
    return history.then(question.model_copy(update={"delivery": Delivery(card="dm")}))


@pytest.fixture
def of_legal(scene: Scene) -> None:
    """Gina and Hans, full members both."""
    workspace = scene.sandbox.inside.workspace
    for name in ("GINA", "HANS"):
        workspace.users[f"U0{name}"] = replace(workspace.users["U0BOB"], id=f"U0{name}")
        direct = Channel(f"D0{name}", "", "im", [f"U0{name}", "U0PILOT"])
        workspace.channels[direct.id] = direct


def below_the_card(scene: Scene, channel: str) -> list[str]:
    """What is said there of it, in its own thread."""
    card = next(one for one in cards(scene, channel))
    return [one["text"] for one in scene.sandbox.messages(channel, card["ts"])[1:]]


async def test_a_reminder_stands_below_each_card_and_not_in_the_thread(scene: Scene) -> None:
    run_id = await scene.begin(put_directly())
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    history = put_directly().then(reminded(1))
    await scene.go_on(run_id, history)
    shown = await scene.until_drawn(run_id, step=0.2)
    for user in ("BOB", "FRANK"):
        (said,) = below_the_card(scene, f"D0{user}")
        assert "Reminder" in said
        assert f"<@U0{user}>" in said
    assert not [key for key in shown if key.startswith("reminder")]
    await scene.go_on(run_id, history.then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0BOB", "D0FRANK"):
        assert ["waited for a decision here" in one for one in below_the_card(scene, channel)] == [
            True
        ]


async def test_whoever_has_said_yes_is_not_reminded_that_others_have_not(scene: Scene) -> None:
    history = put_directly(TWO).then(voted(1, BOB, user="U0BOB"))
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.go_on(run_id, history.then(reminded(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert below_the_card(scene, "D0BOB") == []
    assert len(below_the_card(scene, "D0FRANK")) == 1


async def test_whoever_may_not_decide_any_more_is_not_reminded(scene: Scene) -> None:
    run_id = await scene.begin(put_directly())
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    scene.sandbox.inside.workspace.groups["S0FINANCE"] = Group("S0FINANCE", "f", "F", ("U0FRANK",))
    scene.clock.advance(120)
    await scene.go_on(run_id, put_directly().then(reminded(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert below_the_card(scene, "D0BOB") == []
    assert len(below_the_card(scene, "D0FRANK")) == 1


async def test_each_reminder_is_one_message_and_the_earlier_says_that_others_followed(
    scene: Scene,
) -> None:
    history = put_directly().then(reminded(1))
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.go_on(run_id, history.then(reminded(1, 2)))
    await scene.until_drawn(run_id, step=0.2)
    first, second = below_the_card(scene, "D0BOB")
    assert "others followed" in first
    assert "has waited for a decision" in second


@pytest.mark.usefixtures("of_legal")
async def test_an_escalation_calls_those_who_are_asked_as_well_below_their_own_card(
    scene: Scene,
) -> None:
    history = put_directly(patience=LEGAL)
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    assert cards(scene, "D0GINA") == []
    await scene.go_on(run_id, history.then(escalated(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0GINA", "D0HANS"):
        assert has_buttons(cards(scene, channel)[0])
        (said,) = below_the_card(scene, channel)
        assert "You may decide this too" in said
    assert below_the_card(scene, "D0BOB") == []
    assert not [key for key in shown if key.startswith("escalation")]


async def test_an_escalation_to_nobody_who_can_be_written_to_stands_in_the_thread(
    scene: Scene,
) -> None:
    erin = Patience(escalate=(Escalation(after=HOUR, users=("U0ERIN",)),))
    history = put_directly(patience=erin).then(escalated(1))
    run_id = await scene.begin(history)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "<@U0ERIN>" in shown["escalation:apr_1:1"][0]["text"]


async def test_while_slack_does_not_say_who_may_still_decide_nobody_is_reminded_anywhere(
    scene: Scene,
) -> None:
    run_id = await scene.begin(put_directly())
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    scene.clock.advance(120)
    scene.sandbox.faults.add(error="internal_error", method="usergroups.users.list", times=3)
    await scene.go_on(run_id, put_directly().then(reminded(1)))
    await scene.settled()
    assert not [key for key in scene.messages(run_id) if key.startswith("reminder")]
    await scene.until_drawn(run_id, step=0.5)
    assert [len(below_the_card(scene, one)) for one in ("D0BOB", "D0FRANK")] == [1, 1]


@pytest.mark.usefixtures("of_legal")
async def test_nobody_is_called_before_every_card_has_been_put(scene: Scene) -> None:
    """Else it would count as known to whom it was put, and who was left out would never get it."""
    history = put_directly(patience=LEGAL)
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    scene.sandbox.faults.add(
        error="internal_error", method="conversations.open", contains="U0HANS", times=2
    )
    await scene.go_on(run_id, history.then(escalated(1)))
    await eventually(lambda: cards(scene, "D0GINA"))
    await scene.settled()
    assert below_the_card(scene, "D0GINA") == []
    await scene.until_drawn(run_id, step=1)
    assert [len(below_the_card(scene, one)) for one in ("D0GINA", "D0HANS")] == [1, 1]


async def test_what_an_earlier_version_posted_in_the_thread_stays_there_and_rings_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = put_directly().then(reminded(1))
    run_id = await scene.begin(history)
    with monkeypatch.context() as earlier:
        earlier.setattr(elsewhere.Elsewhere, "called", nobody)
        old = await scene.draw("old")
        assert "reminder:apr_1:1" in await scene.until_drawn(run_id, step=0.2)
        await scene.ended(old)
    scene.bury("old")
    await scene.draw("new")
    await scene.go_on(run_id, history.then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "waited for a decision here" in shown["reminder:apr_1:1"][0]["text"]
    assert below_the_card(scene, "D0BOB") == []


async def nobody(*_: object) -> dict[str, tuple[str, ...]]:
    return {}


@pytest.mark.parametrize("posts", [0, 1, 2])
async def test_whoever_dies_while_people_are_reminded_each_is_reminded_once(
    scene: Scene, posts: int
) -> None:
    run_id = await scene.begin(put_directly())
    old = await scene.draw("old")
    await scene.until_drawn(run_id, step=0.2)
    told = len(scene.sandbox.calls("chat.postMessage"))
    await scene.go_on(run_id, put_directly().then(reminded(1)))
    await eventually(lambda: len(scene.sandbox.calls("chat.postMessage")) >= told + posts, 0.001)
    await scene.ended(old)
    scene.bury("old")
    await scene.draw("new", await scene.second_store())
    await scene.until_drawn(run_id, step=0.5)
    assert [len(below_the_card(scene, one)) for one in ("D0BOB", "D0FRANK")] == [1, 1]
    assert not [one for one in scene.sandbox.messages(CHANNEL) if "Reminder" in one["text"]]
