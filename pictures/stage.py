"""Puts what is on a picture into a real sandbox, and takes it of the sandbox's page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlencode

from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.sandbox.workspace import BOT_TOKEN, Group
from bot.slack.clients import slack_client
from pictures.browser import Page, Size
from pictures.picture import PHONE, Picture

#: High enough for whatever is on a picture to be seen at once.
_HIGH: Final = 4000
_CLIP: Final = """(() => {
  const boxes = [...document.querySelectorAll(%r)].map((one) => one.getBoundingClientRect());
  const left = Math.min(...boxes.map((one) => one.left)), top = Math.min(...boxes.map((one) => one.top));
  const right = Math.max(...boxes.map((one) => one.right)), bottom = Math.max(...boxes.map((one) => one.bottom));
  const x = Math.max(0, Math.floor(left) - %d), y = Math.max(0, Math.floor(top) - %d);
  return { x, y, width: Math.min(innerWidth, Math.ceil(right) + %d) - x, height: Math.ceil(bottom) + %d - y };
})()"""


async def taken(picture: Picture, page: Page, *, is_dark: bool = False) -> bytes:
    """A PNG of it."""
    async with _staged(picture) as url:
        size = Size(picture.width, picture.height or _HIGH, is_touched=picture.width <= PHONE)
        await page.look(size, picture.at, is_dark=is_dark)
        await page.open(url)
        messages, count = _what_is_seen(picture)
        await page.until(f"document.querySelectorAll('{messages}').length === {count}")
        if picture.modal is not None:
            await page.until("document.querySelector('dialog[open]')")
            await page.run("document.activeElement.blur()")
        if picture.then:
            await page.run(picture.then)
            await page.until("true")
        if picture.height is not None:
            return await page.photograph()
        is_over = await page.run("document.querySelector('dialog[open]') !== null")
        what, margin = ("dialog[open]", 14) if is_over else (f"{messages}, .menu-list", 0)
        return await page.photograph(await page.run(_CLIP % (what, *[margin] * 4)))


def _what_is_seen(picture: Picture) -> tuple[str, int]:
    """The messages, or the Home tab, as a selector; and how many of them there are."""
    if picture.home is not None:
        return "#messages .home", 1
    return f"{'#replies' if picture.in_thread else '#messages'} article", len(picture.told)


@asynccontextmanager
async def _staged(picture: Picture) -> AsyncIterator[str]:
    """Where the page shows it."""
    async with open_sandbox(Sandbox(clock=picture.at.timestamp(), seed=1)) as sandbox:
        sandbox.inside.workspace.groups["S0LEGAL"] = Group(
            "S0LEGAL", "legal", "Legal", ("U0CAROL",)
        )
        client = slack_client(BOT_TOKEN, sandbox.api_url)
        thread = await _post(picture, client)
        await _open(picture, client, sandbox)
        channel = picture.channel if picture.home is None else "home"
        where = {"as": picture.seen_by, "channel": channel}
        where |= {"thread": thread} if thread else {}
        yield f"{sandbox.url}/#{urlencode(where)}"


async def _post(picture: Picture, client: AsyncWebClient) -> str | None:
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
        said = await client.chat_postMessage(
            channel=picture.channel, text=one.text, blocks=blocks, thread_ts=thread
        )
        if picture.in_thread and thread is None:
            thread = said["ts"]
    return thread


async def _open(picture: Picture, client: AsyncWebClient, sandbox: OpenSandbox) -> None:
    if picture.home is not None:
        await client.views_publish(user_id=picture.seen_by, view=picture.home)
    if picture.modal is not None:
        trigger = sandbox.inside.triggers.issue(picture.seen_by)
        await client.views_open(trigger_id=trigger, view=picture.modal)
