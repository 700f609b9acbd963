"""Puts what is on a picture into a real sandbox, and takes it of the sandbox's page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlencode

from playwright.async_api import Browser, FloatRect, expect
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.sandbox.workspace import BOT_TOKEN, Group
from bot.slack.clients import slack_client
from pictures.browser import Look, looking
from pictures.picture import PHONE, Picture, Told

#: High enough for whatever is on a picture to be seen at once.
_HIGH: Final = 4000
_BOX: Final = """([selector, margin]) => {
  const boxes = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
  const left = Math.min(...boxes.map((one) => one.left)), top = Math.min(...boxes.map((one) => one.top));
  const right = Math.max(...boxes.map((one) => one.right)), bottom = Math.max(...boxes.map((one) => one.bottom));
  const x = Math.max(0, Math.floor(left) - margin), y = Math.max(0, Math.floor(top) - margin);
  return { x, y, width: Math.min(innerWidth, Math.ceil(right) + margin) - x, height: Math.ceil(bottom) + margin - y };
}"""
#: What follows from something has been drawn once this is over.
_DRAWN: Final = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)


async def taken(picture: Picture, browser: Browser, *, is_dark: bool = False) -> bytes:
    """A PNG of it."""
    look = Look(
        picture.width,
        picture.height or _HIGH,
        picture.at,
        is_touched=picture.width <= PHONE,
        is_dark=is_dark,
        scale=picture.scale,
    )
    async with _staged(picture) as url, looking(browser, look) as page:
        await page.goto(url)
        messages, count = _what_is_seen(picture)
        await expect(page.locator(messages)).to_have_count(count)
        if picture.modal is not None:
            await page.locator("dialog[open]").wait_for()
            await page.evaluate("document.activeElement.blur()")
        if picture.then:
            await page.evaluate(picture.then)
        await page.evaluate(_DRAWN)
        if picture.height is not None:
            return await page.screenshot()
        is_over = await page.locator("dialog[open]").count() > 0
        what, margin = ("dialog[open]", 14) if is_over else (f"{messages}, .menu-list", 0)
        box: FloatRect = await page.evaluate(_BOX, [what, margin])
        return await page.screenshot(clip=box)


def _what_is_seen(picture: Picture) -> tuple[str, int]:
    """The messages, or the Home tab, as a selector; and how many of them there are."""
    if picture.home is not None:
        return "#messages .home", 1
    return f"{'#replies' if picture.in_thread else '#messages'} article", len(
        [one for one in picture.told if not one.is_aside]
    )


@asynccontextmanager
async def _staged(picture: Picture) -> AsyncIterator[str]:
    """Where the page shows it."""
    async with open_sandbox(Sandbox(clock=picture.at.timestamp(), seed=1)) as sandbox:
        sandbox.inside.workspace.groups["S0LEGAL"] = Group(
            "S0LEGAL", "legal", "Legal", ("U0CAROL",)
        )
        client = slack_client(BOT_TOKEN, sandbox.api_url)
        thread = await _post(picture, client, sandbox)
        await _open(picture, client, sandbox)
        channel = picture.channel if picture.home is None else "home"
        where = {"as": picture.seen_by, "channel": channel}
        where |= {"thread": thread} if thread else {}
        yield f"{sandbox.url}/#{urlencode(where)}"


async def _post(picture: Picture, client: AsyncWebClient, sandbox: OpenSandbox) -> str | None:
    """The thread, where it is one."""
    thread: str | None = None
    for one in picture.told:
        blocks = list(one.blocks) or None
        if one.to is not None:
            await client.chat_postEphemeral(
                channel=picture.channel,
                user=one.to,
                text=one.text,
                blocks=blocks,
                thread_ts=thread,
            )
            continue
        place = None if one.is_aside else thread
        if one.by is not None:
            ts = _say(picture, one, sandbox, place)
        else:
            said = await client.chat_postMessage(
                channel=picture.channel, text=one.text, blocks=blocks, thread_ts=place
            )
            ts = str(said["ts"])
        if picture.in_thread and thread is None and not one.is_aside:
            thread = ts
    return thread


def _say(picture: Picture, told: Told, sandbox: OpenSandbox, thread: str | None) -> str:
    """As a person, whom no app is to answer."""
    workspace = sandbox.inside.workspace
    user, place = workspace.user(told.by or ""), workspace.channel(picture.channel)
    said, _ = sandbox.inside.posting.say(user, place, told.text, [], thread)
    return str(said["ts"])


async def _open(picture: Picture, client: AsyncWebClient, sandbox: OpenSandbox) -> None:
    if picture.home is not None:
        await client.views_publish(user_id=picture.seen_by, view=picture.home)
    if picture.modal is not None:
        trigger = sandbox.inside.triggers.issue(picture.seen_by)
        await client.views_open(trigger_id=trigger, view=picture.modal)
