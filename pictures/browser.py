"""A headless Chromium, and a page in it as somebody looks at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from playwright.async_api import Browser, Page, async_playwright

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: A picture is the same wherever it is taken, and there is a mouse, unless a touched screen is asked for.
_OF_PICTURES: Final = (
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)
_PATIENCE_MILLISECONDS: Final = 20_000


class NoBrowser(Exception):
    """There is no Chromium here."""


@dataclass(frozen=True, slots=True)
class Look:
    """How whoever reads a page looks at it: how large, at what time, and by which light."""

    width: int
    height: int
    at: datetime
    is_touched: bool = False
    is_dark: bool = False
    #: Pixels of the screen for one of the page.
    scale: int = 1


@asynccontextmanager
async def running_chromium(*flags: str) -> AsyncIterator[Browser]:
    """Debian's, or whichever is on the PATH. Raises ``NoBrowser``."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise NoBrowser("no Chromium on the PATH (Debian: apt-get install chromium)")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=program,
            args=[*_FLAGS, *flags],
            # Root has no sandbox to run it in.
            chromium_sandbox=os.geteuid() != 0,
        )
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def camera() -> AsyncIterator[Browser]:
    """A browser to take pictures with. Raises ``NoBrowser``."""
    async with running_chromium(*_OF_PICTURES) as browser:
        yield browser


@asynccontextmanager
async def looking(browser: Browser, look: Look) -> AsyncIterator[Page]:
    """An empty page. Its clock stands still, so that a picture is the same whenever it is taken."""
    context = await browser.new_context(
        viewport={"width": look.width, "height": look.height},
        device_scale_factor=look.scale,
        has_touch=look.is_touched,
        color_scheme="dark" if look.is_dark else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
        locale="en-GB",
    )
    try:
        context.set_default_timeout(_PATIENCE_MILLISECONDS)
        page = await context.new_page()
        await page.clock.set_fixed_time(look.at)
        yield page
    finally:
        await context.close()
