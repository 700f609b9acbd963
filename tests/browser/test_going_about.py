"""Going about on the page: to Home by any way, under any address, and with what is at hand kept at hand."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.town import Town
from tests.browser.conftest import Come

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_app_hears_that_home_was_opened_however_one_came_there(
    team: Town, come: Come
) -> None:
    def heard() -> list[str]:
        events = [one["payload"]["event"] for one in team.sandbox.deliveries("events_api")]
        return [one["user"] for one in events if one["type"] == "app_home_opened"]

    carol = await come("Carol")
    before = len(heard())
    guests = "Guests can't start or decide anything here."
    await carol.goes_to("home")
    await carol.sees(guests)
    await carol.page.reload()
    await carol.sees(guests)
    await carol.page.get_by_label("You are").select_option("U0DAVE")
    await carol.sees("People of another workspace can't start or decide anything here.")
    await carol.presses("Pilothouse: Home")
    await team.until(lambda: len(heard()) == before + 4, "each opening is told once")
    assert heard()[before:] == ["U0CAROL", "U0CAROL", "U0DAVE", "U0DAVE"]


async def test_an_address_that_names_nobody_is_alices(come: Come) -> None:
    bob = await come("Bob")
    await bob.page.evaluate("location.hash = 'as=U0BOBBY&channel=C0SUPPORT'")
    await expect(bob.page.get_by_label("You are")).to_have_value("U0ALICE")
