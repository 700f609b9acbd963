"""A card that stands in text alone, as Slack takes none of its blocks: what can be read there can be approved there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.ids import RunId
from agent.rules.parts import Delivery
from bot.slack.thread.digests import stands_in_text
from bot.slack.thread.files import is_shown
from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import History, approved, asked, begun, judged, replied, waiting
from tests.bot.thread.scene import Scene
from tests.bot.thread.test_drawing import CARD, buttons
from tests.bot.thread.test_files import COMPLETE, asks, content, files

#: Short, and not to be read in a sentence.
LINES = "rm -rf /srv/1\nrm -rf /srv/2"


@pytest.fixture
def refused(scene: Scene) -> Scene:
    """Slack takes no blocks with buttons."""
    for method in ("chat.postMessage", "chat.update"):
        fault = {"error": "invalid_blocks", "contains": "approval.deny", "times": 1000}
        scene.sandbox.faults.add(method=method, **fault)
    return scene


async def drawn(scene: Scene, history: History) -> tuple[RunId, str]:
    """The run, and the text of its card."""
    run_id = await scene.begin(history)
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id, step=5))[CARD]
    assert "blocks" not in card
    return run_id, card["text"]


async def can_be_approved(scene: Scene, run_id: RunId, number: int = 1) -> bool:
    """By who writes it."""
    rows = (await scene.store.threads.known(run_id)).messages
    state = await scene.state(run_id)
    approval = next(one for one in state.approvals.values() if one.id.endswith(str(number)))
    return is_shown(rows, approval, state, "U0BOB")


async def test_its_row_says_so_until_slack_takes_its_blocks(refused: Scene) -> None:
    run_id, text = await drawn(refused, waiting())
    assert "`approve apr_1`" in text
    assert stands_in_text((await refused.store.threads.known(run_id)).messages[CARD])
    assert await can_be_approved(refused, run_id)
    refused.sandbox.faults.heal()
    edits = len(refused.sandbox.calls("chat.update"))
    await refused.settled()
    assert len(refused.sandbox.calls("chat.update")) == edits, "it shows what it is to show"
    refused.pass_time(301)
    await refused.sandbox.until(lambda: "blocks" in refused.messages(run_id)[CARD][0])
    assert buttons(refused.messages(run_id)[CARD][0])
    await refused.settled()
    assert not stands_in_text((await refused.store.threads.known(run_id)).messages[CARD])


async def test_what_its_text_does_not_show_as_it_is_is_attached(refused: Scene) -> None:
    run_id, text = await drawn(refused, asks({"script": LINES}))
    (file,) = files(refused)
    assert "| rm -rf /srv/2" in content(refused, file)
    assert "in the file `apr_1.txt`" in text
    assert "`approve apr_1`" in text
    assert await can_be_approved(refused, run_id)


async def test_without_that_file_nobody_approves_it_in_words(refused: Scene) -> None:
    refused.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    run_id = await refused.begin(asks({"script": LINES}))
    await refused.draw()
    await refused.sandbox.until(lambda: len(refused.refused(COMPLETE)) > 0)
    await refused.settled()
    (card,) = refused.messages(run_id)[CARD]
    assert "`approve" not in card["text"]
    assert "`deny apr_1 reason`" in card["text"]
    assert not await can_be_approved(refused, run_id)


@pytest.mark.parametrize("fault", [{"status": 503}, {"ratelimited": True}])
async def test_nor_while_it_is_not_known_what_it_shows(
    refused: Scene, fault: dict[str, Any]
) -> None:
    refused.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    run_id = await refused.begin(asks({"script": LINES}))
    await refused.draw()
    await refused.sandbox.until(lambda: len(refused.refused(COMPLETE)) > 0)
    await refused.settled()
    refused.sandbox.faults.add(method="chat.update", times=1000, **fault)
    before = len(refused.sandbox.calls("chat.update"))
    refused.pass_time(301)
    await refused.sandbox.until(lambda: len(refused.sandbox.calls("chat.update")) > before)
    await refused.settled()
    row = (await refused.store.threads.known(run_id)).messages[CARD]
    assert (row.status, row.digest) == ("editing" if "status" in fault else "posted", "text:")
    assert not await can_be_approved(refused, run_id)


async def test_nor_is_anybody_reminded_before_it_is_known_that_it_stands(refused: Scene) -> None:
    run_id, _ = await drawn(refused, waiting())
    refused.clock.advance(120)
    before = len(refused.sandbox.calls("chat.update"))
    refused.sandbox.faults.add(method="chat.update", ratelimited=True, times=1000)
    await refused.go_on(run_id, waiting().then(reminded(1)))
    await refused.sandbox.until(lambda: len(refused.sandbox.calls("chat.update")) > before)
    await refused.settled()
    assert "reminder:apr_1:1" not in refused.messages(run_id)
    refused.sandbox.faults.heal()
    shown = await refused.until_drawn(run_id, step=1)
    assert len(shown["reminder:apr_1:1"]) == 1


async def test_where_its_blocks_stand_the_same_needs_no_file(scene: Scene) -> None:
    run_id = await scene.begin(asks({"script": LINES}))
    await scene.draw()
    await scene.until_drawn(run_id)
    assert files(scene) == []
    assert await can_be_approved(scene, run_id)


async def test_in_a_channel_of_its_own_it_is_the_same(refused: Scene) -> None:
    run_id = await refused.begin(asks({"script": LINES}, card="C0OPS"))
    await refused.draw()
    await refused.until_drawn(run_id, step=5)
    (card,) = [one for one in refused.sandbox.messages("C0OPS") if not one.get("files")]
    assert "`approve apr_1`" in card["text"]
    assert len(files(refused, "C0OPS")) == 1
    assert await can_be_approved(refused, run_id)


def together(*every: Mapping[str, JsonValue], card: str = "thread") -> History:
    numbers = range(1, len(every) + 1)
    history = begun().then(replied(*numbers))
    history = history.then(*(judged(n, "ask", args=one) for n, one in enumerate(every, 1)))
    there = {"delivery": Delivery(card=card)}
    return history.then(
        *(asked(n, args=one).model_copy(update=there) for n, one in enumerate(every, 1))
    )


async def test_of_several_on_one_card_each_that_can_be_read_can_be_approved(
    refused: Scene,
) -> None:
    several = together({"order": "ORD-1"}, {"script": LINES}, {"order": "ORD-3"})
    run_id, text = await drawn(refused, several)
    assert "1. Refund an order (apr_1): Order: `ORD-1`." in text
    assert "2. Refund an order (apr_2): all of it is in the file `apr_2.txt`" in text
    assert "`approve ID`" in text
    assert "command line" not in text
    assert [file["name"] for one in files(refused) for file in one["files"]] == ["apr_2.txt"]
    assert [await can_be_approved(refused, run_id, n) for n in (1, 2, 3)] == [True] * 3
    await refused.go_on(run_id, several.then(approved(1)))
    (card,) = (await refused.until_drawn(run_id, step=5))[CARD]
    assert "(apr_1)" not in card["text"]
    assert "3. Refund an order (apr_3): Order: `ORD-3`." in card["text"]


async def test_of_several_what_can_be_read_nowhere_is_left_to_the_command_line(
    refused: Scene,
) -> None:
    refused.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    run_id = await refused.begin(together({"order": "ORD-1"}, {"script": LINES}))
    await refused.draw()
    await refused.sandbox.until(lambda: len(refused.refused(COMPLETE)) > 0)
    await refused.settled()
    (card,) = refused.messages(run_id)[CARD]
    assert "(apr_2): it can't be shown in full here." in card["text"]
    assert "approved on the command line" in card["text"]
    assert [await can_be_approved(refused, run_id, n) for n in (1, 2)] == [True, False]


@pytest.mark.parametrize("card", ["thread", "C0OPS", "dm"])
async def test_of_several_what_its_text_has_no_room_for_is_attached_wherever_that_stands(
    refused: Scene, card: str
) -> None:
    refused.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    # A warning of letters of several alphabets takes room, too.
    several = together(*({"why": f"{n} p\u0430ypal {'x' * 550}"} for n in range(1, 4)), card=card)
    run_id = await refused.begin(several)
    await refused.draw()
    await refused.sandbox.until(lambda: len(refused.refused(COMPLETE)) > 0)
    await refused.settled()
    can = [await can_be_approved(refused, run_id, n) for n in range(1, 4)]
    assert can == [True, True, False]
