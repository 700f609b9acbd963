"""Several calls of one reply in a thread: one message, whoever dies while it is posted or edited."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agent.rules.ids import RunId
from agent.rules.state import RunState
from bot.slack.cards.together import SharedCard
from bot.slack.thread import desired as wanted
from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import History, approved, asked, begun, denied, judged, replied
from tests.bot.thread.scene import CHANNEL, Scene, eventually
from tests.bot.thread.test_deaths import Death, Deaths
from tests.bot.thread.test_undeliverable import told, until

STEP = 4.0


def begun_with(count: int) -> History:
    numbers = range(1, count + 1)
    history = begun().then(replied(*numbers))
    return history.then(*(judged(n, "ask") for n in numbers)).then(*(asked(n) for n in numbers))


def buttons(scene: Scene, run_id: RunId, key: str = "approval:apr_1") -> set[str]:
    (card,) = scene.messages(run_id)[key]
    rows = [block for block in card["blocks"] if block["type"] == "actions"]
    values = {one.get("value", "") for row in rows for one in row["elements"]}
    return {one for one in values if one.startswith("apr_")}


async def drawn(scene: Scene, run_id: RunId) -> None:
    await eventually(lambda: scene.is_drawn_by_now(run_id, step=STEP))
    assert {
        key: len(found) for key, found in scene.messages(run_id).items() if len(found) > 1
    } == {}
    assert await scene.differs(run_id) == []


async def test_one_message_is_posted_and_edited_as_they_are_decided(scene: Scene) -> None:
    run_id = await scene.begin(begun_with(3))
    await scene.draw()
    await drawn(scene, run_id)
    assert set(scene.messages(run_id)) == {"status", "approval:apr_1"}
    assert buttons(scene, run_id) == {"apr_1", "apr_2", "apr_3"}
    await scene.go_on(run_id, begun_with(3).then(denied(2)))
    await drawn(scene, run_id)
    assert buttons(scene, run_id) == {"apr_1", "apr_3"}
    await scene.go_on(run_id, begun_with(3).then(denied(2)).then(approved(1), denied(3)))
    await drawn(scene, run_id)
    assert buttons(scene, run_id) == set()
    assert set(scene.messages(run_id)) == {"status", "approval:apr_1"}


async def test_a_question_that_joins_at_once_stands_on_the_card_that_is_posted(
    scene: Scene,
) -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask")).then(asked(1))
    run_id = await scene.begin(history)
    await scene.draw()
    await drawn(scene, run_id)
    await scene.go_on(run_id, history.then(asked(2), after=timedelta(0)))
    await drawn(scene, run_id)
    assert set(scene.messages(run_id)) == {"status", "approval:apr_1"}
    assert buttons(scene, run_id) == {"apr_1", "apr_2"}


async def test_the_cards_of_an_earlier_version_are_edited_to_what_was_decided(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(state: RunState) -> Iterator[SharedCard]:
        return iter(())

    run_id = await scene.begin(begun_with(2))
    with monkeypatch.context() as earlier:
        earlier.setattr(wanted, "shared_cards", none)
        old = await scene.draw("old")
        await eventually(lambda: scene.is_drawn_by_now(run_id, step=STEP))
        assert buttons(scene, run_id, "approval:apr_2") == {"apr_2"}
        await scene.ended(old)
    scene.bury("old")
    await scene.go_on(run_id, begun_with(2).then(denied(2)))
    await scene.draw("new")
    await drawn(scene, run_id)
    assert buttons(scene, run_id, "approval:apr_2") == set()
    assert buttons(scene, run_id) == {"apr_1"}


DEATHS = [Death(call, is_done) for call in (1, 2, 3) for is_done in (False, True)]


@pytest.mark.parametrize("death", DEATHS, ids=str)
async def test_whoever_dies_while_it_is_posted_it_stands_there_once(
    scene: Scene, death: Death
) -> None:
    deaths = Deaths(scene, await scene.second_store())
    run_id = await scene.begin(begun_with(3))
    assert await deaths.drawn_by(death, run_id)
    await deaths.drawn_at_last(run_id)
    assert set(scene.messages(run_id)) == {"status", "approval:apr_1"}
    assert buttons(scene, run_id) == {"apr_1", "apr_2", "apr_3"}


@pytest.mark.parametrize("death", DEATHS[:2], ids=str)
async def test_whoever_dies_while_it_is_edited_no_decided_call_keeps_its_buttons(
    scene: Scene, death: Death
) -> None:
    deaths = Deaths(scene, await scene.second_store())
    run_id = await scene.begin(begun_with(3))
    await deaths.drawn_at_last(run_id)
    await scene.go_on(run_id, begun_with(3).then(denied(2)))
    assert await deaths.drawn_by(death, run_id)
    await deaths.drawn_at_last(run_id)
    assert buttons(scene, run_id) == {"apr_1", "apr_3"}


async def test_it_is_there_again_before_anybody_is_reminded_of_one_that_waits_on_it(
    scene: Scene,
) -> None:
    history = begun_with(2).then(approved(1))
    run_id = await scene.begin(history)
    await scene.draw()
    await drawn(scene, run_id)
    (card,) = scene.messages(run_id)["approval:apr_1"]
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete(channel, card["ts"])
    scene.clock.advance(120)
    await scene.go_on(run_id, history.then(reminded(2)))
    await drawn(scene, run_id)
    (again,) = scene.messages(run_id)["approval:apr_1"]
    (reminder,) = scene.messages(run_id)["reminder:apr_2:1"]
    assert again["ts"] < reminder["ts"]
    assert buttons(scene, run_id) == {"apr_2"}


async def test_where_it_can_not_be_posted_who_asked_is_told_once_of_all_until_it_can(
    scene: Scene,
) -> None:
    run_id = await scene.begin(begun_with(2))
    scene.sandbox.faults.add(
        error="not_in_channel", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    await scene.draw()
    await until(scene, lambda: len(told(scene)) == 1)
    scene.sandbox.faults.heal()
    await until(scene, lambda: scene.is_drawn(run_id))
    assert buttons(scene, run_id) == {"apr_1", "apr_2"}
    assert all("it is asked there now" in one["text"] for one in told(scene))
    assert (await scene.store.threads.known(run_id)).trouble is None
