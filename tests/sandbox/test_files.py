"""Files: uploaded as the SDK does it, shared, fetched back, deleted."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from bot.sandbox.wire import Refusal
from tests.sandbox.driving import Driver, bolt_app, connected
from tests.sandbox.refusals import error_of


async def upload(driver: Driver, content: bytes, name: str = "args.json") -> str:
    announced = await driver.slack.files_getUploadURLExternal(filename=name, length=len(content))
    async with driver.http.post(announced["upload_url"], data=content) as response:
        assert response.status == 200, await response.text()
    return str(announced["file_id"])


async def fetch(driver: Driver, url: str, token: str = "xoxb-sandbox") -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {token}"}
    async with driver.http.get(url, headers=headers, allow_redirects=False) as response:
        return response.status, await response.read()


async def test_a_file_is_shared_in_a_thread_and_fetched_back(driver: Driver) -> None:
    slack = driver.slack
    parent = await slack.chat_postMessage(channel="C0OPS", text="asked")
    content = b'{"amount": 180}' * 1000
    done = await slack.files_upload_v2(
        filename="args.json",
        content=content,
        title="Arguments",
        channel="C0OPS",
        thread_ts=parent["ts"],
        initial_comment="In full, 1 < 2",
    )
    (message,) = (await driver.messages("C0OPS", parent["ts"]))[1:]
    assert (message["subtype"], message["text"]) == ("file_share", "In full, 1 &lt; 2")
    (shared,) = message["files"]
    assert (shared["title"], shared["size"]) == ("Arguments", len(content))
    assert shared["mimetype"] == "application/json"
    found = (await slack.files_info(file=done["files"][0]["id"]))["file"]
    assert found["groups"] == ["C0OPS"]
    (share,) = found["shares"]["private"]["C0OPS"]
    assert (share["ts"], share["thread_ts"]) == (message["ts"], parent["ts"])
    assert await fetch(driver, found["url_private"]) == (200, content)
    assert (await fetch(driver, found["url_private"], "xoxb-wrong"))[0] == 302
    assert await fetch(driver, found["url_private_download"]) == (200, content)


async def test_the_app_is_told_of_a_file_that_was_shared(driver: Driver) -> None:
    file_id = await upload(driver, b"x")
    await driver.slack.files_completeUploadExternal(files=[{"id": file_id}], channel_id="C0OPS")
    async with connected(bolt_app(driver.running)):

        async def told() -> list[Any]:
            events = [one["payload"]["event"] for one in await driver.deliveries()]
            return events if len(events) == 2 else []

        message, shared = sorted(
            await driver.running.until(told), key=lambda event: event["type"], reverse=True
        )
    assert (message["subtype"], message["files"][0]["id"]) == ("file_share", file_id)
    assert (shared["type"], shared["file_id"]) == ("file_shared", file_id)


async def test_a_file_is_not_shared_any_more_where_its_message_was_deleted(driver: Driver) -> None:
    slack, file_id = driver.slack, await upload(driver, b"x")
    await slack.files_completeUploadExternal(files=[{"id": file_id}], channel_id="C0SUPPORT")
    (message,) = await driver.messages("C0SUPPORT")
    shared = (await slack.files_info(file=file_id))["file"]
    assert list(shared["shares"]["public"]) == ["C0SUPPORT"]
    await slack.chat_delete(channel="C0SUPPORT", ts=message["ts"])
    gone = (await slack.files_info(file=file_id))["file"]
    assert (gone["shares"], gone["channels"], gone["is_public"]) == ({}, [], False)


async def test_a_deleted_file_leaves_a_tombstone(driver: Driver) -> None:
    slack, file_id = driver.slack, await upload(driver, b"x")
    done = await slack.files_completeUploadExternal(
        files=[{"id": file_id, "title": "T"}], channel_id="C0SUPPORT"
    )
    await slack.files_delete(file=file_id)
    (message,) = await driver.messages("C0SUPPORT")
    assert message["files"] == [{"id": file_id, "mode": "tombstone"}]
    assert await error_of(slack.files_info(file=file_id)) == "file_deleted"
    assert await error_of(slack.files_delete(file=file_id)) == "file_deleted"
    assert (await fetch(driver, done["files"][0]["url_private"]))[0] == 404


async def test_a_file_outlives_the_message_that_was_deleted(driver: Driver) -> None:
    slack, file_id = driver.slack, await upload(driver, b"x")
    await slack.files_completeUploadExternal(files=[{"id": file_id}], channel_id="C0SUPPORT")
    (message,) = await driver.messages("C0SUPPORT")
    await slack.chat_postMessage(channel="C0SUPPORT", text="a reply", thread_ts=message["ts"])
    await slack.chat_delete(channel="C0SUPPORT", ts=message["ts"])
    await slack.files_delete(file=file_id)
    (tomb,) = await driver.messages("C0SUPPORT")
    assert (tomb["subtype"], "files" in tomb) == ("tombstone", False)


async def test_a_files_name_has_its_place_in_an_address(driver: Driver) -> None:
    for name, inside in [("Größe #1/2?.TXT", "gr__e__1_2_.txt"), ("..", "file")]:
        file_id = await upload(driver, b"x", name)
        await driver.slack.files_completeUploadExternal(files=[{"id": file_id}])
        file = (await driver.slack.files_info(file=file_id))["file"]
        assert file["url_private"].endswith(f"{file_id}/{inside}")
        assert (await fetch(driver, file["url_private"]))[0] == 200


async def test_a_form_with_a_file_is_taken_too(driver: Driver) -> None:
    announced = await driver.slack.files_getUploadURLExternal(filename="a.txt", length=3)
    form = aiohttp.FormData()
    form.add_field("file", b"abc", filename="a.txt")
    async with driver.http.post(announced["upload_url"], data=form) as response:
        assert await response.text() == "OK - 3"


async def test_bytes_must_be_as_many_as_were_announced(driver: Driver) -> None:
    slack = driver.slack
    announced = await slack.files_getUploadURLExternal(filename="a.txt", length=3)
    for content in (b"ab", b"abcd"):
        async with driver.http.post(announced["upload_url"], data=content) as response:
            assert response.status == 400
    complete = slack.files_completeUploadExternal
    early = complete(files=[{"id": announced["file_id"]}])
    assert await error_of(early) == "file_not_found"
    async with driver.http.post(announced["upload_url"] + "x", data=b"abc") as response:
        assert response.status == 404


async def test_errors_of_uploads(driver: Driver) -> None:
    slack, file_id = driver.slack, await upload(driver, b"x")
    announce, complete = slack.files_getUploadURLExternal, slack.files_completeUploadExternal
    assert await error_of(announce(filename="a", length=0)) == "missing_argument"
    assert await error_of(announce(filename="a", length=1, alt_txt="x" * 1001)) == (
        "alt_txt_too_large"
    )
    assert await error_of(announce(filename="a", length=10**9)) == "file_upload_size_restricted"
    files: list[dict[str, str | None]] = [{"id": file_id}]
    assert await error_of(complete(files=[{"id": "F0NONE"}])) == "file_not_found"
    for channel, error in [("U0BOB", "invalid_arguments"), ("C0NONE", "channel_not_found")]:
        assert await error_of(complete(files=files, channel_id=channel)) == error
    driver.sandbox.workspace.channels["C0SUPPORT"].members.remove("U0PILOT")
    outside = complete(files=files, channel_id="C0SUPPORT")
    assert await error_of(outside) == "not_in_channel"
    await complete(files=files, channels=["C0OPS", "C0SHARED"])
    assert [len(await driver.messages(one)) for one in ("C0OPS", "C0SHARED")] == [1, 1]
    assert await error_of(complete(files=files)) == "file_not_found", "completed once"


async def test_bytes_suffer_faults_like_any_call(driver: Driver) -> None:
    announced = await driver.slack.files_getUploadURLExternal(filename="a.txt", length=3)
    url, said = announced["upload_url"], []
    for fault in ({"status": 503}, {"error": "malware", "contains": "a.txt"}):
        await driver.fault(method="upload", **fault)
        async with driver.http.post(url, data=b"abc") as response:
            said.append((response.status, await response.text()))
    assert said == [(503, "the sandbox was asked to fail"), (400, "malware")]
    await driver.fault(method="upload", drop_after_commit=True)
    with pytest.raises(aiohttp.ClientError):
        await driver.http.post(url, data=b"abc")
    done = await driver.slack.files_completeUploadExternal(files=[{"id": announced["file_id"]}])
    assert done["ok"], "what was lost was the answer alone"


async def test_files_may_be_shared_late_or_never_though_slack_says_ok(driver: Driver) -> None:
    complete = driver.slack.files_completeUploadExternal
    faults: dict[str, dict[str, Any]] = {
        "never": {"unshared": True},
        "in an hour": {"share_after": 3600.0},
    }
    for name, what in (*faults.items(), ("late", {"share_after": 0.01})):
        await driver.fault(method="files.completeUploadExternal", **what)
        file_id = await upload(driver, b"x", name)
        assert (await complete(files=[{"id": file_id}], channel_id="C0OPS"))["ok"]
        assert name not in faults or await driver.messages("C0OPS") == []

    async def shared() -> Any:
        return await driver.messages("C0OPS")

    (message,) = await driver.running.until(shared)
    assert [one["name"] for one in message["files"]] == ["late"]


async def test_a_file_that_was_deleted_before_it_was_shared_never_is(driver: Driver) -> None:
    file_id = await upload(driver, b"x")
    await driver.fault(method="files.completeUploadExternal", share_after=0.3)
    await driver.slack.files_completeUploadExternal(files=[{"id": file_id}], channel_id="C0OPS")
    await driver.slack.files_delete(file=file_id)
    later = await upload(driver, b"x")
    await driver.fault(method="files.completeUploadExternal", share_after=0.3)
    await driver.slack.files_completeUploadExternal(files=[{"id": later}], channel_id="C0OPS")

    async def shared() -> Any:
        return await driver.messages("C0OPS")

    (message,) = await driver.running.until(shared)
    assert [one["id"] for one in message["files"]] == [later]


async def test_anybody_looks_at_a_shared_file_as_plain_text(driver: Driver) -> None:
    file_id = await upload(driver, b"<script>", "page.html")
    url = f"{driver.running.url}/sandbox/files/{file_id}"
    async with driver.http.get(url) as response:
        assert response.status == 404
    await driver.slack.files_completeUploadExternal(files=[{"id": file_id}])
    async with driver.http.get(url) as response:
        assert (response.content_type, await response.text()) == ("text/plain", "<script>")


async def test_a_fault_of_sharing_strikes_nothing_else(driver: Driver) -> None:
    with pytest.raises(Refusal, match=r"It strikes: files\.completeUploadExternal"):
        driver.running.faults.add(method="chat.postMessage", unshared=True)
