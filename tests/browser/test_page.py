"""What the page makes of whatever an app sends: each block, each text, each edit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack.clients import slack_client
from tests.browser.shown import EVERY_BLOCK, MARKDOWN, MRKDWN, NO_COLOUR, NOT_DRAWN, UNFORESEEN

pytestmark = pytest.mark.asyncio(loop_scope="package")

#: Words and controls of a message that lie below the tools at its corner.
COVERED = """() => [...document.querySelectorAll("article")].flatMap((article) => {
  const tools = article.querySelector(".start")?.getBoundingClientRect();
  const covers = (box) => tools && box.left < tools.right - 1 && box.right > tools.left + 1
    && box.top + 3 < tools.bottom - 1 && box.bottom - 3 > tools.top + 1;
  const range = document.createRange();
  return [...article.querySelectorAll(".said *")].filter((one) => {
    range.selectNodeContents(one);
    const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    // What is scrolled out of sight lies below nothing.
    const edge = one.closest(".carousel, .table")?.getBoundingClientRect().right ?? Infinity;
    return isText && [...range.getClientRects()].some((box) => box.left < edge && covers(box));
  }).map((one) => one.textContent);
})"""
#: The page is the app, too, and acknowledges nothing.
SILENT: str = """async () => {
  const headers = { Authorization: "Bearer xapp-sandbox" };
  const asked = await fetch("/api/apps.connections.open", { method: "POST", headers });
  globalThis.app = new WebSocket((await asked.json()).url);
  await new Promise((done) => { globalThis.app.onmessage = done; });
}"""
#: By a text: the markup that it becomes.
DRAWN = """async ([file, texts]) => {
  const drawn = await import(`/page/${file}.js`);
  return texts.map((text) => {
    const box = document.createElement("div");
    box.append(...drawn[file](text));
    for (const link of box.querySelectorAll("a")) { link.removeAttribute("target"); link.removeAttribute("rel"); }
    return box.innerHTML;
  });
}"""


@pytest_asyncio.fixture(loop_scope="package")
async def sandbox() -> AsyncIterator[OpenSandbox]:
    async with open_sandbox(Sandbox(seed=1)) as opened:
        yield opened


async def opened(browser: Browser, sandbox: OpenSandbox, **options: Any) -> Page:
    """#support, as Alice sees it."""
    page = await browser.new_page(**options)
    await page.route("**/*.example/**", lambda route: route.abort())
    await page.goto(f"{sandbox.url}/#as=U0ALICE&channel=C0SUPPORT")
    await page.get_by_role("article").first.wait_for()
    return page


def slack(sandbox: OpenSandbox) -> AsyncWebClient:
    return slack_client(BOT_TOKEN, sandbox.api_url)


async def say(sandbox: OpenSandbox, *blocks: Json) -> str:
    said = await slack(sandbox).chat_postMessage(
        channel="C0SUPPORT", text="a message", blocks=blocks
    )
    return str(said["ts"])


def button(text: str) -> Json:
    return {"type": "button", "action_id": text, "text": {"type": "plain_text", "text": text}}


async def test_every_block_and_element_is_drawn_or_says_that_it_is_not_on_a_phone_too(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    await asyncio.gather(*(say(sandbox, block) for block in EVERY_BLOCK))
    page = await opened(browser, sandbox)
    for width in (390, 1440):
        await page.set_viewport_size({"width": width, "height": 6000})
        await expect(page.get_by_role("article")).to_have_count(len(EVERY_BLOCK))
        assert await page.evaluate(COVERED) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == width
    said = await page.locator(".not-drawn").all_inner_texts()
    assert sorted(said) == [f"not drawn here: {one}" for one in NOT_DRAWN]
    await page.close()


async def test_texts_become_what_slack_makes_of_them(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    await say(sandbox, {"type": "divider"})
    page = await opened(browser, sandbox)
    for file, table in (("mrkdwn", MRKDWN), ("markdown", MARKDOWN)):
        assert await page.evaluate(DRAWN, [file, list(table)]) == list(table.values())
    await page.close()


async def test_what_cannot_be_drawn_hides_nothing_else(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    sent = [NO_COLOUR, *(one for one, _ in UNFORESEEN), {"text": "the last words"}]
    for one in sent:
        await slack(sandbox).chat_postMessage(channel="C0SUPPORT", **{"text": "a message"} | one)
    page = await browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    # No thread is called so.
    await page.goto(f"{sandbox.url}/#as=U0ALICE&channel=C0SUPPORT&thread=%22")
    await page.get_by_role("article").last.get_by_text("the last words").wait_for()
    said = await page.locator(".not-drawn").all_inner_texts()
    assert said == [f"not drawn here: {what}" for _, what in UNFORESEEN]
    assert [one for one in asked if not one.startswith(sandbox.url)] == []
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    assert "thread" not in page.url
    await page.close()


async def test_focus_and_what_was_typed_outlive_an_edit_which_draws_nothing_else(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    field = {"type": "plain_text_input", "action_id": "why"}
    label = {"type": "plain_text", "text": "Why"}
    blocks: list[Json] = [
        {"type": "actions", "elements": [button("Approve"), button("Deny")]},
        {"type": "input", "label": label, "element": field, "dispatch_action": True},
    ]
    ts = await say(sandbox, *blocks)
    await say(sandbox, {"type": "divider"})
    page = await opened(browser, sandbox)
    await page.get_by_label("Why").fill("because")
    await page.get_by_role("button", name="Deny").focus()
    await page.evaluate(
        "for (const one of document.querySelectorAll('article')) one.id = one.dataset.ts"
    )
    header = {"type": "header", "text": {"type": "plain_text", "text": "Now"}}
    await slack(sandbox).chat_update(
        channel="C0SUPPORT", ts=ts, text="edited", blocks=[header, *blocks]
    )
    await page.get_by_role("heading", name="Now").wait_for()
    await expect(page.get_by_role("button", name="Deny")).to_be_focused()
    await expect(page.get_by_label("Why")).to_have_value("because")
    assert await page.locator("article[id]").count() == 1
    await page.close()


async def test_what_nobody_acknowledges_is_marked_once_and_can_be_read_in_peace(
    browser: Browser,
) -> None:
    page = await browser.new_page()
    await page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    async with open_sandbox(Sandbox(seed=1), allow_violations=True) as sandbox:
        await page.goto(f"{sandbox.url}/#as=U0ALICE&channel=D0ALICE&drawer=inspector")
        await page.evaluate(SILENT)
        said = {"channel": "D0ALICE", "text": "hello"}
        saying = asyncio.create_task(sandbox.act("U0ALICE", "message", **said))
        rows = page.get_by_role("listitem").filter(has_text="hello")
        await rows.first.get_by_role("button").click()
        payload = page.get_by_label("Payload", exact=True)
        await expect(payload).to_contain_text("hello")
        await page.clock.run_for(4_000)
        await expect(rows.first).to_contain_text("not acknowledged")
        seen = len(asked)
        await payload.evaluate("(one) => { one.id = 'the-same'; }")
        await page.clock.run_for(10_000)
        assert [one for one in asked[seen:] if "/sandbox/calls/" in one] == []
        assert await page.locator("#the-same").count() == 1
        saying.cancel()
        await page.close()


async def test_a_long_list_is_in_sight_and_a_finger_that_scrolls_it_chooses_nothing(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    options = [
        {"text": {"type": "plain_text", "text": f"Option {n}"}, "value": str(n)} for n in range(100)
    ]
    groups = [{"label": one["text"], "options": options} for one in options[:3]]
    select = {"type": "multi_static_select", "action_id": "some", "option_groups": groups}
    for _ in range(9):
        await say(sandbox, {"type": "actions", "elements": [select]})
    page = await opened(
        browser, sandbox, viewport={"width": 390, "height": 600}, has_touch=True, is_mobile=True
    )
    field = page.get_by_role("combobox", name="Choose").last
    await field.tap()
    option = page.get_by_role("option", name="Option 2", exact=True).first
    await expect(option).to_be_in_viewport(ratio=1)
    await option.dispatch_event("pointerdown")
    await expect(option).to_be_visible()
    assert await page.locator(".token").count() == 0
    await option.tap()
    await expect(page.locator(".token")).to_have_text("Option 2✕")
    await expect(field).to_be_focused()
    await page.close()


async def test_where_a_message_is_deleted_the_focus_goes_to_the_next(
    browser: Browser, sandbox: OpenSandbox
) -> None:
    gone, _ = [await say(sandbox, {"type": "actions", "elements": [button("Go")]}) for _ in "ab"]
    page = await opened(browser, sandbox)
    await page.get_by_role("article").first.get_by_role("button", name="Go").focus()
    await slack(sandbox).chat_delete(channel="C0SUPPORT", ts=gone)
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(page.get_by_role("article")).to_be_focused()
    await page.close()
