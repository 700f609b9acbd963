"""A page in headless Chromium, spoken to over its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from aiohttp import ClientSession, ClientWebSocketResponse

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    # There is a mouse, unless a touched screen is emulated.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
)
_ANNOUNCED: Final = b"DevTools listening on ws://"
_PATIENCE: Final = 20.0
#: The reader's clock stands still, so that a picture is the same whenever it is taken.
_STILL: Final = """
const Moving = Date;
globalThis.Date = class extends Moving {
  constructor(...given) { if (given.length) super(...given); else super(%d); }
  static now() { return %d; }
};
"""


class NoBrowser(Exception):
    """There is no Chromium here."""


@dataclass(frozen=True, slots=True)
class Size:
    width: int
    height: int
    is_touched: bool = False


class Page:
    """One page. What it is asked for it is asked in turn."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._asked = 0
        self._still: str | None = None

    async def look(self, size: Size, at: datetime, *, is_dark: bool = False) -> None:
        """How whoever reads it looks at it: how large, at what time, and by which light."""
        await self._ask("Page.enable")
        await self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=size.width,
            height=size.height,
            deviceScaleFactor=1,
            mobile=False,
        )
        await self._ask("Emulation.setTouchEmulationEnabled", enabled=size.is_touched)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        await self._ask("Emulation.setEmulatedMedia", features=[scheme, motion])
        await self._ask("Emulation.setTimezoneOverride", timezoneId="UTC")
        await self._ask("Emulation.setLocaleOverride", locale="en-GB")
        if self._still:
            await self._ask("Page.removeScriptToEvaluateOnNewDocument", identifier=self._still)
        now = int(at.timestamp() * 1000)
        made = await self._ask("Page.addScriptToEvaluateOnNewDocument", source=_STILL % (now, now))
        self._still = made["identifier"]

    async def open(self, url: str) -> None:
        await self._ask("Page.navigate", url="about:blank")
        await self._ask("Page.navigate", url=url)

    async def run(self, script: str) -> Any:
        """What it comes to, once that is there."""
        answer = await self._ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"on the page: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Once this holds on the page, and what follows from it has been drawn."""
        script = """new Promise((done) => {
          const look = () => { if (%s) requestAnimationFrame(() => requestAnimationFrame(done)); else setTimeout(look, 20); };
          look();
        })"""
        async with asyncio.timeout(_PATIENCE):
            await self.run(script % condition)

    async def photograph(self, clip: dict[str, float] | None = None) -> bytes:
        """A PNG of what is seen, or of a part of it."""
        part = {"clip": {**clip, "scale": 1}} if clip else {}
        answer = await self._ask("Page.captureScreenshot", format="png", **part)
        return base64.b64decode(answer["data"])

    async def _ask(self, method: str, **params: Any) -> Any:
        self._asked += 1
        await self._socket.send_json({"id": self._asked, "method": method, "params": params})
        async with asyncio.timeout(_PATIENCE):
            while (said := await self._socket.receive_json()).get("id") != self._asked:
                pass
        if "error" in said:
            raise RuntimeError(f"{method}: {said['error']['message']}")
        return said["result"]


@asynccontextmanager
async def open_page() -> AsyncIterator[Page]:
    """A page of a browser of its own. Raises ``NoBrowser``."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise NoBrowser("Chromium is needed (Debian: apt-get install chromium fonts-liberation)")
    async with asyncio.timeout(_PATIENCE * 30):
        with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            running = await asyncio.create_subprocess_exec(
                program,
                *_FLAGS,
                # Root has no sandbox to run it in.
                *(("--no-sandbox",) if os.geteuid() == 0 else ()),
                f"--user-data-dir={Path(profile)}",
                "about:blank",
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with ClientSession(trust_env=False) as session:
                    url = await _page_url(session, await _address(running))
                    async with session.ws_connect(url, max_msg_size=0) as socket:
                        yield Page(socket)
            finally:
                running.terminate()
                await running.wait()


async def _address(running: asyncio.subprocess.Process) -> str:
    assert running.stderr is not None
    async with asyncio.timeout(_PATIENCE):
        async for line in running.stderr:
            if line.startswith(_ANNOUNCED):
                return line.removeprefix(_ANNOUNCED).decode().partition("/")[0]
    raise NoBrowser("Chromium has ended before it could be spoken to")


async def _page_url(session: ClientSession, address: str) -> str:
    async with session.get(f"http://{address}/json/list") as answer:
        found: list[dict[str, str]] = await answer.json()
    return next(one["webSocketDebuggerUrl"] for one in found if one["type"] == "page")
