"""Threads are drawn once, whatever is lost, refused, deleted or late."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from agent.ports import ThreadMessage
from agent.rules.events import RunFinished
from agent.rules.fold import fold
from agent.rules.ids import RunId
from bot.slack.clients import slack_client
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter
from bot.slack.people import People
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.edge import SlackThreads
from bot.slack.thread.native import Refused
from bot.slack.thread.setbacks import Setbacks
from bot.slack.thread.showing import Showing
from tests.agent.rules.histories import (
    History,
    approved,
    begun,
    call_started,
    judged,
    replied,
    returned,
    waiting,
)
from tests.bot.thread.reads import reads_of_threads
from tests.bot.thread.scene import CHANNEL, TEAM, TERM, Message, Scene, eventually

CARD = "approval:apr_1"
ANSWER = "Refund of $180.00 for ORD-3300 is complete."


def finished() -> History:
    history = waiting().then(approved(1))
    history = history.then(call_started(1, history.now)).then(returned(1))
    return history.then(replied(text=ANSWER)).then(RunFinished(answer=ANSWER))


def buttons(message: Message) -> list[str]:
    return [
        e["action_id"] for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]
    ]


def threads(scene: Scene) -> SlackThreads:
    return SlackThreads(slack_client("xoxb-sandbox", scene.sandbox.api_url))


async def test_a_run_is_shown_from_its_start_to_its_end(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    (status,), (card,) = shown["status"], shown[CARD]
    assert [one["ts"] for one in scene.sandbox.messages(CHANNEL)] == [status["ts"]]
    assert card["thread_ts"] == status["ts"]
    assert "<!subteam^S0FINANCE>" in json.dumps(card["blocks"])
    assert buttons(card) == ["approval.approve", "approval.deny", "approval.steer", "approval.more"]

    await scene.go_on(run_id, finished())
    shown = await scene.until_drawn(run_id)
    assert {key: len(found) for key, found in shown.items()} == {"status": 1, CARD: 1, "answer": 1}
    assert buttons(shown[CARD][0]) == []
    assert "<!subteam" not in json.dumps(shown[CARD][0])
    assert shown["answer"][0]["text"] == ANSWER
    assert shown["answer"][0]["thread_ts"] == status["ts"]
    scene.sandbox.assert_no_violations()


async def test_what_is_unchanged_is_read_once_and_slack_is_asked_nothing(scene: Scene) -> None:
    run_id = await scene.begin(finished())
    await scene.draw()
    await scene.until_drawn(run_id)
    calls = len(scene.sandbox.calls())
    with reads_of_threads() as reads:
        await scene.store.threads.try_now(run_id)
        await scene.until_drawn(run_id)
        await scene.settled()
    assert len(scene.sandbox.calls()) == calls
    assert len(reads) == 1


async def test_everything_stays_in_the_thread_that_a_person_opened(scene: Scene) -> None:
    alice = scene.sandbox.inside.workspace.users["U0ALICE"]
    said, _ = scene.sandbox.inside.posting.say(alice, _channel(scene), "refund", [], None)
    run_id = await scene.begin(finished(), thread_ts=said["ts"])
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    assert {one["thread_ts"] for found in shown.values() for one in found} == {said["ts"]}
    assert len(scene.sandbox.messages(CHANNEL)) == 1


async def test_a_run_whose_place_is_none_of_slacks_is_drawn_nowhere(scene: Scene) -> None:
    run_id = await scene.begin(waiting(), place="elsewhere")
    await scene.draw()
    await scene.until_drawn(run_id)
    assert scene.sandbox.messages(CHANNEL) == []


@pytest.mark.parametrize("key", ["status", CARD, "answer"])
async def test_a_post_whose_answer_was_lost_is_found_and_not_repeated(
    scene: Scene, key: str
) -> None:
    scene.sandbox.faults.add(
        method="chat.postMessage", drop_after_commit=True, contains=f'"key": "{key}"'
    )
    run_id = await scene.begin(finished())
    await scene.draw()
    await eventually(lambda: key in scene.messages(run_id))
    shown = await scene.until_drawn(run_id, step=0.1)
    assert all(len(found) == 1 for found in shown.values())
    rows = (await scene.store.threads.known(run_id)).messages
    assert rows[key].address == f"{CHANNEL}/{shown[key][0]['ts']}"


async def test_the_parts_of_a_long_answer_stand_in_their_order_whichever_is_lost(
    scene: Scene,
) -> None:
    words = "".join(f"line {number}\n" for number in range(3000))
    scene.sandbox.faults.add(
        method="files.getUploadURLExternal", error="file_uploads_disabled", times=9
    )
    scene.sandbox.faults.add(
        method="chat.postMessage", status=500, contains='"key": "answer:2"', times=2
    )
    history = begun().then(replied(text=words)).then(RunFinished(answer=words))
    run_id = await scene.begin(history)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    parts = ["answer", "answer:2", "answer:3"]
    assert all(len(shown[one]) == 1 for one in parts)
    assert sorted(parts, key=lambda one: float(shown[one][0]["ts"])) == parts


async def test_an_edit_whose_answer_was_lost_is_made_again(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", drop_after_commit=True, times=2)
    await scene.go_on(run_id, finished())
    await scene.until_drawn(run_id, step=0.1)
    assert buttons(scene.messages(run_id)[CARD][0]) == []


async def test_a_crash_between_post_and_save_leaves_a_card_that_is_adopted(scene: Scene) -> None:
    """B87: the process that posted is gone, and nobody wrote down where the card stands."""
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    await scene.store.threads.save(lease, _posting("status", scene))
    sent = await threads(scene).post(
        CHANNEL, None, "posted by a dead process", (), run_id=run_id, key="status"
    )
    scene.clock.advance(TERM.total_seconds())
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    assert [one["ts"] for one in shown["status"]] == [sent.address.ts]
    assert "refund ORD-3300 180" in shown["status"][0]["text"]
    assert shown[CARD][0]["thread_ts"] == sent.address.ts


async def test_not_there_is_believed_only_when_the_attempt_can_not_land_any_more(
    scene: Scene,
) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    await scene.store.threads.save(lease, _posting("status", scene))
    await scene.store.thread_leases.defer(lease, until=scene.clock.now())
    attempted_at = scene.clock.seconds()
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.5)
    assert len(shown["status"]) == 1
    assert scene.sandbox.calls("conversations.history")[0]["at"] < attempted_at + 20
    assert scene.sandbox.calls("chat.postMessage")[0]["at"] >= attempted_at + 20


@pytest.mark.parametrize(
    "fault", [{"ratelimited": True, "retry_after": 3}, {"error": "ratelimited"}]
)
async def test_a_rate_limit_is_obeyed_and_the_final_state_is_shown(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", times=3, **fault)
    await scene.go_on(run_id, finished())
    await scene.until_drawn(run_id, step=0.1)
    assert buttons(scene.messages(run_id)[CARD][0]) == []
    scene.sandbox.assert_no_violations()


async def test_a_refused_post_is_tried_again_until_it_is_taken(scene: Scene) -> None:
    """B88: the card's post fails five times, then Slack takes it."""
    scene.sandbox.faults.add(
        method="chat.postMessage", error="internal_error", contains=CARD, times=5
    )
    run_id = await scene.begin(waiting())
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    assert len(scene.messages(run_id)[CARD]) == 1


async def test_a_thread_that_is_refused_keeps_no_other_waiting(scene: Scene) -> None:
    refused = await scene.begin(waiting())
    scene.sandbox.faults.add(
        error="cannot_reply_to_message", method="chat.postMessage", contains=f'"{refused}"', times=3
    )
    other = await scene.begin(waiting())
    await scene.draw()
    await scene.until_drawn(other)
    assert scene.messages(refused) == {}
    await scene.until_drawn(refused, step=0.1)
    assert set(scene.messages(refused)) == {"status", CARD}


async def test_a_scope_that_is_missing_for_one_thread_keeps_no_other_waiting(scene: Scene) -> None:
    scene.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True, contains=CARD)
    scene.sandbox.faults.add(method="conversations.replies", error="missing_scope", times=100)
    refused = await scene.begin(waiting())
    await scene.draw()
    await eventually(lambda: CARD in scene.messages(refused))

    async def is_read_back() -> bool:
        scene.clock.advance(0.1)
        return bool(scene.sandbox.calls("conversations.replies"))

    await eventually(is_read_back)
    other = await scene.begin(waiting())
    await scene.until_drawn(other)
    assert set(scene.messages(other)) == {"status", CARD}


async def test_a_useless_token_is_tried_seldom_and_the_thread_recovers(scene: Scene) -> None:
    scene.sandbox.faults.add(error="token_revoked", method="chat.postMessage", times=2)
    runs = [await scene.begin(waiting()) for _ in range(3)]
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    for run_id in runs:
        await scene.until_drawn(run_id, step=0.5)
    assert len([c for c in scene.sandbox.calls("chat.postMessage") if not c["ok"]]) <= 2


async def test_blocks_that_slack_refuses_are_replaced_by_text(scene: Scene) -> None:
    scene.sandbox.faults.add(error="invalid_blocks", method="chat.postMessage", contains=CARD)
    run_id = await scene.begin(waiting())
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    assert "blocks" not in shown[CARD][0]
    assert "`approve apr_1`" in shown[CARD][0]["text"]
    scene.sandbox.faults.add(error="msg_too_long", method="chat.update", contains="Approved")
    await scene.go_on(run_id, waiting().then(approved(1)))
    shown = await scene.until_drawn(run_id)
    assert "Approved" in shown[CARD][0]["text"]
    assert "blocks" not in shown[CARD][0]


async def test_a_deleted_card_is_posted_again_only_while_it_is_open(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    drawer = await scene.draw()
    shown = await scene.until_drawn(run_id)
    await drawer.stop()
    await _delete_and_outdate(scene, run_id, shown[CARD][0]["ts"])
    await scene.draw("bot-2")
    await eventually(lambda: len(scene.messages(run_id).get(CARD, [])) == 1)
    shown = await scene.until_drawn(run_id)
    assert buttons(shown[CARD][0])
    scene.sandbox.inside.posting.delete(_channel(scene), shown[CARD][0]["ts"])
    await scene.go_on(run_id, finished())
    shown = await scene.until_drawn(run_id)
    assert set(shown) == {"status", "answer"}


async def test_an_argument_of_45000_characters_is_one_message_that_slack_takes(
    scene: Scene,
) -> None:
    """B3: it must not vanish, and can't be approved unseen: all of it is in a file."""
    args: Any = {"order": "x" * 45_000, "amount": 1}
    history = begun().then(replied(1)).then(judged(1, "ask", args=args))
    asked_all = waiting().recorded[-1].event
    history = history.then(asked_all.model_copy(update={"args": args}))
    run_id = await scene.begin(history)
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    (card,) = shown[CARD]
    assert "[shortened]" in json.dumps(card["blocks"])
    assert "apr_1.txt" in json.dumps(card["blocks"])
    assert [
        one["arguments"]["filename"] for one in scene.sandbox.calls("files.getUploadURLExternal")
    ] == ["apr_1.txt"]


async def test_two_drawers_never_post_a_key_twice(scene: Scene) -> None:
    runs = [await scene.begin(waiting()) for _ in range(3)]
    await scene.draw("bot-1")
    await scene.draw("bot-2", await scene.second_store())
    for run_id in runs:
        await scene.until_drawn(run_id, step=0.1)
    await asyncio.gather(*(scene.go_on(run_id, finished()) for run_id in runs))
    for run_id in runs:
        shown = await scene.until_drawn(run_id, step=0.1)
        assert all(len(found) == 1 for found in shown.values())
        assert set(shown) == {"status", CARD, "answer"}
    scene.sandbox.assert_no_violations()


async def test_a_burst_of_changes_becomes_few_edits(scene: Scene) -> None:
    run_id = await scene.begin(begun())
    await scene.draw()
    history = begun()
    for number in range(1, 41):
        history = history.then(replied(number)).then(judged(number))
        await scene.go_on(run_id, history)
    await scene.until_drawn(run_id, step=0.1)
    assert len(scene.sandbox.calls("chat.update")) <= 20


async def test_whoever_lost_the_lease_posts_nothing(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    old = await scene.claim(run_id)
    scene.clock.advance(TERM.total_seconds())
    await scene.claim(run_id)
    limiter = Limiter(scene.store.allowances, scene.clock.seconds)
    known, events = await scene.store.threads.with_journal(run_id)
    showing = Showing(
        store=scene.store,
        slack=threads(scene),
        limiter=limiter,
        setbacks=Setbacks(limiter),
        guard=LeaseGuard(old, TERM),
        state=fold(events),
        place=Place(TEAM, CHANNEL),
        known=known,
        events=events,
        addressees=Addressees(People(slack_client("xoxb-sandbox", scene.sandbox.api_url))),
        refused=Refused(scene.clock.seconds),
    )
    with pytest.raises(LeaseLost):
        await showing.show()
    assert scene.sandbox.messages(CHANNEL) == []


def _posting(key: str, scene: Scene) -> ThreadMessage:
    return ThreadMessage(key, "posting", None, "unknown", scene.clock.now())


def _channel(scene: Scene) -> Any:
    return scene.sandbox.inside.workspace.channel(CHANNEL)


async def _delete_and_outdate(scene: Scene, run_id: RunId, ts: str) -> None:
    """The card is gone from Slack, and was of an older build's making."""
    scene.sandbox.inside.posting.delete(_channel(scene), ts)
    history = waiting().then(replied(2))
    await scene.go_on(run_id, history)
    lease = await scene.claim(run_id)
    row = ThreadMessage(CARD, "posted", str(Address(CHANNEL, ts)), "older", scene.clock.now())
    await scene.store.threads.save(lease, row)
    await scene.store.thread_leases.defer(lease, until=scene.clock.now())
