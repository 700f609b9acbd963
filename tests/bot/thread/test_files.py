"""What neither a card nor its pages hold is attached as a file, once, before anybody can approve it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue
from slack_sdk.web.async_client import AsyncWebClient

from agent.rules.ids import RunId
from agent.rules.parts import Delivery
from bot.sandbox.tokens import BOT_SCOPES
from bot.sandbox.workspace import BOT_TOKEN
from tests.agent.rules.histories import History, asked, begun, denied, judged, replied
from tests.bot.thread.mortal import mortal
from tests.bot.thread.scene import CHANNEL, Message, Scene, eventually
from tests.bot.thread.test_drawing import CARD, buttons

SCRIPT = "".join(f"rm -rf /srv/{number:05}\n" for number in range(2_600))
ANNOUNCE, COMPLETE = "files.getUploadURLExternal", "files.completeUploadExternal"
ATTACHED = "is attached here"


def asks(
    args: Mapping[str, JsonValue] | None = None, card: str = "thread", preview: str | None = None
) -> History:
    """It waits for a yes to this, as ``apr_1``."""
    args = args or {"script": SCRIPT, "host": "web-1"}
    question = asked(1, args=args, preview=preview)
    history = begun().then(replied(1)).then(judged(1, "ask", args=args))
    return history.then(question.model_copy(update={"delivery": Delivery(card=card)}))


def files(scene: Scene, channel: str = CHANNEL) -> list[Message]:
    """The messages of the channel that show a file, in its threads and out of them."""
    tops = scene.sandbox.messages(channel)
    every = {one["ts"]: one for top in tops for one in scene.sandbox.messages(channel, top["ts"])}
    there = [one for one in every.values() if one.get("files")]
    return [one for one in there if any(file["mode"] != "tombstone" for file in one["files"])]


def content(scene: Scene, message: Message) -> str:
    (file,) = message["files"]
    held = scene.sandbox.inside.files.get(file["id"]).content
    assert held is not None
    return held.decode()


def may_be_approved(card: Message) -> bool:
    return "approval.approve" in buttons(card)


async def until_it_may_be(scene: Scene, run_id: RunId, *, step: float = 5.0) -> Message:
    """The card, once it can be approved; so long it can't while no file is there."""

    def can() -> bool:
        cards = scene.messages(run_id).get(CARD, [])
        is_open = any(map(may_be_approved, cards))
        assert not is_open or files(scene)
        if not is_open:
            scene.pass_time(step)
        return is_open

    await eventually(can, 0.002)
    (card,) = scene.messages(run_id)[CARD]
    return card


async def until_it_says(scene: Scene, run_id: RunId, words: str) -> None:
    def says() -> bool:
        scene.pass_time(5)
        return words in json.dumps(scene.messages(run_id).get(CARD))

    await eventually(says, 0.002)


async def test_all_of_it_is_attached_before_the_card_can_be_approved(scene: Scene) -> None:
    run_id = await scene.begin(asks(preview="All of it goes."))
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id))[CARD]
    (file,) = files(scene)
    assert file["thread_ts"] == card["thread_ts"]
    assert file["ts"] < card["ts"]
    assert [one["name"] for one in file["files"]] == ["apr_1.txt"]
    assert may_be_approved(card)
    assert ATTACHED in json.dumps(card["blocks"])
    told = content(scene, file)
    assert all(f"| {line}" in told for line in SCRIPT.splitlines())
    assert "| All of it goes." in told
    assert "| web-1" in told
    await scene.go_on(run_id, asks(preview="All of it goes.").then(denied(1, "no")))
    await scene.until_drawn(run_id)
    assert len(files(scene)) == 1


async def test_what_the_pages_hold_needs_no_file(scene: Scene) -> None:
    run_id = await scene.begin(asks({"script": SCRIPT[:20_000]}))
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id))[CARD]
    assert may_be_approved(card)
    assert scene.sandbox.calls(ANNOUNCE) == []


@pytest.mark.parametrize("method", [ANNOUNCE, "upload", COMPLETE])
@pytest.mark.parametrize(
    "fault", [{"drop_after_commit": True}, {"status": 503}, {"ratelimited": True}]
)
async def test_whichever_answer_is_lost_it_is_attached_once(
    scene: Scene, method: str, fault: dict[str, Any]
) -> None:
    if method == "upload" and "ratelimited" in fault:
        fault = {"status": 429}
    scene.sandbox.faults.add(method=method, **fault)
    run_id = await scene.begin(asks())
    await scene.draw()
    await until_it_may_be(scene, run_id, step=20)
    assert len(files(scene)) == 1
    await scene.until_drawn(run_id, step=5)
    assert len(files(scene)) == 1


async def test_one_that_slack_never_shares_is_taken_back_and_uploaded_again(scene: Scene) -> None:
    scene.sandbox.faults.add(method=COMPLETE, unshared=True)
    run_id = await scene.begin(asks())
    await scene.draw()
    await eventually(lambda: CARD in scene.messages(run_id))
    await scene.settled()
    (card,) = scene.messages(run_id)[CARD]
    assert buttons(card) == ["approval.deny", "approval.steer", "approval.view", "approval.more"]
    assert "is being attached" in json.dumps(card["blocks"])
    began = scene.clock.seconds()
    await until_it_may_be(scene, run_id, step=20)
    assert scene.clock.seconds() - began >= 59
    first, second = scene.sandbox.calls(COMPLETE)
    assert first["arguments"] != second["arguments"]
    assert len(files(scene)) == 1
    assert len(scene.sandbox.calls("files.delete")) == 1


async def test_one_that_comes_late_is_not_uploaded_again(scene: Scene) -> None:
    scene.sandbox.faults.add(method=COMPLETE, share_after=0.1)
    run_id = await scene.begin(asks())
    await scene.draw()
    await eventually(lambda: files(scene))
    await until_it_may_be(scene, run_id)
    assert len(files(scene)) == len(scene.sandbox.calls(COMPLETE)) == 1


@pytest.mark.parametrize(
    ("method", "error", "why"),
    [
        (ANNOUNCE, "file_uploads_disabled", "files are switched off"),
        (COMPLETE, "restricted_action", "Slack refuses it (restricted_action)"),
        ("upload", "malware", "Slack refuses it (upload_refused)"),
    ],
)
async def test_while_slack_refuses_it_the_card_has_no_approve_and_says_why(
    scene: Scene, method: str, error: str, why: str
) -> None:
    scene.sandbox.faults.add(method=method, error=error, times=1000)
    run_id = await scene.begin(asks())
    await scene.draw()
    await until_it_says(scene, run_id, why)
    (card,) = scene.messages(run_id)[CARD]
    assert not may_be_approved(card)
    assert "can't be approved here" in json.dumps(card["blocks"])
    scene.sandbox.faults.heal()
    card = await until_it_may_be(scene, run_id)
    assert why not in json.dumps(card["blocks"])


async def test_an_app_without_the_scope_says_so_and_attaches_it_once_it_has_it(
    scene: Scene,
) -> None:
    tokens = scene.sandbox.inside.tokens
    tokens.add(BOT_TOKEN, [one for one in BOT_SCOPES if one != "files:write"])
    run_id = await scene.begin(asks())
    await scene.draw()
    await until_it_says(scene, run_id, "files:write")
    assert not may_be_approved(scene.messages(run_id)[CARD][0])
    tokens.add(BOT_TOKEN, BOT_SCOPES)
    await until_it_may_be(scene, run_id, step=20)
    assert len(files(scene)) == 1


async def test_what_is_too_long_for_a_file_is_denied_or_steered(scene: Scene) -> None:
    run_id = await scene.begin(asks({"script": SCRIPT * 11}))
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id))[CARD]
    assert not may_be_approved(card)
    assert scene.sandbox.calls(ANNOUNCE) == []


@pytest.mark.parametrize("is_done", [False, True], ids=["unheard", "done"])
async def test_at_whatever_call_somebody_dies_the_next_one_attaches_it_once(
    scene: Scene, is_done: bool
) -> None:
    other = await scene.second_store()
    for call in range(1, 30):
        run_id, was = await scene.begin(asks()), len(files(scene))
        client = mortal(scene, call, is_done=is_done)
        first = await scene.draw(f"dies-{call}", scene.store, client)

        async def is_over(client: Any = client, run_id: RunId = run_id) -> bool:
            return client.died.is_set() or await scene.is_drawn_by_now(run_id, step=20)

        await eventually(is_over, 0.002)
        died = client.died.is_set()
        await scene.ended(first)
        scene.bury(f"dies-{call}")
        second = await scene.draw(f"lives-{call}", other)
        await scene.until_drawn(run_id, step=20)
        await scene.ended(second)
        scene.bury(f"lives-{call}")
        (card,) = [one for one in scene.messages(run_id).values() if buttons(one[0])[1:]][-1]
        assert may_be_approved(card)
        assert len(files(scene)) == was + 1
        if not died:
            break
    assert call > 5


class Stalled(AsyncWebClient):
    """What it shares first is on its way until it may arrive."""

    on_its_way: asyncio.Event
    may_arrive: asyncio.Event

    async def api_call(self, api_method: str, **how: Any) -> Any:
        if api_method == COMPLETE and not self.on_its_way.is_set():
            self.on_its_way.set()
            await self.may_arrive.wait()
        return await super().api_call(api_method, **how)


async def test_whoever_was_replaced_takes_back_what_arrives_after_their_successors(
    scene: Scene,
) -> None:
    client = Stalled("xoxb-sandbox", base_url=scene.sandbox.api_url, retry_handlers=[])
    client.proxy = None
    client.on_its_way, client.may_arrive = asyncio.Event(), asyncio.Event()
    run_id = await scene.begin(asks())
    first = await scene.draw("bot-1", client=client)
    await client.on_its_way.wait()
    other = await scene.second_store()
    scene.rows.ask("update threads set lease_expires_at = 1, wake_at = 1")
    await scene.draw("bot-2", other)

    def is_attached() -> bool:
        if not files(scene):
            scene.clock.advance(5)
            scene.wake()
        return bool(files(scene))

    await eventually(is_attached)
    (theirs,) = files(scene)
    client.may_arrive.set()
    await eventually(lambda: len(scene.sandbox.calls("files.delete")) == 2)
    assert files(scene) == [theirs]
    await scene.until_drawn(run_id, step=5)
    await scene.ended(first)


async def test_one_that_was_deleted_is_attached_again_when_its_card_is_looked_at(
    scene: Scene,
) -> None:
    run_id = await scene.begin(asks())
    await scene.draw()
    await scene.until_drawn(run_id)
    await scene.settled()
    (file,) = files(scene)
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete(channel, file["ts"])
    assert files(scene) == []
    scene.pass_time(301)
    await eventually(lambda: files(scene))
    assert len(files(scene)) == 1


async def test_one_that_still_stands_is_left_alone_by_that_look(scene: Scene) -> None:
    run_id = await scene.begin(asks())
    await scene.draw()
    await scene.until_drawn(run_id)
    await scene.settled()
    before = len(scene.sandbox.calls("chat.update"))
    scene.pass_time(301)
    await eventually(lambda: len(scene.sandbox.calls("chat.update")) > before)
    await scene.settled()
    assert len(scene.sandbox.calls(COMPLETE)) == 1


async def test_where_a_card_stands_in_another_channel_its_file_stands_below_it(
    scene: Scene,
) -> None:
    run_id = await scene.begin(asks(card="C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=1)
    card = scene.sandbox.messages("C0OPS")[-1]
    (file,) = files(scene, "C0OPS")
    assert file["thread_ts"] == card["ts"]
    assert may_be_approved(card)
    assert files(scene) == []


async def test_whoever_is_asked_directly_has_the_file_directly(scene: Scene) -> None:
    await scene.begin(asks(card="dm"))
    scene.sandbox.faults.add(
        method=COMPLETE, error="restricted_action", contains="D0FRANK", times=9
    )
    await scene.draw()

    def cards(channel: str) -> list[Message]:
        return [one for one in scene.sandbox.messages(channel) if not one.get("files")]

    def is_open() -> bool:
        scene.pass_time(0.5)
        return any(map(may_be_approved, cards("D0BOB"))) and bool(cards("D0FRANK"))

    await eventually(is_open)
    assert len(files(scene, "D0BOB")) == 1
    assert files(scene, "D0FRANK") == []
    (card,) = cards("D0FRANK")
    assert not may_be_approved(card)


@pytest.mark.parametrize(("card", "channel"), [("C0OPS", "C0OPS"), ("dm", "D0BOB")])
async def test_one_that_was_deleted_elsewhere_is_attached_again_when_its_card_is_looked_at(
    scene: Scene, card: str, channel: str
) -> None:
    run_id = await scene.begin(asks(card=card))
    await scene.draw()
    await scene.until_drawn(run_id, step=1)
    await scene.settled()
    (file,) = files(scene, channel)
    place = scene.sandbox.inside.workspace.channel(channel)
    scene.sandbox.inside.posting.delete(place, file["ts"])
    assert files(scene, channel) == []
    scene.pass_time(301)
    await eventually(lambda: files(scene, channel))
    assert len(files(scene, channel)) == 1
