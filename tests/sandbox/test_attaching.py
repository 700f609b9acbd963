"""What people put beside a message: as an app is told of it, and fetches it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bot.sandbox.guesses import Guesses
from bot.sandbox.tokens import BOT_SCOPES
from bot.sandbox.wire import Refusal
from tests.sandbox.driving import Driver, driving
from tests.sandbox.hearing import Hearing, hearing

CSV = {"name": "orders.csv", "content": "order,amount\nORD-3300,180\n"}
PNG = {"name": "a b.PNG", "content_base64": base64.b64encode(b"\x89PNG").decode()}


async def fetched(driver: Driver, url: str, token: str) -> tuple[int, str, bytes]:
    headers = {"Authorization": f"Bearer {token}"}
    async with driver.http.get(url, headers=headers, allow_redirects=False) as response:
        return response.status, response.content_type, await response.read()


def events(app: Hearing) -> dict[str, dict[str, Any]]:
    return {one["event"]["type"]: one["event"] for one in app.heard}


async def test_a_mention_with_files_is_told_thrice_and_the_files_are_fetched(app: Hearing) -> None:
    said = await app.act("message", channel="C0OPS", text="@Pilothouse these", files=[CSV, PNG])
    assert said["acknowledged"]
    told = events(app)
    assert set(told) == {"app_mention", "message", "file_shared"}
    message, mention = told["message"], told["app_mention"]
    assert (message["subtype"], "subtype" in mention) == ("file_share", False)
    assert message["files"] == mention["files"]
    assert "team" not in message
    csv, png = message["files"]
    assert (csv["user"], csv["mimetype"], csv["size"]) == ("U0BOB", "text/csv", 26)
    assert (png["name"], png["filetype"], png["mode"]) == ("a b.PNG", "png", "hosted")
    assert told["file_shared"]["file"]["id"] in (csv["id"], png["id"])
    got = await fetched(app.driver, csv["url_private"], "xoxb-sandbox")
    assert got == (200, "text/csv", CSV["content"].encode())
    (shown,) = await app.driver.messages("C0OPS")
    assert [one["id"] for one in shown["files"]] == [csv["id"], png["id"]]
    found = (await app.driver.slack.files_info(file=png["id"]))["file"]
    assert found["shares"]["private"]["C0OPS"][0]["ts"] == said["ts"]


async def test_bytes_go_to_a_token_that_may_read_files_and_others_are_asked_to_sign_in(
    app: Hearing,
) -> None:
    await app.act("message", channel="C0OPS", files=[CSV])
    url = events(app)["message"]["files"][0]["url_private_download"]
    app.driver.sandbox.tokens.add("xoxb-blind", set(BOT_SCOPES) - {"files:read"})
    assert (await fetched(app.driver, url, "xoxb-blind"))[0] == 302
    headers = {"Authorization": "Bearer xoxb-blind"}
    async with app.driver.http.get(url, headers=headers) as response:
        assert (response.status, response.content_type) == (200, "text/html"), "a page, no file"


async def test_files_without_words_and_with_words_of_their_kind(app: Hearing) -> None:
    log = {"name": "log", "content": "", "mimetype": "text/x-log"}
    link = {"name": "Plan", "link": "https://docs.example/plan"}
    await app.act("message", channel="D0BOB", files=[log, link])
    message = events(app)["message"]
    assert (message["text"], "blocks" in message) == ("", False)
    mine, elsewhere = message["files"]
    assert (mine["mimetype"], mine["size"]) == ("text/x-log", 0)
    assert (elsewhere["mode"], elsewhere["is_external"]) == ("external", True)
    assert elsewhere["url_private"] == "https://docs.example/plan"
    assert "url_private_download" not in elsewhere


async def test_of_a_file_from_another_workspace_the_app_has_to_ask(app: Hearing) -> None:
    await app.act("message", user="U0DAVE", channel="C0SHARED", text="here", files=[CSV])
    (file,) = events(app)["message"]["files"]
    assert file["file_access"] == "check_file_info"
    assert "url_private" not in file
    found = (await app.driver.slack.files_info(file=file["id"]))["file"]
    assert (found["name"], found["user_team"]) == ("orders.csv", "T0OTHER")


async def test_a_mention_may_come_without_the_files_of_its_message() -> None:
    async with driving(guesses=Guesses(files_in_mentions=False)) as driver, hearing(driver) as app:
        await app.act("message", channel="C0OPS", text="@Pilothouse this", files=[CSV])
        told = events(app)
        assert "files" not in told["app_mention"]
        assert len(told["message"]["files"]) == 1


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ("a.csv", "`files` is a list"),
        ([{"content": "x"}], "A file has a `name`"),
        ([{"name": "a"}], "one of `content`"),
        ([{**CSV, "link": "https://a.example"}], "one of `content`"),
        ([{"name": "a", "content": 1}], "words for everything else"),
        ([{"name": "a", "content_base64": "?"}], "no base64"),
        ([{**CSV, "size": "1"}], "and no size"),
    ],
)
async def test_what_is_no_file_is_refused(driver: Driver, files: Any, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        await driver.running.act("U0BOB", "message", channel="C0OPS", text="x", files=files)
    assert await driver.messages("C0OPS") == []
