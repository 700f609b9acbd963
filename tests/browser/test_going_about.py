"""Going about on the page: to Home by any way, under any address, and with what is at hand kept at hand."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Come

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_an_address_that_names_nobody_is_alices(come: Come) -> None:
    bob = await come("Bob")
    await bob.page.evaluate("location.hash = 'as=U0BOBBY&channel=C0SUPPORT'")
    await expect(bob.page.get_by_label("You are")).to_have_value("U0ALICE")
