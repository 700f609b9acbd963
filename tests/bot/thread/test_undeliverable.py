"""Where a thread can't ask what its run has to: nothing leaks to the channel, and who asked is told."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from agent import Agent, Policy, Runtime, ScriptedModel, Toolbox
from agent.blocked import why_blocked
from agent.rules.ids import RunId
from bot.slack.cards.undeliverable import undeliverable_message
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    denied,
    in_review,
    judged,
    questioned,
    replied,
    waiting,
)
from tests.bot.slack.agents import refunds
from tests.bot.thread.scene import CHANNEL, Message, Scene, eventually
from tests.bot.thread.test_drawing import finished

CARD = "approval:apr_1"
#: Nothing else keeps a run from being taken on.
HERE = {"refunds": refunds()}
DIRECT = "D0ALICE"


def told(scene: Scene) -> list[Message]:
    """What Alice reads in her direct messages."""
    return [one for one in scene.sandbox.messages(DIRECT) if "metadata" in one]


async def until(scene: Scene, holds: Any, *, step: float = 0.2) -> None:
    """Time passes only when nothing more can be drawn."""

    async def moved() -> Any:
        found = holds()
        if found := await found if hasattr(found, "__await__") else found:
            return found
        scene.pass_time(step)
        return False

    await eventually(moved)


async def in_a_thread_of_alices(scene: Scene) -> tuple[RunId, str]:
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    alice = scene.sandbox.inside.workspace.users["U0ALICE"]
    said, _ = scene.sandbox.inside.posting.say(alice, channel, "refund", [], None)
    run_id = await scene.begin(begun(), thread_ts=said["ts"])
    return run_id, said["ts"]


async def below_a_deleted_message(scene: Scene, history: History) -> RunId:
    """Somebody has deleted what opened its thread, and then it goes on as far as that."""
    run_id, root = await in_a_thread_of_alices(scene)
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete_by_person(channel, root)
    await scene.go_on(run_id, history)
    return run_id


async def test_below_a_deleted_message_nothing_is_asked_and_who_asked_is_told(
    scene: Scene,
) -> None:
    run_id = await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await until(scene, lambda: told(scene))
    (notice,) = told(scene)
    words = json.dumps(notice, ensure_ascii=False)
    assert "the message that its thread hung on was deleted. Nothing of it has happened." in words
    assert "<!subteam^S0FINANCE> may decide" in words
    assert "apr_1" in words
    assert scene.sandbox.messages(CHANNEL) == []
    blocked = await why_blocked(scene.store, HERE, await scene.state(run_id))
    assert blocked is not None
    assert blocked["code"] == "undeliverable"
    assert "(thread_not_found)" in blocked["message"]
    assert (await scene.store.threads.known(run_id)).trouble == "thread_not_found"


async def test_it_is_said_once_however_often_it_is_tried(scene: Scene) -> None:
    await below_a_deleted_message(scene, waiting())
    await scene.draw("bot-1")
    await scene.draw("bot-2", await scene.second_store())
    await until(scene, lambda: len(scene.sandbox.calls("chat.postMessage")) > 5)
    assert len(told(scene)) == 1


async def test_once_it_can_be_asked_it_is_and_nothing_is_wrong_any_more(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(
        error="not_in_channel", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    await scene.draw()
    await until(scene, lambda: told(scene))
    assert "Invite me to the channel again" in json.dumps(told(scene))
    scene.sandbox.faults.heal()
    await until(scene, lambda: scene.is_drawn(run_id))
    assert len(scene.messages(run_id)[CARD]) == 1
    assert "it is asked there now" in told(scene)[0]["text"]
    assert (await scene.store.threads.known(run_id)).trouble is None


async def test_one_dead_thread_keeps_no_other_of_its_channel_waiting(scene: Scene) -> None:
    await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await until(scene, lambda: told(scene))
    alive = await scene.begin(waiting())
    await until(scene, lambda: scene.is_drawn(alive))


async def test_what_was_decided_elsewhere_is_waited_for_no_more(scene: Scene) -> None:
    run_id = await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await until(scene, lambda: told(scene))
    await scene.go_on(run_id, waiting().then(denied(1)))
    assert await why_blocked(scene.store, HERE, await scene.state(run_id)) is None
    await until(scene, lambda: "it was denied elsewhere" in told(scene)[0]["text"])
    assert len(told(scene)) == 1
    assert scene.sandbox.messages(CHANNEL) == []


async def test_each_question_is_told_of_once_also_one_that_comes_later(scene: Scene) -> None:
    run_id = await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await until(scene, lambda: told(scene))
    scene.clock.advance(1)
    both = waiting().then(replied(2)).then(judged(2, "ask")).then(asked(2))
    await scene.go_on(run_id, both)
    await until(scene, lambda: len(told(scene)) == 2)
    await scene.go_on(run_id, both.then(denied(1)))
    await until(scene, lambda: "it was denied elsewhere" in told(scene)[0]["text"])
    assert "apr_2" in json.dumps(told(scene)[1])
    assert len(told(scene)) == 2


async def test_of_what_was_asked_together_one_message_tells(scene: Scene) -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    history = history.then(asked(1), asked(2))
    run_id = await below_a_deleted_message(scene, history)
    await scene.draw()
    await until(scene, lambda: told(scene))
    await scene.settled()
    (notice,) = told(scene)
    assert {"apr_1", "apr_2"} <= set(re.findall(r"apr_\d", json.dumps(notice["blocks"])))
    await scene.go_on(run_id, history := history.then(denied(1)))
    await until(scene, lambda: "apr_1" not in json.dumps(told(scene)[0]["blocks"]))
    await scene.go_on(run_id, history.then(approved(2)))
    await until(scene, lambda: "waits for nobody any more" in told(scene)[0]["text"])
    assert len(told(scene)) == 1


async def test_the_last_words_of_a_run_are_not_tried_for_ever(scene: Scene) -> None:
    run_id = await below_a_deleted_message(scene, finished())
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    scene.clock.advance(timedelta(days=1, minutes=10).total_seconds())
    await until(scene, lambda: scene.is_drawn(run_id))
    assert scene.sandbox.messages(CHANNEL) == []
    assert told(scene) == []


@pytest.mark.parametrize("fault", [{"status": 500}, {"ratelimited": True, "retry_after": 1}])
async def test_trouble_of_slacks_own_is_no_trouble_of_the_thread(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(method="chat.postMessage", times=3, **fault)
    await scene.draw()
    await until(scene, lambda: scene.is_drawn(run_id))
    assert (await scene.store.threads.known(run_id)).trouble is None
    assert told(scene) == []


@pytest.mark.parametrize("fault", [{"status": 503}, {"ratelimited": True, "retry_after": 30}])
async def test_what_can_not_be_asked_stays_so_while_slack_says_nothing_of_it(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(
        error="not_in_channel", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    await scene.draw()
    await until(scene, lambda: told(scene))
    await scene.settled()
    scene.sandbox.faults.heal()
    scene.sandbox.faults.add(method="chat.postMessage", times=1000, **fault)
    posts = len(scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    scene.clock.advance(400)
    await eventually(lambda: len(scene.sandbox.calls("chat.postMessage")) > posts)
    await scene.settled()
    assert (await scene.store.threads.known(run_id)).trouble == "not_in_channel"
    # What nobody could be asked is decided, and the next one is another matter.
    await scene.go_on(run_id, waiting().then(denied(1)))
    await scene.settled()
    assert (await scene.store.threads.known(run_id)).trouble is None


async def test_whoever_resumes_a_run_has_it_tried_at_once_by_whichever_process(
    scene: Scene,
) -> None:
    runs = [await scene.begin(waiting()) for _ in range(2)]
    scene.sandbox.faults.add(
        error="not_in_channel", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    await scene.draw("bot-1")
    await scene.draw("bot-2", await scene.second_store())
    await until(scene, lambda: told(scene))
    # Each of them has been refused for so long that it lets it alone for a minute.
    for _ in range(300):
        scene.clock.advance(1)
        scene.wake()
        await scene.settled()
    scene.sandbox.faults.heal()
    agent = Agent("refunds", ScriptedModel([]), Toolbox([]), Policy())
    runtime = Runtime([agent], scene.store)
    for run_id in runs:
        await runtime.resume(run_id)
        # No time passes.
        await scene.until_drawn(run_id)
        scene.clock.advance(0.1)


@pytest.mark.parametrize(
    "history", [waiting(), questioned(), in_review()], ids=["call", "question", "review"]
)
def test_that_nothing_has_happened_is_said_only_where_it_is_known(history: History) -> None:
    state = history.state
    (asked_for,) = state.open_approvals
    words = undeliverable_message(state, [asked_for], "is_archived").text
    is_call = asked_for.kind == "call"
    assert ("Nothing of it has happened." in words) is is_call


@pytest.mark.parametrize(
    "code", ["update_failed", "external_channel_migrating", "missing_scope", "a_new_word"]
)
async def test_nobody_is_told_of_what_slack_refuses_of_another_message(
    scene: Scene, code: str
) -> None:
    run_id = await scene.begin(begun())
    await scene.draw()
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", error=code, times=4)
    scene.sandbox.faults.add(
        method="chat.postMessage", ratelimited=True, retry_after=15, contains=CARD, times=1
    )
    await scene.go_on(run_id, waiting())
    await until(scene, lambda: CARD in scene.messages(run_id))
    assert len(scene.sandbox.calls("chat.update")) >= 2
    assert told(scene) == []


@pytest.mark.parametrize("code", ["missing_scope", "org_login_required", "ekm_access_denied"])
async def test_a_fault_of_the_whole_app_is_no_trouble_of_one_thread(
    scene: Scene, code: str
) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(error=code, method="chat.postMessage", contains=CHANNEL, times=3)
    await scene.draw()
    await until(scene, lambda: len(scene.sandbox.calls("chat.postMessage")) == 3, step=5)
    await scene.settled()
    assert (await scene.store.threads.known(run_id)).trouble is None
    await until(scene, lambda: scene.is_drawn(run_id), step=5)
    assert told(scene) == []


async def test_a_word_that_nobody_knows_is_believed_when_it_is_said_again(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(
        error="a_new_word", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    assert (await scene.store.threads.known(run_id)).trouble is None
    await until(scene, lambda: told(scene))
    assert (await scene.store.threads.known(run_id)).trouble == "a_new_word"


async def test_the_status_comes_first_in_a_thread_that_a_person_opened(scene: Scene) -> None:
    run_id, _ = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    scene.sandbox.faults.add(method="chat.postMessage", status=500, times=1)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.5)
    assert shown["status"][0]["ts"] < shown[CARD][0]["ts"]


async def test_where_somebody_reads_direct_messages_is_asked_once(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(
        error="not_in_channel", method="chat.postMessage", contains=CHANNEL, times=1000
    )
    scene.sandbox.faults.add(
        error="messages_tab_disabled", method="chat.postMessage", contains=DIRECT, times=3
    )
    await scene.draw()
    await until(scene, lambda: told(scene))
    assert len(scene.sandbox.calls("conversations.open")) == 1
    assert (await scene.store.threads.known(run_id)).trouble == "not_in_channel"


async def test_who_asked_is_not_told_for_ever_that_it_waits_no_more(scene: Scene) -> None:
    run_id = await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await until(scene, lambda: told(scene))
    scene.sandbox.faults.add(
        method="chat.update", error="channel_not_found", contains=DIRECT, times=1_000_000
    )
    await scene.go_on(run_id, finished())
    await scene.settled()
    scene.clock.advance(timedelta(days=1, minutes=10).total_seconds())
    await scene.until_drawn(run_id, step=10)
