"""A person at the page: what they do there and what they see, in their own words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode, urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

_IDS: Final = {
    name: f"U0{name.upper()}" for name in ("Alice", "Bob", "Carol", "Dave", "Erin", "Frank")
}
_MOST_TABS: Final = 60


def _called(name: str) -> re.Pattern[str]:
    """A button's name is what is on it; its number may stand before that, and what it is about behind it."""
    return re.compile(rf"^(\d+\. )?{re.escape(name)}(:|$)")


@dataclass
class Person:
    name: str
    page: Page
    url: str
    #: What must not be: errors on the page, and anything from elsewhere.
    wrong: list[str] = field(default_factory=list)

    @classmethod
    async def at(cls, context: BrowserContext, name: str, url: str) -> Person:
        """In #support."""
        self = cls(name, await context.new_page(), url)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._look)
        await self.goes_to("C0SUPPORT")
        return self

    @property
    def id(self) -> str:
        return _IDS[self.name]

    # ---- where they are ----

    async def goes_to(self, channel: str, thread: str | None = None) -> None:
        """By the address, as from a bookmark."""
        where = {"as": self.id, "channel": channel} | ({"thread": thread} if thread else {})
        await self.page.goto(f"{self.url}/#{urlencode(where)}")
        await expect(self.page.get_by_role("log").first).to_be_visible()

    async def opens_thread(self, words: str) -> None:
        """Of the message in the channel that says so."""
        root = self.messages.filter(has_text=words)
        await root.get_by_role("button", name=re.compile(r"^\d+ repl")).click()
        await expect(self.page.get_by_role("log", name="Replies")).to_be_visible()

    @property
    def messages(self) -> Locator:
        return self.page.get_by_role("log", name="Messages").get_by_role("article")

    @property
    def replies(self) -> Locator:
        return self.page.get_by_role("log", name="Replies").get_by_role("article")

    def card(self, words: str = "Approve") -> Locator:
        """The reply that says so, and has buttons."""
        deciding = self.page.get_by_role("button", name=_called("Approve"))
        return self.replies.filter(has_text=words).filter(has=deciding)

    @property
    def form(self) -> Locator:
        return self.page.get_by_role("dialog")

    # ---- what they do ----

    async def writes(self, text: str) -> None:
        await self._types("Message", text)

    async def replies_with(self, text: str) -> None:
        await self._types("Reply", text)

    async def presses(self, button: str, on: Locator | None = None) -> None:
        await self.button(button, on).click()

    def button(self, name: str, on: Locator | None = None) -> Locator:
        return (on or self.page).get_by_role("button", name=_called(name))

    async def fills(self, **fields: str) -> None:
        """Of the form, by their labels."""
        for label, value in fields.items():
            await self.form.get_by_label(label).fill(value)

    async def tabs_to(self, name: str) -> None:
        """By Tab alone, from where the focus is."""
        for _ in range(_MOST_TABS):
            await self.page.keyboard.press("Tab")
            if await self.page.evaluate("document.activeElement.textContent") == name:
                return
        raise AssertionError(f"{name} was not reached by {_MOST_TABS} times Tab")

    async def _types(self, where: str, text: str) -> None:
        box = self.page.get_by_role("textbox", name=where, exact=True)
        await box.fill(text)
        await box.press("Enter")

    # ---- what they see ----

    async def sees(self, words: str, on: Locator | None = None) -> None:
        """Somewhere on the page, or there."""
        await expect((on or self.page.locator("body")).get_by_text(words).first).to_be_visible()

    async def sees_reply(self, words: str) -> None:
        await expect(self.replies.filter(has_text=words).first).to_be_visible()

    # ---- what must not be ----

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def _look(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and not request.url.startswith(f"{self.url}/"):
            self.wrong.append(f"asked elsewhere: {request.url}")
