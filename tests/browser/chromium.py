"""The browser of these tests: one Chromium, in which each person has a profile of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from playwright.async_api import Browser, async_playwright

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


@asynccontextmanager
async def running_chromium() -> AsyncIterator[Browser]:
    """Whoever has none skips the test and is told why; in CI it must be there."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        missing = "no Chromium on the PATH (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}; in CI these tests are not skipped")
        pytest.skip(missing)
    async with async_playwright() as driver:
        # Root has no sandbox to run it in.
        browser = await driver.chromium.launch(
            executable_path=program, args=_FLAGS, chromium_sandbox=os.geteuid() != 0
        )
        try:
            yield browser
        finally:
            await browser.close()
