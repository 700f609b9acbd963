"""What passed once can be sent again, exactly as it was, and Slack's own rules hold for it."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.driving import Driver, buttons, driving, modal
from tests.sandbox.endpoint import answering, command, one_endpoint, say
from tests.sandbox.hearing import Hearing, hearing

Json = dict[str, Any]


async def again(driver: Driver, seq: int, **more: Any) -> Any:
    status, body = await driver.request("POST", "/sandbox/again", {"seq": seq, **more})
    assert status == 200, body
    return body


def last(driver: Driver, kind: str, **wanted: Any) -> Json:
    """The newest entry of this kind with these facts."""
    entries: list[Json] = driver.sandbox.record.calls()
    return next(
        one
        for one in reversed(entries)
        if one["kind"] == kind and all(one.get(name) == value for name, value in wanted.items())
    )


async def test_an_event_comes_again_as_it_was_and_on_request_as_a_retry(
    driver: Driver, app: Hearing
) -> None:
    await driver.act("U0BOB", "message", channel="D0BOB", text="hello")
    first = last(driver, "delivery")
    answer = await again(driver, first["seq"])
    assert (answer["ok"], answer["acknowledged"]) == (True, True)
    await again(driver, first["seq"], as_retry=True)
    _, plain, retry = driver.running.deliveries("events_api")
    assert plain["payload"] == retry["payload"] == first["payload"]
    assert [plain["retry_attempt"], retry["retry_attempt"]] == [0, 1]
    assert (plain["seq"], plain["envelope_id"] != first["envelope_id"]) == (answer["seq"], True)
    assert [one["event_id"] for one in app.heard] == [first["event_id"]] * 3
    await again(driver, retry["seq"], as_retry=True)
    assert last(driver, "delivery")["retry_attempt"] == 2
    assert last(driver, "again") | {"at": 0} == {
        "seq": last(driver, "again")["seq"],
        "at": 0,
        "kind": "again",
        "of": retry["seq"],
        "as_retry": True,
    }


async def test_over_http_a_retry_has_the_headers_and_a_command_is_signed_anew() -> None:
    async with one_endpoint() as (endpoint, driver):
        await say(driver)
        await again(driver, last(driver, "delivery")["seq"], as_retry=True)
        assert endpoint.retries == [(None, None), ("1", "http_timeout")]
        assert endpoint.bodies[0] == endpoint.bodies[1]
        endpoint.answers = [answering(), answering(text="so it is")]
        await command(driver)
        answer = await again(driver, last(driver, "delivery", type="slash_commands")["seq"])
        assert answer["response"] == {"text": "so it is"}
        assert endpoint.bodies[2] == endpoint.bodies[3]
        # It was asked of the app alone: what it answers is shown to nobody.
        assert driver.running.ephemerals("U0BOB") == []


async def test_one_more_delivery_is_not_itself_repeated() -> None:
    async with one_endpoint() as (endpoint, driver):
        await say(driver)
        endpoint.answers = [answering(500)]
        answer = await again(driver, last(driver, "delivery")["seq"])
        assert (answer["acknowledged"], answer["why"]) == (False, "http_error")
        await say(driver)
        assert len(endpoint.bodies) == 3


async def test_a_click_again_has_the_trigger_and_the_response_url_that_it_had() -> None:
    async with driving(clock=1_800_000_000.0) as driver, hearing(driver) as app:
        spot = await app.post(buttons("go"))
        await app.act("click", **spot, action_id="go")
        payload = app.heard[-1]
        slack = driver.slack
        await slack.views_open(trigger_id=payload["trigger_id"], view=modal())
        await again(driver, last(driver, "delivery", type="interactive")["seq"])
        assert app.heard[-1] == payload
        with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
            await slack.views_open(trigger_id=payload["trigger_id"], view=modal())

        url = str(payload["response_url"])
        async with driver.http.post(url, json={"text": "hm"}) as response:
            assert response.status == 200
        call = last(driver, "call", method="response_url")
        answers = [await again(driver, call["seq"]) for _ in range(5)]
        assert [one["status"] for one in answers] == [200] * 4 + [404]
        assert [one["answer"] for one in answers][3:] == ["ok", {"ok": False, "error": "used_url"}]
        assert len(driver.running.ephemerals("U0BOB")) == 5


async def test_a_call_is_made_again_with_the_token_that_nobody_is_shown(driver: Driver) -> None:
    await driver.request(
        "POST", "/sandbox/tokens", {"token": "xoxb-reader", "scopes": ["users:read"]}
    )
    await driver.slack.chat_postMessage(channel="C0OPS", text="once")
    posted = last(driver, "call")
    made = await again(driver, posted["seq"])
    assert (made["ok"], made["status"], made["answer"]["ok"]) == (True, 200, True)
    assert made["answer"]["ts"] != posted["answer"]["ts"]
    assert [one["text"] for one in await driver.messages("C0OPS")] == ["once", "once"]

    with pytest.raises(SlackApiError):
        await driver.slack.chat_postMessage(channel="C0OPS", text="x", token="xoxb-reader")
    answer = (await again(driver, last(driver, "call")["seq"]))["answer"]
    assert (answer["error"], answer["provided"]) == ("missing_scope", "users:read")

    for path in ("/sandbox/calls", "/sandbox/inspector", f"/sandbox/calls/{posted['seq']}"):
        assert "xoxb" not in str(await driver.get(path)), path

    await driver.slack.api_test(token="")
    assert (await again(driver, last(driver, "call")["seq"]))["answer"]["ok"]

    await driver.fault(method="chat.postMessage", drop_after_commit=True)
    lost = await again(driver, posted["seq"])
    assert lost == {"ok": True, "lost": True, "seq": last(driver, "call")["seq"]}
    assert len(await driver.messages("C0OPS")) == 3


async def test_what_cannot_be_sent_again_is_refused_with_a_reason(
    driver: Driver, app: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SlackApiError):
        await driver.slack.auth_test(token="xoxb-of-nobody")
    strange = last(driver, "call")["seq"]
    spot = await app.post(buttons("go"))
    await app.act("click", **spot, action_id="go")
    click = last(driver, "delivery", type="interactive")["seq"]
    acknowledged = last(driver, "acknowledgement")["seq"]
    upload = driver.sandbox.record.note("call", method="upload", file="F1", status=200)["seq"]
    for body, status, words in [
        ({}, 400, "`seq` is the number"),
        ({"seq": True}, 400, "`seq` is the number"),
        ({"seq": click, "as_retry": "yes"}, 400, "true or false"),
        ({"seq": click, "again": 1}, 400, "Known: seq, as_retry"),
        ({"seq": click, "as_retry": True}, 400, "Only an event comes as a retry"),
        ({"seq": acknowledged}, 400, "Only calls and deliveries"),
        ({"seq": strange}, 400, "without a token of this sandbox"),
        ({"seq": upload}, 400, "bytes of a file"),
        ({"seq": 99_999}, 404, "No entry 99999"),
    ]:
        got, said = await driver.request("POST", "/sandbox/again", body)
        assert (got, said["ok"]) == (status, False)
        assert words in said["error"]
    monkeypatch.setattr("bot.sandbox.record.KEPT", 1)
    driver.sandbox.record.note("again", of=1, as_retry=False)
    got, said = await driver.request("POST", "/sandbox/again", {"seq": click})
    assert (got, "is no longer kept" in said["error"]) == (404, True)
    assert (await driver.request("GET", f"/sandbox/calls/{click}"))[0] == 404
