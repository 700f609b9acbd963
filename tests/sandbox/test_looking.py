"""Looking into the sandbox: what isn't there is told, and the page is served."""

from __future__ import annotations

from tests.sandbox.driving import Driver


async def test_unknown_places_are_told(driver: Driver) -> None:
    for path, status in [
        ("/sandbox/channels/C0NONE/messages", 404),
        ("/sandbox/channels/C0OPS/messages?thread_ts=1.1", 404),
        ("/sandbox/views?as=U0NONE", 404),
        ("/sandbox/home", 400),
        ("/sandbox/calls?since=yesterday", 400),
    ]:
        assert (await driver.request("GET", path))[0] == status


async def test_page_and_its_files_are_served_with_a_strict_policy(driver: Driver) -> None:
    for path, kind in [("/", "text/html"), ("/page/app.js", "text/javascript")]:
        async with driver.http.get(driver.running.url + path) as response:
            assert response.content_type == kind
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert (await driver.request("GET", "/page/server.py"))[0] == 404


async def test_a_page_hears_of_who_joins_and_of_new_conversations(driver: Driver) -> None:
    async def version() -> int:
        return int((await driver.get("/sandbox/state?as=U0CAROL"))["version"])

    async def places() -> set[str]:
        channels = (await driver.get("/sandbox/workspace"))["channels"]
        return {one["id"] for one in channels if "U0CAROL" in one["members"]}

    before = await version(), await places()
    await driver.act("U0CAROL", "join", channel="C0SHARED")
    joined = await version(), await places()
    opened = await driver.slack.conversations_open(users=["U0BOB", "U0CAROL"])
    after = await version(), await places()
    assert before[0] < joined[0] < after[0]
    assert joined[1] - before[1] == {"C0SHARED"}
    assert after[1] - joined[1] == {opened["channel"]["id"]}
