"""Several calls of one reply whose cards stand elsewhere: one card where all of them go to the same place."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.rules.parts import Approvers, Delivery, Escalation, Patience
from agent.rules.state import RunState
from bot.slack.cards.blocks import MESSAGE_LIMIT, weigh
from bot.slack.cards.together import SharedCard, shared_cards
from bot.slack.thread import desired as wanted
from bot.slack.thread import elsewhere
from tests.agent.rules.happenings import HOUR, reminded
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
from tests.bot.thread.cards_elsewhere import cards
from tests.bot.thread.scene import Message, Scene, eventually

CARD = "approval:apr_1"
EVERYWHERE = [("C0OPS", ["C0OPS"]), ("dm", ["D0BOB", "D0FRANK"])]
FRANKS = Approvers(users=("U0FRANK",))
LATER_FRANKS = Patience(escalate=(Escalation(after=HOUR, users=("U0FRANK",)),))


def put(
    *where: str,
    approvers: tuple[Approvers, ...] = (),
    patience: tuple[Patience, ...] = (),
) -> History:
    """A call to each, of one reply; all are asked at once."""
    numbers = range(1, len(where) + 1)
    asked_of = approvers or (FINANCE,) * len(where)
    waits = patience or (Patience(),) * len(where)
    history = begun().then(replied(*numbers)).then(*(judged(n, "ask") for n in numbers))
    questions = [
        asked(n, approvers=who, patience=how).model_copy(update={"delivery": Delivery(card=card)})
        for n, card, who, how in zip(numbers, where, asked_of, waits, strict=True)
    ]
    return history.then(*questions)


def buttons(message: Message) -> set[str]:
    rows = [block for block in message["blocks"] if block["type"] == "actions"]
    values = {one.get("value", "") for row in rows for one in row["elements"]}
    return {one for one in values if one.startswith("apr_")}


@pytest.mark.parametrize(("card", "places"), EVERYWHERE)
async def test_they_share_a_card_there_and_the_thread_says_where(
    scene: Scene, card: str, places: list[str]
) -> None:
    history = put(card, card, card)
    run_id = await scene.begin(history)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    for place in places:
        (one,) = cards(scene, place)
        assert buttons(one) == {"apr_1", "apr_2", "apr_3"}
        assert "Approve all 3" in str(one)
        assert "For <@U0ALICE>'s run" in str(one)
    assert set(shown) == {"status", CARD}
    assert shown[CARD][0]["text"].startswith("⏸ 3 actions wait for a decision in")
    await scene.go_on(run_id, history.then(denied(1)).then(approved(2)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert [buttons(one) for place in places for one in cards(scene, place)] == [{"apr_3"}] * len(
        places
    )
    assert "1 of 3 actions waits for a decision in" in shown[CARD][0]["text"]
    await scene.go_on(run_id, history.then(denied(1)).then(approved(2)).then(approved(3)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert [buttons(one) for place in places for one in cards(scene, place)] == [set()] * len(
        places
    )
    assert "3 actions, none left to decide" in str(shown[CARD])
    assert set(shown) == {"status", CARD}


@pytest.mark.parametrize("card", ["C0OPS", "dm"])
async def test_the_status_says_of_each_where_its_card_is(scene: Scene, card: str) -> None:
    run_id = await scene.begin(put(card, card))
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    assert str(shown["status"]).count("waiting for a decision · card in") == 2


@pytest.mark.parametrize(
    "history",
    [
        put("C0OPS", "C0SHARED"),
        put("C0OPS", "dm"),
        put("thread", "C0OPS"),
        put("dm", "dm", approvers=(FINANCE, FRANKS)),
        put("dm", "dm", approvers=(FRANKS, FRANKS.model_copy(update={"count": 2}))),
        put("dm", "dm", patience=(Patience(), LATER_FRANKS)),
    ],
)
def test_what_goes_to_different_places_or_people_stays_apart(history: History) -> None:
    assert list(shared_cards(history.state)) == []


def test_what_goes_to_one_channel_shares_a_card_whoever_may_decide_each() -> None:
    history = put("C0OPS", "dm", "C0OPS", approvers=(FINANCE, FINANCE, FRANKS))
    (card,) = shared_cards(history.state)
    assert [one.id for one in card.members] == ["apr_1", "apr_3"]


@pytest.mark.parametrize("notify", ["mention", "channel"])
async def test_however_many_there_are_each_card_is_within_the_limits(
    scene: Scene, notify: str
) -> None:
    history = put(*["C0OPS"] * 12)
    delivery = Delivery.model_validate({"card": "C0OPS", "notify": notify})
    said = [
        one.event.model_copy(update={"delivery": delivery})
        for one in history.recorded
        if "delivery" in type(one.event).model_fields
    ]
    numbers = range(1, 13)
    asked_all = begun().then(replied(*numbers)).then(*(judged(n, "ask") for n in numbers))
    run_id = await scene.begin(asked_all.then(*said))
    await scene.draw()
    await scene.until_drawn(run_id, step=1)
    found = cards(scene, "C0OPS")
    assert [f"card {n} of {len(found)}" in str(one) for n, one in enumerate(found, 1)] == [
        True
    ] * len(found)
    assert set().union(*map(buttons, found)) == {f"apr_{n}" for n in numbers}
    assert all(weigh(one["blocks"]) <= MESSAGE_LIMIT for one in found)


@pytest.mark.parametrize(("card", "places"), EVERYWHERE)
async def test_a_reminder_of_any_stands_below_the_card_that_it_is_on(
    scene: Scene, card: str, places: list[str]
) -> None:
    history = put(card, card).then(approved(1))
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.go_on(run_id, history.then(reminded(2)))
    await scene.until_drawn(run_id, step=0.2)
    for place in places:
        (one,) = cards(scene, place)[:1]
        below = scene.sandbox.messages(place, one["ts"])[1:]
        assert ["Reminder" in said["text"] for said in below] == [True]


@pytest.mark.parametrize(("card", "places"), EVERYWHERE)
async def test_the_cards_of_an_earlier_version_stay_true_and_the_first_becomes_the_shared_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, card: str, places: list[str]
) -> None:
    def none(state: RunState) -> Iterator[SharedCard]:
        return iter(())

    history = put(card, card)
    run_id = await scene.begin(history)
    with monkeypatch.context() as earlier:
        earlier.setattr(wanted, "shared_cards", none)
        earlier.setattr(elsewhere, "shared_cards", none)
        old = await scene.draw("old")
        await scene.until_drawn(run_id, step=0.2)
        assert [len(cards(scene, place)) for place in places] == [2] * len(places)
        await scene.ended(old)
    scene.bury("old")
    await scene.draw("new")
    await scene.go_on(run_id, history.then(denied(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    for place in places:
        first, second = cards(scene, place)
        assert "1 of 2 actions to decide" in str(first)
        assert buttons(first) == buttons(second) == {"apr_2"}
    assert "1 of 2 actions waits" in str(shown[CARD])
    assert "waits for a decision" in shown["approval:apr_2"][0]["text"]
    await scene.go_on(run_id, history.then(denied(1)).then(denied(2)))
    shown = await scene.until_drawn(run_id, step=0.2)
    everything = [one for place in places for one in cards(scene, place)]
    assert [buttons(one) for one in (*everything, *shown["approval:apr_2"])] == [set()] * (
        2 * len(places) + 1
    )


async def test_what_its_channel_does_not_take_is_asked_on_one_card_in_the_thread(
    scene: Scene,
) -> None:
    scene.sandbox.inside.workspace.channel("C0OPS").members.remove("U0PILOT")
    run_id = await scene.begin(put("C0OPS", "C0OPS"))
    await scene.draw()
    await eventually(lambda: _passes(scene) or scene.messages(run_id).get(CARD))
    (card,) = scene.messages(run_id)[CARD]
    assert buttons(card) == {"apr_1", "apr_2"}
    assert "it was to be asked in <#C0OPS>" in json.dumps(card)


def _passes(scene: Scene) -> bool:
    scene.pass_time(0.5)
    return False


async def test_a_shared_card_that_was_deleted_there_is_there_again_before_long(
    scene: Scene,
) -> None:
    run_id = await scene.begin(put("C0OPS", "C0OPS").then(approved(1)))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    (card,) = cards(scene, "C0OPS")
    scene.sandbox.inside.posting.delete(scene.sandbox.inside.workspace.channel("C0OPS"), card["ts"])
    scene.clock.advance(301)
    scene.wake()
    await eventually(lambda: cards(scene, "C0OPS"))
    assert buttons(cards(scene, "C0OPS")[0]) == {"apr_2"}
