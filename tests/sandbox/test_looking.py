"""Looking into the sandbox: what isn't there is told, and the page is served."""

from __future__ import annotations

import re

from bot.sandbox.page.server import FOLDER
from tests.sandbox.driving import Driver

_ID = re.compile(r'(?:getElementById|\$)\("([^"]+)"\)')


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


def test_whatever_the_page_is_made_of_is_there() -> None:
    scripts = [path.read_text() for path in FOLDER.glob("*.js")]
    index = (FOLDER / "index.html").read_text()
    imported = {name for one in scripts for name in re.findall(r'from "\./([^"]+)"', one)}
    assert imported == {path.name for path in FOLDER.glob("*.js")} - {"app.js"}
    wanted = {one for script in scripts for one in _ID.findall(script)}
    assert wanted <= set(re.findall(r' id="([^"]+)"', index))
    assert "ask" in wanted


async def test_a_page_hears_of_who_joins_and_of_new_conversations(driver: Driver) -> None:
    async def version() -> tuple[int, str]:
        state = await driver.get("/sandbox/state?as=U0CAROL")
        return state["version"], state["workspace"]

    async def places() -> set[str]:
        channels = (await driver.get("/sandbox/workspace"))["channels"]
        return {one["id"] for one in channels if "U0CAROL" in one["members"]}

    before = await version(), await places()
    await driver.act("U0CAROL", "join", channel="C0SHARED")
    joined = await version(), await places()
    opened = await driver.slack.conversations_open(users=["U0BOB", "U0CAROL"])
    after = await version(), await places()
    await driver.act("U0CAROL", "message", channel="C0SHARED", text="hello")
    spoken = await version()
    assert before[0][0] < joined[0][0] < after[0][0] < spoken[0]
    # Only then is it asked for again who and what there is.
    assert before[0][1] != joined[0][1] != after[0][1] == spoken[1]
    assert joined[1] - before[1] == {"C0SHARED"}
    assert after[1] - joined[1] == {opened["channel"]["id"]}


async def test_a_page_hears_what_an_agent_says_of_itself_and_nothing_of_where_it_is_silent(
    driver: Driver,
) -> None:
    async def seen() -> dict[str, tuple[str, str]]:
        sessions = (await driver.get("/sandbox/state?as=U0ALICE"))["sessions"]
        return {one["thread_ts"]: (one["status"], one["title"]) for one in sessions}

    said = [await driver.act("U0ALICE", "message", channel="D0ALICE", text=one) for one in "ab"]
    first, second = (one["ts"] for one in said)
    for thread, status in [(first, "is thinking"), (second, "is thinking"), (second, "")]:
        await driver.slack.assistant_threads_setStatus(
            channel_id="D0ALICE", thread_ts=thread, status=status
        )
    assert await seen() == {first: ("is thinking", "")}
