"""Whoever freezes with a request to send, and sends it when somebody else draws the thread already."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from agent.ports import Lease, ThreadMessage
from agent.rules.ids import RunId
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter
from bot.slack.thread.desired import desired
from bot.slack.thread.edge import SlackThreads
from bot.slack.thread.keys import STATUS_KEY
from bot.slack.thread.placing import Placing
from bot.slack.thread.readback import Bookmarks
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import CHANNEL, TERM, Scene, eventually
from tests.bot.thread.test_drawing import CARD
from tests.bot.thread.test_leaked import client_of

#: What somebody else has had it show meanwhile.
NEWER = "newer"


class Frozen(AsyncWebClient):
    """Sends when somebody else has taken over; then something may happen to the answer."""

    meanwhile: Callable[[], Awaitable[None]]

    def answer_to(self, answer: Any) -> Any:
        return answer

    async def chat_update(self, **given: Any) -> Any:
        await self.meanwhile()
        return self.answer_to(await super().chat_update(**given))

    async def chat_postMessage(self, **given: Any) -> Any:
        await self.meanwhile()
        return self.answer_to(await super().chat_postMessage(**given))


class Unheard(Frozen):
    """And the answer is lost."""

    def answer_to(self, answer: Any) -> Any:
        raise TimeoutError


class Refused(Frozen):
    """And Slack has made nothing of it."""

    def answer_to(self, answer: Any) -> Any:
        make: Callable[[str, dict[str, Any]], SlackApiError] = SlackApiError
        raise make("refused", {"ok": False, "error": "invalid_blocks"})


def frozen(scene: Scene, kind: type[Frozen], meanwhile: Callable[[], Awaitable[None]]) -> Frozen:
    client = client_of(scene, kind)
    assert isinstance(client, Frozen)
    client.meanwhile = meanwhile
    return client


async def placing(scene: Scene, lease: Lease, client: AsyncWebClient) -> Placing:
    """By somebody who believes in that lease for ever."""
    guard = LeaseGuard(lease, TERM, monotonic=lambda: 0.0)
    limiter = Limiter(scene.store.allowances, scene.clock.seconds)
    rows = dict((await scene.store.threads.known(lease.run_id)).messages)
    return Placing(scene.store, SlackThreads(client), limiter, guard, rows, Bookmarks())


async def place(scene: Scene, lease: Lease, client: AsyncWebClient, key: str = STATUS_KEY) -> None:
    state = await scene.state(lease.run_id)
    (wanted,) = (one for one in desired(state) if one.key == key)
    at = Place.of(state.place)
    assert at is not None
    if key != STATUS_KEY:
        at = replace(at, thread_ts=scene.messages(lease.run_id)[STATUS_KEY][0]["ts"])
    await (await placing(scene, lease, client)).place(wanted, at)


async def take_over(scene: Scene) -> Lease:
    scene.clock.advance(TERM.total_seconds())
    (other,) = await scene.store.thread_leases.claim("other", TERM, 1)
    return other


async def row_of(scene: Scene, run_id: RunId, key: str = STATUS_KEY) -> ThreadMessage:
    return (await scene.store.threads.known(run_id)).messages[key]


async def drawn_and_gone_on(scene: Scene) -> tuple[RunId, Lease]:
    run_id = await scene.begin(waiting())
    drawer = await scene.draw()
    await scene.until_drawn(run_id)
    await drawer.stop()
    await scene.go_on(run_id, waiting().then(approved(1)))
    return run_id, await scene.claim(run_id)


@pytest.mark.parametrize("kind", [Frozen, Unheard, Refused])
@pytest.mark.parametrize("is_in_doubt", [False, True], ids=["", "one before it was lost"])
async def test_an_edit_that_is_sent_late_is_doubted_whatever_is_heard_of_it(
    scene: Scene, kind: type[Frozen], is_in_doubt: bool
) -> None:
    run_id, lease = await drawn_and_gone_on(scene)
    if is_in_doubt:
        row = await row_of(scene, run_id)
        # Until the other one has it, and for a while after that.
        until = scene.clock.now() + TERM
        await scene.store.threads.save(lease, replace(row, status="editing", attempted_at=until))

    async def meanwhile() -> None:
        other = await take_over(scene)
        row = await row_of(scene, run_id)
        await scene.store.threads.save(other, replace(row, status="posted", digest=NEWER))

    with pytest.raises(LeaseLost):
        await place(scene, lease, frozen(scene, kind, meanwhile))
    assert (await row_of(scene, run_id)).digest == ""


async def test_what_is_posted_late_goes_where_it_stands_already(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)

    async def meanwhile() -> None:
        await place(scene, await take_over(scene), client_of(scene, AsyncWebClient))

    with pytest.raises(LeaseLost):
        await place(scene, lease, frozen(scene, Frozen, meanwhile))
    (left,) = scene.sandbox.messages(CHANNEL)
    assert (await row_of(scene, run_id)).address == f"{CHANNEL}/{left['ts']}"


@pytest.mark.parametrize("fault", [{"ratelimited": True, "retry_after": 1}, {"status": 503}])
async def test_what_is_posted_late_goes_also_where_slack_does_not_delete_it_at_once(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    scene.sandbox.faults.add(method="chat.delete", **fault)

    async def meanwhile() -> None:
        await place(scene, await take_over(scene), client_of(scene, AsyncWebClient))

    late = asyncio.create_task(place(scene, lease, frozen(scene, Frozen, meanwhile)))
    await eventually(lambda: scene.sandbox.calls("chat.delete"), 0.001)
    assert len(scene.sandbox.messages(CHANNEL)) == 2

    def is_over() -> bool:
        scene.clock.advance(0.5)
        return late.done()

    await eventually(is_over)
    with pytest.raises(LeaseLost):
        await late
    (left,) = scene.sandbox.messages(CHANNEL)
    assert (await row_of(scene, run_id)).address == f"{CHANNEL}/{left['ts']}"


async def test_what_slack_will_never_delete_is_tried_once(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    scene.sandbox.faults.add(method="chat.delete", error="cant_delete_message")

    async def meanwhile() -> None:
        await place(scene, await take_over(scene), client_of(scene, AsyncWebClient))

    with pytest.raises(LeaseLost):
        await place(scene, lease, frozen(scene, Frozen, meanwhile))
    assert len(scene.sandbox.calls("chat.delete")) == 1
    assert f"status of {run_id} stands there twice: cant_delete_message" in caplog.text


async def test_what_is_posted_late_stays_where_it_has_been_found(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)

    class Found(Frozen):
        async def chat_postMessage(self, **given: Any) -> Any:
            answer = await super().chat_postMessage(**given)
            await place(scene, await take_over(scene), client_of(scene, AsyncWebClient))
            return answer

    async def nothing() -> None:
        pass

    with pytest.raises(LeaseLost):
        await place(scene, lease, frozen(scene, Found, nothing))
    (left,) = scene.sandbox.messages(CHANNEL)
    assert (await row_of(scene, run_id)).address == f"{CHANNEL}/{left['ts']}"


async def test_a_second_attempt_without_blocks_counts_from_when_it_is_made(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    attempted: list[timedelta] = []
    began_at = scene.clock.now()

    async def meanwhile() -> None:
        attempted.append((await row_of(scene, run_id)).attempted_at - began_at)
        scene.clock.advance(12)

    scene.sandbox.faults.add(method="chat.postMessage", error="invalid_blocks")
    await place(scene, lease, frozen(scene, Frozen, meanwhile))
    assert attempted == [timedelta(), timedelta(seconds=12)]


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message"])
async def test_an_open_card_that_can_not_be_edited_is_not_posted_again(
    scene: Scene, code: str
) -> None:
    run_id = await scene.begin(waiting())
    drawer = await scene.draw()
    shown = await scene.until_drawn(run_id)
    await drawer.stop()
    await scene.store.threads.doubt(run_id, CARD)
    scene.sandbox.faults.add(method="chat.update", error=code)
    await place(scene, await scene.claim(run_id), client_of(scene, AsyncWebClient), CARD)
    assert len(scene.refused("chat.update")) == 1
    assert [one["ts"] for one in scene.messages(run_id)[CARD]] == [shown[CARD][0]["ts"]]
    assert (await row_of(scene, run_id, CARD)).address == str(
        Address(CHANNEL, shown[CARD][0]["ts"])
    )
