"""A thread whose card gathers yeses, and one whose run failed and was taken on again."""

from __future__ import annotations

import json

from agent.rules.events import RunFailed, RunFinished
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    BOB,
    FRANK,
    History,
    approved,
    asked,
    begun,
    call_started,
    reopened,
    replied,
    returned,
    waiting,
)
from tests.bot.cards.checking import shown
from tests.bot.cards.stories import ANY_TWO, yes
from tests.bot.thread.scene import Message, Scene

CARD, SECOND_CARD = "approval:apr_1", "approval:apr_2"
ANSWER = "Refund of $180.00 for ORD-3300 is complete."
WHY = "the run had failed, and was taken on again"


def failed() -> History:
    return waiting().then(RunFailed(error="the model is gone"))


def taken_on() -> History:
    return failed().then(reopened())


def asked_again() -> History:
    question = asked(1, approval=2, supersedes=1)
    return taken_on().then(question.model_copy(update={"again_because": WHY}))


def finished() -> History:
    history = asked_again().then(approved(2))
    history = history.then(call_started(1, history.now)).then(returned(1))
    return history.then(replied(text=ANSWER)).then(RunFinished(answer=ANSWER))


def buttons(message: Message) -> list[str]:
    return [
        e["action_id"] for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]
    ]


def read(history: History, key: str) -> str:
    return next(shown(one.message.blocks) for one in desired(history.state) if one.key == key)


async def test_a_yes_changes_the_card_in_its_place_and_rings_nobody(scene: Scene) -> None:
    run_id = await scene.begin(waiting(ANY_TWO))
    await scene.draw()
    (first,) = (await scene.until_drawn(run_id, step=0.1))[CARD]
    assert "any 2 of <!subteam^S0FINANCE>" in json.dumps(first["blocks"])
    await scene.go_on(run_id, waiting(ANY_TWO).then(yes(BOB)))
    (card,) = (await scene.until_drawn(run_id, step=0.1))[CARD]
    assert card["ts"] == first["ts"]
    assert "1 of 2: approved by <@U0BOB>" in json.dumps(card["blocks"])
    assert json.dumps(card["blocks"]).count("<!subteam") == 1, "named, and not called"
    assert "any 2 of <!subteam^S0FINANCE>" in json.dumps(card["blocks"])
    assert "<!subteam" not in card["text"]
    assert buttons(card) == buttons(first)
    await scene.go_on(run_id, waiting(ANY_TWO).then(yes(BOB)).then(approved(1, FRANK)))
    (card,) = (await scene.until_drawn(run_id, step=0.1))[CARD]
    assert buttons(card) == []
    assert scene.sandbox.violations == []


async def test_a_run_that_is_taken_on_again_is_alive_in_its_thread(scene: Scene) -> None:
    run_id = await scene.begin(failed())
    await scene.draw()
    shown_before = await scene.until_drawn(run_id, step=0.1)
    assert "✗ <@U0ALICE>'s run failed." in shown_before["answer"][0]["text"]
    assert "Failed" in shown_before["status"][0]["text"]

    await scene.go_on(run_id, asked_again())
    thread = await scene.until_drawn(run_id, step=0.1)
    assert "Failed" not in json.dumps(thread["status"])
    assert thread["answer"][0]["text"] == "↻ It had failed here, and was taken on again."
    assert thread["answer"][0]["ts"] == shown_before["answer"][0]["ts"]
    assert buttons(thread[CARD][0]) == []
    (second,) = thread[SECOND_CARD]
    assert f"Asked again because: {WHY}" in json.dumps(second["blocks"])
    assert buttons(second) == [
        "approval.approve",
        "approval.deny",
        "approval.steer",
        "approval.more",
    ]

    await scene.go_on(run_id, finished())
    thread = await scene.until_drawn(run_id, step=0.1)
    (answer,) = thread["answer.2"]
    assert answer["text"] == ANSWER
    assert answer["ts"] > second["ts"]
    assert thread["answer"][0]["text"].startswith("↻")
    assert {key: len(found) for key, found in thread.items()} == dict.fromkeys(thread, 1)


async def test_a_failure_that_nobody_saw_is_not_told_of_afterwards(scene: Scene) -> None:
    run_id = await scene.begin(failed())
    await scene.go_on(run_id, finished())
    await scene.draw()
    thread = await scene.until_drawn(run_id, step=0.1)
    assert sorted(thread) == ["answer.2", CARD, SECOND_CARD, "status"]


def test_what_a_failure_closed_says_that_it_is_asked_again() -> None:
    assert "⏹ *Its run has failed*" in read(failed(), CARD)
    assert "↪︎ *Its run had failed, and was taken on again*" in read(taken_on(), CARD)
    assert "↪︎ *Its run had failed: asked again below*" in read(asked_again(), CARD)
    assert "↪︎ *Its run had failed: asked again below*" in read(finished(), CARD)


def test_the_status_of_a_run_that_was_taken_on_says_so() -> None:
    status = read(taken_on(), "status")
    assert "taken on again after it had failed" in status
    assert f"is to be asked again: {WHY}" in status
    assert "Failed" not in status
    assert read(finished(), "status").count("Done") == 1


def test_each_end_has_a_message_of_its_own() -> None:
    twice = begun().then(RunFailed(error="one")).then(reopened()).then(RunFailed(error="two"))
    thrice = twice.then(reopened()).then(RunFailed(error="three"))
    wanted = [(one.key, one.is_past) for one in desired(thrice.state)]
    assert wanted == [("status", False), ("answer", True), ("answer.2", True), ("answer.3", False)]
    assert "three" in read(thrice, "answer.3")
