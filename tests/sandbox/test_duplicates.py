"""One `action_id` in several blocks: noted wherever blocks come in, and asked about at a click."""

from __future__ import annotations

from typing import Any

from tests.sandbox.driving import Driver, buttons, modal, text_input
from tests.sandbox.hearing import Hearing

TWICE = [*buttons("yes"), *buttons("yes")]


def noted(driver: Driver) -> list[str]:
    found = [one for one in driver.sandbox.record.violations if "yes is there 2" in one["detail"]]
    driver.sandbox.record.violations.clear()
    assert all(one["kind"] == "duplicate_action_id" for one in found)
    return [one["method"] for one in found]


async def test_calls(driver: Driver) -> None:
    slack, issue = driver.slack, driver.sandbox.triggers.issue
    there: dict[str, Any] = {"channel": "C0OPS", "text": "x", "blocks": TWICE}
    ts = (await slack.chat_postMessage(**there))["ts"]
    await slack.chat_update(**there, ts=ts)
    await slack.chat_postEphemeral(**there, user="U0BOB")
    assert noted(driver) == ["chat.postMessage", "chat.update", "chat.postEphemeral"]
    view = modal(*TWICE)
    opened = await slack.views_open(trigger_id=issue("U0BOB"), view=view)
    await slack.views_push(trigger_id=issue("U0BOB"), view=view)
    await slack.views_update(view_id=opened["view"]["id"], view=view)
    await slack.views_publish(user_id="U0BOB", view={"type": "home", "blocks": TWICE})
    assert noted(driver) == ["views.open", "views.push", "views.update", "views.publish"]
    thread = driver.said("U0BOB", "D0BOB")
    stream = await slack.chat_startStream(channel="D0BOB", thread_ts=thread)
    await slack.chat_stopStream(channel="D0BOB", ts=stream["ts"], blocks=TWICE)
    assert noted(driver) == ["chat.stopStream"]


async def test_answers(app: Hearing) -> None:
    app.answers = [{"text": "x", "blocks": TWICE}]
    await app.act("command", channel="C0OPS", command="/agent", text="")
    async with app.driver.http.post(app.heard[0]["response_url"], json={"blocks": TWICE}) as posted:
        assert posted.status == 200
    assert noted(app.driver) == ["a response", "a response"]
    for action in ("update", "push"):
        view_id = await app.open(modal())
        app.answers = [{"response_action": action, "view": modal(*TWICE)}]
        await app.act("submit", view_id=view_id)
        assert noted(app.driver) == ["view_submission"]


async def test_inputs_of_a_modal_may_share_one(driver: Driver) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    view = modal(text_input("a", action_id="yes"), text_input("b", action_id="yes"))
    await driver.slack.views_open(trigger_id=trigger_id, view=view)
    assert driver.violations == []
    for block in view["blocks"]:
        block["dispatch_action"] = True
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    await driver.slack.views_open(trigger_id=trigger_id, view=view)
    assert noted(driver) == ["views.open"]


async def test_a_click_says_which(driver: Driver, app: Hearing) -> None:
    blocks = [{**block, "block_id": name} for block, name in zip(TWICE, "ab", strict=True)]
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks)
    click = {"as": "U0BOB", "do": "click", "channel": "C0OPS", "ts": posted["ts"]}
    click["action_id"] = "yes"
    status, answer = await driver.request("POST", "/sandbox/act", click)
    assert (status, answer["error"]) == (400, "yes is there 2 times: say `block_id`, of a, b.")
    status, answer = await driver.request("POST", "/sandbox/act", {**click, "block_id": "b"})
    assert (status, answer["acknowledged"]) == (200, True)
