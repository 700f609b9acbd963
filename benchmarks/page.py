"""What one more card costs on the sandbox's page, and whether that grows with how many are in the channel."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.async_api import Page

from benchmarks.figures import figure
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack.clients import slack_client
from pictures.browser import NoBrowser, running_chromium

FEW, MANY, MORE = 10, 1000, 20
TARGET_RATIO = 1.5
#: When each card came, by the page's own clock.
_WATCH: Final = """(() => {
  globalThis.came = {}; globalThis.drawn = 0;
  new MutationObserver((changes) => {
    for (const one of changes.flatMap((change) => [...change.addedNodes])) {
      if (!one.matches?.("article")) continue;
      drawn += 1;
      came[one.querySelector("h3").textContent] ??= performance.timeOrigin + performance.now();
    }
  }).observe(document.getElementById("messages"), { childList: true });
})()"""
_SCROLL: Final = """(async () => {
  const list = document.getElementById("messages"), frames = [];
  for (let before = performance.now(), end = before + 2000; before < end;) {
    list.scrollTop -= 120;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return frames.sort((one, other) => one - other)[Math.floor(frames.length * 0.95)];
})()"""


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    """With its ``ratio`` and the ``target`` that it must not exceed; none without a browser."""
    try:
        async with running_chromium() as browser:
            page = await browser.new_page()
            few, _ = await looked(page, FEW)
            many, frame = await looked(page, MANY)
    except NoBrowser:
        return
    name = f"a card more on the page, in a channel of N={MANY} / N={FEW}"
    more = {"few_ms": few, "many_ms": many, "slow_frame_ms": frame}
    yield figure(name, many / few, TARGET_RATIO, **more)


async def looked(page: Page, cards: int) -> tuple[float, float]:
    """Milliseconds from a post to the card, and of the slowest twentieth of frames when it is scrolled."""
    async with open_sandbox(Sandbox(seed=1)) as sandbox:
        for number in range(cards):
            await _post(sandbox, number)
        await page.goto(f"{sandbox.url}/#as=U0ALICE&channel=C0SUPPORT")
        await page.locator("#messages article").last.wait_for()
        await page.evaluate(_WATCH)
        times = [await _seen(page, sandbox, cards + more) for more in range(MORE)]
        assert await page.evaluate("drawn") == MORE, "others were drawn again"
        return median(times), float(await page.evaluate(_SCROLL))


async def _seen(page: Page, sandbox: OpenSandbox, number: int) -> float:
    begun = time.time() * 1000
    await _post(sandbox, number)
    await page.get_by_role("heading", name=f"Refund order {number}?", exact=True).wait_for()
    return float(await page.evaluate(f"came['Refund order {number}?']")) - begun


async def _post(sandbox: OpenSandbox, number: int) -> None:
    client = slack_client(BOT_TOKEN, sandbox.api_url)
    await client.chat_postMessage(channel="C0SUPPORT", text="a card", blocks=_card(number))


def _card(number: int) -> list[dict[str, Any]]:
    fields = ["*Order*", f"ORD-{number}", "*Amount*", "$180.00"]
    buttons = [
        {"type": "button", "action_id": name, "text": {"type": "plain_text", "text": name}}
        for name in ("Approve", "Deny", "Steer")
    ]
    title = {"type": "plain_text", "text": f"Refund order {number}?"}
    return [
        {"type": "header", "text": title},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": one} for one in fields]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "for <@U0ALICE>"}]},
        {"type": "actions", "elements": buttons},
    ]
