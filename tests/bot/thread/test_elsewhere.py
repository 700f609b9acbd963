"""Cards that stand elsewhere than in the thread: each where its rule says, all alike, and never where nobody
can see them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.rules.parts import Approvers, Notify
from bot.sandbox.workspace import Channel, Group
from bot.slack.thread.keys import STATUS_KEY
from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import (
    approved,
    denied,
)
from tests.bot.thread.cards_elsewhere import CARD, cards, delete, has_buttons, posts, put
from tests.bot.thread.scene import CHANNEL, Scene, eventually
from tests.bot.thread.test_undeliverable import (
    below_a_deleted_message,
    in_a_thread_of_alices,
    until,
)


async def test_a_card_goes_to_its_channel_and_the_thread_says_where(scene: Scene) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, put("C0OPS"))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    (card,) = cards(scene, "C0OPS")
    assert has_buttons(card)
    assert f"/archives/{CHANNEL}/p{root.replace('.', '')}|its thread>" in str(card)
    assert "<!subteam^S0FINANCE>" in posts(scene, "C0OPS")[0]
    (pointer,) = shown[CARD]
    assert "waits for a decision in <#C0OPS>" in pointer["text"]
    assert not has_buttons(pointer)
    assert "@U" not in posts(scene, CHANNEL)[-1], "the thread rings nobody"


async def test_a_decision_changes_the_card_and_the_thread(scene: Scene) -> None:
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.go_on(run_id, put("C0OPS").then(denied(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    for message in (*cards(scene, "C0OPS"), *shown[CARD]):
        assert "Denied* by <@U0BOB>" in str(message)
        assert not has_buttons(message)
    assert len(cards(scene, "C0OPS")) == 1


async def test_each_who_may_decide_gets_the_card_and_all_change_together(scene: Scene) -> None:
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0BOB", "D0FRANK"):
        assert [has_buttons(one) for one in cards(scene, channel)] == [True]
    assert "in direct messages of <@U0BOB> and <@U0FRANK>" in shown[CARD][0]["text"]
    await scene.go_on(run_id, put("dm").then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    for channel in ("D0BOB", "D0FRANK"):
        assert ["Approved* by <@U0BOB>" in str(one) for one in cards(scene, channel)] == [True]
    assert "Approved* by <@U0BOB>" in str(shown[CARD])


async def test_nobody_who_may_not_decide_gets_a_card(scene: Scene) -> None:
    """The requester, a guest, somebody of another company, somebody who has left, and an app."""
    group = ("U0ALICE", "U0BOB", "U0CAROL", "U0DAVE", "U0ERIN", "U0PILOT", "U0NOBODY")
    scene.sandbox.inside.workspace.groups["S0FINANCE"] = Group("S0FINANCE", "f", "F", group)
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    places = [
        key for key in (await scene.store.threads.known(run_id)).messages if key.startswith(CARD)
    ]
    assert sorted(places) == [CARD, f"{CARD}:U0BOB"]


async def test_no_more_than_twenty_are_written_to(scene: Scene) -> None:
    users = scene.sandbox.inside.workspace.users
    many = tuple(f"U0MANY{n:02}" for n in range(25))
    for one in many:
        users[one] = replace(users["U0BOB"], id=one)
        direct = Channel(f"D{one[1:]}", "", "im", [one, "U0PILOT"])
        scene.sandbox.inside.workspace.channels[direct.id] = direct
    scene.sandbox.inside.workspace.groups["S0FINANCE"] = Group("S0FINANCE", "f", "F", many)
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    rows = (await scene.store.threads.known(run_id)).messages
    assert len([key for key in rows if key.startswith(f"{CARD}:")]) == 20
    assert "and 15 more" in shown[CARD][0]["text"]


async def test_whom_it_was_put_to_is_found_out_once(scene: Scene) -> None:
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    scene.sandbox.inside.workspace.groups["S0FINANCE"] = Group("S0FINANCE", "f", "F", ())
    scene.clock.advance(120)
    await scene.go_on(run_id, put("dm").then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert "Approved* by" in str(cards(scene, "D0BOB"))
    assert len(scene.sandbox.calls("usergroups.users.list")) == 1


async def test_what_its_channel_does_not_take_is_asked_in_the_thread(scene: Scene) -> None:
    members = scene.sandbox.inside.workspace.channel("C0OPS").members
    members.remove("U0PILOT")
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await until(scene, lambda: scene.messages(run_id).get(CARD))
    (card,) = scene.messages(run_id)[CARD]
    assert has_buttons(card)
    assert "it was to be asked in <#C0OPS>, and I am not in that channel" in str(card)
    assert (await scene.store.threads.known(run_id)).trouble is None
    # Once it is taken there, the thread leads there.
    members.append("U0PILOT")
    await until(scene, lambda: scene.is_drawn(run_id))
    assert has_buttons(cards(scene, "C0OPS")[0])
    assert not has_buttons(scene.messages(run_id)[CARD][0])


async def test_where_nobody_can_be_written_to_it_is_asked_in_the_thread(scene: Scene) -> None:
    run_id = await scene.begin(put("dm", approvers=Approvers(users=("U0ERIN",))))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    assert has_buttons(shown[CARD][0])
    assert "I could write to nobody who may decide it directly" in str(shown[CARD])


async def test_while_slack_does_not_say_who_may_decide_nothing_is_put_anywhere(
    scene: Scene,
) -> None:
    scene.sandbox.faults.add(error="internal_error", method="usergroups.users.list", times=3)
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    await scene.settled()
    assert CARD not in scene.messages(run_id)
    await scene.until_drawn(run_id, step=0.5)
    assert len(cards(scene, "D0BOB")) == len(cards(scene, "D0FRANK")) == 1


async def test_below_a_dead_thread_it_is_still_asked_in_its_channel(scene: Scene) -> None:
    run_id = await below_a_deleted_message(scene, put("C0OPS"))
    await scene.draw()
    await until(scene, lambda: cards(scene, "C0OPS"))
    await scene.settled()
    assert (await scene.store.threads.known(run_id)).trouble is None, "it can be decided"


@pytest.mark.parametrize(("notify", "rings"), [("none", []), ("channel", ["<!channel>"])])
async def test_whom_it_rings_is_what_the_rule_says(
    scene: Scene, notify: Notify, rings: list[str]
) -> None:
    run_id = await scene.begin(put("thread", notify))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    first = posts(scene, CHANNEL)[-1]
    assert [one for one in ("<@U0BOB>", "<!channel>") if one in first] == rings
    if notify == "none":
        assert "<!subteam" not in first
        assert "<@" not in first
    assert "<!subteam^S0FINANCE>" in str(shown[CARD]), "it names them all the same"
    assert "<!channel>" not in str(shown[CARD]) or notify == "channel"


async def test_whoever_may_decide_is_told_directly_where_the_card_stands(scene: Scene) -> None:
    run_id = await scene.begin(put("thread", "dm"))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    root, at = shown[STATUS_KEY][0]["ts"], shown[CARD][0]["ts"].replace(".", "")
    for channel in ("D0BOB", "D0FRANK"):
        (notice,) = cards(scene, channel)
        in_thread = f"?thread_ts={root}&amp;cid={CHANNEL}"
        assert f"/archives/{CHANNEL}/p{at}{in_thread}|Look at it>" in notice["text"]
    await scene.go_on(run_id, put("thread", "dm").then(approved(1)))
    await scene.until_drawn(run_id, step=0.2)
    assert [
        "a decision: approved by <@U0BOB>." in one["text"] for one in cards(scene, "D0BOB")
    ] == [True]


async def test_a_reminder_stands_below_the_card_in_its_channel(scene: Scene) -> None:
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.go_on(run_id, put("C0OPS").then(reminded(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    (card,) = cards(scene, "C0OPS")
    _, reminder = scene.sandbox.messages("C0OPS", card["ts"])
    assert "Reminder" in reminder["text"]
    assert not [key for key in shown if key.startswith("reminder")]
    await scene.go_on(run_id, put("C0OPS").then(reminded(1)).then(denied(1)))
    await scene.until_drawn(run_id, step=0.2)
    _, reminder = scene.sandbox.messages("C0OPS", card["ts"])
    assert "waited for a decision here" in reminder["text"]


@pytest.mark.parametrize(("card", "channel"), [("C0OPS", "C0OPS"), ("dm", "D0BOB")])
async def test_a_card_that_was_deleted_there_is_there_again_before_long(
    scene: Scene, card: str, channel: str
) -> None:
    run_id = await scene.begin(put(card))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    delete(scene, channel)
    scene.clock.advance(301)
    scene.wake()
    await eventually(lambda: cards(scene, channel))
    assert [has_buttons(one) for one in cards(scene, channel)] == [True]


async def test_it_is_there_again_before_anybody_is_reminded_below_it(scene: Scene) -> None:
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    delete(scene, "C0OPS")
    scene.clock.advance(120)
    await scene.go_on(run_id, put("C0OPS").then(reminded(1)))
    await scene.until_drawn(run_id, step=0.2)
    (card,) = [one for one in cards(scene, "C0OPS") if has_buttons(one)]
    _, reminder = scene.sandbox.messages("C0OPS", card["ts"])
    assert "Reminder" in reminder["text"]


@pytest.mark.parametrize(
    ("card", "where"), [("C0OPS", "another channel"), ("dm", "direct messages")]
)
async def test_the_status_says_of_a_card_that_is_not_below_where_it_is(
    scene: Scene, card: str, where: str
) -> None:
    run_id = await scene.begin(put(card))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    assert f"waiting for a decision · card in {where}" in str(shown["status"])
    assert "card below" not in str(scene.sandbox.calls("chat.postMessage"))


async def test_what_is_refused_there_once_by_a_word_that_nobody_knows_is_no_reason_to_ask_here(
    scene: Scene,
) -> None:
    scene.sandbox.faults.add(error="some_word", method="chat.postMessage", contains="C0OPS")
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    assert [has_buttons(one) for one in cards(scene, "C0OPS")] == [True]
    assert "This is asked here" not in str(posts(scene, CHANNEL))


async def test_whoever_asks_for_the_thread_has_its_card_tried_at_once_where_it_belongs(
    scene: Scene,
) -> None:
    members = scene.sandbox.inside.workspace.channel("C0OPS").members
    members.remove("U0PILOT")
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await until(scene, lambda: scene.messages(run_id).get(CARD))
    for _ in range(4):
        scene.pass_time(20)
        await scene.settled()
    members.append("U0PILOT")
    await scene.store.threads.try_now(run_id)
    # No time passes.
    await eventually(lambda: cards(scene, "C0OPS"))


async def test_a_decision_is_shown_everywhere_while_a_click_s_own_edit_may_still_land(
    scene: Scene,
) -> None:
    run_id = await scene.begin(put("dm"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    (clicked,) = cards(scene, "D0BOB")
    await scene.store.threads.announce(run_id, f"D0BOB/{clicked['ts']}")
    await scene.go_on(run_id, put("dm").then(approved(1)))

    def is_shown(channel: str) -> bool:
        return ["Approved* by" in str(one) for one in cards(scene, channel)] == [True]

    # No time passes.
    await eventually(lambda: "Approved* by" in str(scene.messages(run_id)[CARD]))
    assert is_shown("D0FRANK")
    assert not is_shown("D0BOB"), "it is left to the click"
    # Nothing more is heard of that: whoever was to send it may be gone.
    await scene.settled()
    scene.pass_time(3)
    await eventually(lambda: is_shown("D0BOB"))
