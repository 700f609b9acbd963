"""One browser and one team for all tests of this folder; people come and go with each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from pictures.browser import NoBrowser, running_chromium
from tests.acceptance.town import Town, town
from tests.bot.sent import check_everything_sent
from tests.browser.person import Person
from tests.store.files import with_tables

#: `await come("Bob", color_scheme="dark")`: what else is said is a context's options of Playwright.
Come: TypeAlias = Callable[..., Awaitable[Person]]
PATIENCE_MILLISECONDS = 10_000


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def browser() -> AsyncIterator[Browser]:
    """Whoever has none skips these tests and is told why; in CI it must be there."""
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    try:
        async with running_chromium() as browser:
            yield browser
    except NoBrowser as missing:
        if os.environ.get("CI"):
            pytest.fail(f"{missing}; in CI these tests are not skipped")
        pytest.skip(str(missing))


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def team(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """The demo's, with one bot. Nothing it sends in any of these tests is what Slack would refuse."""
    folder = tmp_path_factory.mktemp("team")
    async with town(folder, with_tables(folder / "pilothouse.db"), bots=1) as built:
        yield built
    check_everything_sent(built.sandbox)


@pytest_asyncio.fixture(loop_scope="package")
async def come(browser: Browser, team: Town) -> AsyncIterator[Come]:
    """Who comes to the page; each in a profile of their own, and none may meet an error."""
    there: list[Person] = []
    async with AsyncExitStack() as stack:

        async def come(name: str, **options: Any) -> Person:
            context = await browser.new_context(locale="en-GB", **options)
            stack.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE_MILLISECONDS)
            there.append(await Person.at(context, name, team.sandbox.url))
            return there[-1]

        yield come
    assert {one.name: one.wrong for one in there if one.wrong} == {}
