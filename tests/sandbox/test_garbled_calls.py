"""What no app should send: Slack says no in its own words, and nothing breaks."""

from __future__ import annotations

import base64
import json
from typing import Any

import aiohttp
import pytest

from tests.sandbox.driving import Driver
from tests.sandbox.refusals import error_of

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=B"
UNENDED = b'--B\r\nContent-Disposition: form-data; name="text"\r\n\r\nhello'


def nested(levels: int) -> Any:
    part: dict[str, Any] = {"type": "rich_text_section", "elements": []}
    for _ in range(levels):
        part = {"type": "rich_text_list", "style": "bullet", "elements": [part]}
    return [{"type": "rich_text", "elements": [part]}]


def message(**more: Any) -> bytes:
    return json.dumps({"channel": "C0OPS", "text": "x", **more}).encode()


BODIES: list[tuple[str, bytes, str]] = [
    (JSON, b'{"channel": "C0OPS", "text": "\xff"}', "invalid_json"),
    (JSON, b'{"channel": "C0OPS", "text": NaN}', "invalid_json"),
    (JSON, message(blocks=nested(300)), "invalid_json"),
    (JSON, b"[" * 100_000, "invalid_json"),
    (JSON, message(blocks="[" * 100_000), "invalid_blocks_format"),
    (JSON, message(blocks=nested(3)), "invalid_blocks"),
    (JSON, message(blocks=[{"type": []}]), "invalid_blocks"),
    (JSON, message(blocks=[{"type": "actions", "elements": [{"type": {}}]}]), "invalid_blocks"),
    (JSON, message(text={"a": 1}), "invalid_arguments"),
    ("application/json; charset=bogus", message(), "invalid_charset"),
    (FORM, b"channel=C0OPS&text=\xff", "invalid_form_data"),
    (f"{FORM}; charset=bogus", b"channel=C0OPS&text=x", "invalid_charset"),
    (PARTS, b"nothing of the kind", "invalid_form_data"),
    (PARTS, UNENDED, "invalid_form_data"),
    (PARTS, b"--B\r\nno header\r\n\r\nx\r\n--B--\r\n", "invalid_form_data"),
    ("multipart/form-data", b"x", "invalid_form_data"),
]


@pytest.mark.parametrize(("content_type", "body", "error"), BODIES)
async def test_a_garbled_body_is_told(
    driver: Driver, content_type: str, body: bytes, error: str
) -> None:
    headers = {"Content-Type": content_type, "Authorization": "Bearer xoxb-sandbox"}
    url = f"{driver.running.api_url}chat.postMessage"
    async with driver.http.post(url, data=body, headers=headers) as response:
        assert (response.status, (await response.json())["error"]) == (200, error)


NUMBERS: list[tuple[str, dict[str, str], str]] = [
    ("users.list", {"limit": "1e999"}, "invalid_arguments"),
    ("users.list", {"limit": "9" * 5000}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"filename": "a", "length": "1e999"}, "invalid_arguments"),
    *(
        (
            method,
            {"channel": "C0OPS", "cursor": base64.b64encode(cursor).decode()},
            "invalid_cursor",
        )
        for cursor in (b"next:nan", b"next:inf", b"next:-5", b"next:" + b"9" * 400, b"\xff")
        for method in ("users.list", "conversations.history")
    ),
]


@pytest.mark.parametrize(("method", "arguments", "error"), NUMBERS)
async def test_what_is_no_number_or_cursor_is_told(
    driver: Driver, method: str, arguments: dict[str, str], error: str
) -> None:
    assert await error_of(driver.slack.api_call(method, params=arguments)) == error


async def test_a_file_among_the_arguments_can_be_looked_at_afterwards(driver: Driver) -> None:
    form = aiohttp.FormData({"channel": "C0OPS"})
    form.add_field("text", b"hello", filename="a.txt")
    headers = {"Authorization": "Bearer xoxb-sandbox"}
    url = f"{driver.running.api_url}chat.postMessage"
    async with driver.http.post(url, data=form, headers=headers) as response:
        assert (await response.json())["error"] == "invalid_arguments"
    (call,) = await driver.get("/sandbox/calls")
    assert call["arguments"] == {"channel": "C0OPS", "text": {"filename": "a.txt"}}
