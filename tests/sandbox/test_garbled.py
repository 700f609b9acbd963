"""What makes no sense is refused in plain words, whoever says it, and breaks nothing."""

from __future__ import annotations

import pytest

from tests.sandbox.driving import Driver
from tests.sandbox.endpoint import Answer, answering, one_endpoint, say
from tests.sandbox.hearing import Hearing

DEEP = "[" * 100_000 + "]" * 100_000
#: Python's parser takes it, and what writes or copies it again does not.
RATHER_DEEP = "[" * 400 + "]" * 400
GARBLED = [b"\xff\xfe", DEEP.encode(), RATHER_DEEP.encode(), b'{"a": NaN}', b'{"a": 1e999}', b"[]"]


@pytest.mark.parametrize("path", ["/sandbox/act", "/sandbox/faults", "/response/x"])
@pytest.mark.parametrize("body", [*GARBLED, b'{"a": %s}' % RATHER_DEEP.encode()])
async def test_a_body_that_is_no_object_of_json_is_told(
    driver: Driver, path: str, body: bytes
) -> None:
    async with driver.http.post(driver.running.url + path, data=body) as response:
        assert response.status == 400
        assert "The body" in (await response.json())["error"]


@pytest.mark.parametrize("charset", ["bogus", "hex"])
async def test_so_is_a_charset_that_there_is_not(driver: Driver, charset: str) -> None:
    headers = {"Content-Type": f"application/json; charset={charset}"}
    url = f"{driver.running.url}/sandbox/act"
    async with driver.http.post(url, data=b"{}", headers=headers) as response:
        assert response.status == 400


@pytest.mark.parametrize(
    "metadata",
    [
        '{"event_type": "e", "event_payload": {"a": NaN}}',
        '{"event_type": "e", "event_payload": %s}',
    ],
)
async def test_metadata_is_json(driver: Driver, metadata: str) -> None:
    body = {"channel": "C0OPS", "text": "x", "metadata": metadata.replace("%s", RATHER_DEEP)}
    headers = {"Authorization": "Bearer xoxb-sandbox"}
    url = f"{driver.running.url}/api/chat.postMessage"
    async with driver.http.post(url, json=body, headers=headers) as response:
        assert (await response.json())["error"] == "invalid_metadata_format"


@pytest.mark.parametrize(
    "answer",
    [
        answering(307, Location="http://[bad"),
        answering(307, Location="nowhere://x"),
        answering(200, text="x", Content_Type="text/plain; charset=hex"),
    ],
)
async def test_an_answer_that_is_none_is_an_error_of_http(answer: Answer) -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answer]
        said = await driver.act("U0BOB", "command", channel="C0OPS", command="/agent")
        assert (said["acknowledged"], said["why"]) == (False, "http_error")


async def test_a_deeply_nested_answer_is_text() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answering(200, text=DEEP), answering(200, text=RATHER_DEEP)]
        for _ in range(2):
            assert (await say(driver))["acknowledged"]


async def test_a_deeply_nested_frame_is_skipped_and_the_socket_lives(driver: Driver) -> None:
    url = (await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"]
    async with driver.http.ws_connect(str(url)) as ws:
        await ws.receive_json()
        for frame in (DEEP, RATHER_DEEP, '{"envelope_id": NaN}', "5", "{}"):
            await ws.send_str(frame)
        await driver.slack.chat_postMessage(channel="C0OPS", text="x")
        assert (await ws.receive_json())["type"] == "events_api"


async def test_the_sixth_use_of_a_response_url_is_told(app: Hearing) -> None:
    await app.act("command", channel="C0OPS", command="/agent", text="")
    url = app.heard[-1]["response_url"]

    async def use(**body: object) -> int:
        async with app.driver.http.post(url, json={"text": "x", **body}) as response:
            return response.status

    assert [await use() for _ in range(6)] == [200] * 5 + [404]
    assert [one["detail"] for one in app.driver.sandbox.record.violations] == ["used_url"]


async def test_to_replace_what_is_gone_breaks_no_rule(app: Hearing) -> None:
    posted = await app.post([{"type": "actions", "elements": [BUTTON]}])
    await app.act("click", **posted, action_id="go")
    await app.driver.slack.chat_delete(**posted)
    body = {"text": "x", "replace_original": True}
    async with app.driver.http.post(app.heard[-1]["response_url"], json=body) as response:
        assert (await response.json())["error"] == "message_not_found"
    assert app.violations == []


BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
