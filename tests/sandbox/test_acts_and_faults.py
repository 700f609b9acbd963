"""Wrong acts are told so; faults hit the calls they are meant for; foreign pages are kept out."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.act.inputs import NotTaken, as_value
from bot.sandbox.act.typing import as_sent
from bot.sandbox.workspace import Workspace
from tests.sandbox.driving import Driver, ManualClock, buttons, driving, modal, text_input

SAY = {"as": "U0ALICE", "do": "message", "channel": "C0OPS", "text": "x"}
CLICK = {"as": "U0BOB", "do": "click", "channel": "C0OPS", "action_id": "approval.approve"}
WRONG_ACTS = [
    ({**SAY, "as": "U0NONE"}, 404, "No user U0NONE"),
    ({**SAY, "as": "U0PILOT"}, 404, "No user U0PILOT"),
    ({**SAY, "channel": "C0NONE"}, 404, "No channel C0NONE"),
    ({**SAY, "thread_ts": "1.1"}, 404, "No message 1.1"),
    ({**SAY, "do": "dance"}, 400, "`do` is one of"),
    ({"as": "U0ALICE", "do": "message", "channel": "C0OPS"}, 400, "`text` is missing"),
    ({**SAY, "do": "command", "command": "agent"}, 400, "begins with a slash"),
    ({**CLICK, "ts": "1.1"}, 404, "No message 1.1"),
    ({"as": "U0BOB", "do": "submit", "view_id": "V0NONE"}, 404, "no view V0NONE"),
    ({"as": "U0BOB", "do": "close", "view_id": "V0NONE"}, 404, "no view V0NONE"),
]


@pytest.mark.parametrize(("body", "status", "why"), WRONG_ACTS)
async def test_wrong_acts(driver: Driver, body: Any, status: int, why: str) -> None:
    found, answer = await driver.request("POST", "/sandbox/act", body)
    assert found == status
    assert not answer["ok"]
    assert why in answer["error"]


async def test_button_that_never_was_is_not_clicked(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="?", blocks=buttons("other"))
    body = {**CLICK, "ts": posted["ts"]}
    status, answer = await driver.request("POST", "/sandbox/act", body)
    assert (status, answer["error"]) == (
        404,
        f"No approval.approve on message {posted['ts']}. There are: other.",
    )


async def test_unknown_places_are_told(driver: Driver) -> None:
    for path, status in [
        ("/sandbox/channels/C0NONE/messages", 404),
        ("/sandbox/channels/C0OPS/messages?thread_ts=1.1", 404),
        ("/sandbox/views?as=U0NONE", 404),
        ("/sandbox/home", 400),
        ("/sandbox/calls?since=yesterday", 400),
    ]:
        assert (await driver.request("GET", path))[0] == status


async def test_submission_names_blocks_that_are_there(driver: Driver) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    view = modal(text_input("arg.amount"))
    opened = await driver.slack.views_open(trigger_id=trigger_id, view=view)
    body = {"as": "U0BOB", "do": "submit", "view_id": opened["view"]["id"]}
    status, answer = await driver.request(
        "POST", "/sandbox/act", {**body, "values": {"amount": "1"}}
    )
    assert status == 400
    assert "arg.amount" in answer["error"]
    status, _ = await driver.request("POST", "/sandbox/act", {**body, "as": "U0ALICE"})
    assert status == 404, "another person's modal"


OPTIONS = [{"text": {"type": "plain_text", "text": "A"}, "value": "a"}]
VALUES: list[tuple[dict[str, Any], Any, Any]] = [
    ({"type": "plain_text_input"}, 90, "90"),
    ({"type": "plain_text_input", "max_length": 2}, "abc", None),
    ({"type": "plain_text_input", "min_length": 4}, "abc", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "90.5", "90.5"),
    ({"type": "number_input", "is_decimal_allowed": False}, "90.5", None),
    ({"type": "number_input", "is_decimal_allowed": True, "max_value": "90"}, "91", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "many", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "NaN", None),
    ({"type": "static_select", "options": OPTIONS}, "a", OPTIONS[0]),
    ({"type": "radio_buttons", "options": OPTIONS}, "b", None),
    ({"type": "checkboxes", "options": OPTIONS}, ["a"], OPTIONS),
    ({"type": "datepicker"}, "2026-12-24", "2026-12-24"),
    ({"type": "datepicker"}, "tomorrow", None),
    ({"type": "url_text_input"}, "example", None),
    ({"type": "email_text_input"}, "a@example.com", "a@example.com"),
]


@pytest.mark.parametrize(("element", "given", "expected"), VALUES)
def test_values_are_those_that_slacks_client_takes(
    element: dict[str, Any], given: Any, expected: Any
) -> None:
    if expected is not None:
        assert as_value(element, given) == expected
        return
    with pytest.raises(NotTaken):
        as_value(element, given)


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@Pilothouse hi", "<@U0PILOT> hi"),
        ("please @PILOTHOUSE: go", "please <@U0PILOT>: go"),
        ("<@U0PILOT> hi <b>", "<@U0PILOT> hi &lt;b&gt;"),
        ("mail@pilothouse", "mail@pilothouse"),
        ("@pilothouses", "@pilothouses"),
        ("@finance & @Bob", "<!subteam^S0FINANCE> &amp; <@U0BOB>"),
    ],
)
def test_typed_text_becomes_slacks(typed: str, sent: str) -> None:
    assert as_sent(typed, Workspace.seeded()) == sent


async def test_answer_is_lost_after_the_message_was_posted(driver: Driver) -> None:
    driver.slack.retry_handlers = []
    await driver.fault(method="chat.postMessage", drop_after_commit=True)
    with pytest.raises(aiohttp.ClientError):
        await driver.slack.chat_postMessage(channel="C0OPS", text="once")
    assert [one["text"] for one in await driver.messages("C0OPS")] == ["once"]
    await driver.slack.chat_postMessage(channel="C0OPS", text="again")
    assert len(await driver.messages("C0OPS")) == 2


async def test_faults_hit_so_many_calls_of_one_method(driver: Driver) -> None:
    await driver.fault(method="chat.postMessage", error="fatal_error", times=2)
    await driver.fault(method="chat.postMessage", status=503, contains="unlucky")
    assert len(await driver.get("/sandbox/faults")) == 2
    assert (await driver.slack.auth_test())["ok"]
    for _ in range(2):
        with pytest.raises(SlackApiError, match="fatal_error"):
            await driver.slack.chat_postMessage(channel="C0OPS", text="x")
    await driver.slack.chat_postMessage(channel="C0OPS", text="lucky")
    with pytest.raises(SlackApiError) as error:
        await driver.slack.chat_postMessage(channel="C0OPS", text="unlucky")
    assert error.value.response.status_code == 503
    assert [one["text"] for one in await driver.messages("C0OPS")] == ["lucky"]
    await driver.fault(latency=60)
    await driver.request("DELETE", "/sandbox/faults")
    assert await driver.get("/sandbox/faults") == []
    for wrong in ({}, {"error": "x", "status": 500}, {"eror": "x"}, {"error": "x", "times": "?"}):
        assert (await driver.request("POST", "/sandbox/faults", wrong))[0] == 400


async def test_call_before_its_retry_after_is_a_violation_and_an_obeyed_one_is_none() -> None:
    clock = ManualClock()
    async with driving(clock=clock) as driver:
        post = driver.slack.chat_postMessage
        await driver.fault(method="chat.postMessage", ratelimited=True, retry_after=2)
        for step, violations in ((0.0, 0), (1.0, 1)):
            clock.now += step
            with pytest.raises(SlackApiError) as error:
                await post(channel="C0OPS", text="x")
            assert error.value.response.status_code == 429
            assert error.value.response["error"] == "ratelimited"
            assert error.value.response.headers["Retry-After"] == str(2 - violations)
            assert len(await driver.get("/sandbox/violations")) == violations
        clock.now += 1.0
        await post(channel="C0OPS", text="x")
        (violation,) = await driver.get("/sandbox/violations")
        assert violation["kind"] == "call_before_retry_after"


async def test_other_sites_are_turned_away(driver: Driver) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        async with driver.http.post(
            driver.running.url + "/sandbox/act", json=SAY, headers=headers
        ) as response:
            assert response.status == 403


async def test_page_and_its_files_are_served_with_a_strict_policy(driver: Driver) -> None:
    for path, kind in [("/", "text/html"), ("/page/app.js", "text/javascript")]:
        async with driver.http.get(driver.running.url + path) as response:
            assert response.content_type == kind
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert (await driver.request("GET", "/page/server.py"))[0] == 404
