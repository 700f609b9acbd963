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


async def test_what_is_newest_stays_in_sight_and_what_was_refused_is_still_to_be_had(
    team: Town, come: Come
) -> None:
    alice = await come("Alice")
    await alice.goes_to("C0OPS")
    for number in range(20):
        await team.act("U0ALICE", "message", channel="C0OPS", text=f"line {number}")
    newest = alice.messages.last
    await expect(newest).to_contain_text("line 19")
    await expect(newest).to_be_in_viewport()
    await alice.page.keyboard.press("Alt+i")
    await expect(newest).to_be_in_viewport(ratio=1)

    box = alice.page.get_by_role("textbox", name="Message", exact=True)
    faults = f"{alice.url}/sandbox/faults"
    await alice.page.request.post(faults, data={"archive": "C0OPS"})
    await alice.writes("to whom it may concern")
    await alice.sees("is archived: nobody writes there any more")
    await expect(box).to_have_value("to whom it may concern")
    await alice.page.request.delete(faults)
    alice.wrong.clear()  # The browser itself notes that the sandbox refused it.


async def test_what_the_app_has_in_the_menu_of_a_message_is_there_by_its_name(
    team: Town, come: Come
) -> None:
    await team.act("U0BOB", "message", channel="C0OPS", text="order ORD-71 was charged twice")
    alice = await come("Alice")
    await alice.goes_to("C0OPS")
    said = alice.messages.filter(has_text="charged twice")
    await said.hover()
    await alice.presses("More to do with this message", on=said)
    await alice.page.get_by_role("menuitem", name="Ask about this").click()
    await expect(alice.form).to_contain_text("order ORD-71 was charged twice")
    await alice.page.keyboard.press("Escape")
    await expect(alice.form).to_be_hidden()


async def test_the_sandbox_is_said_to_be_away_no_longer_than_it_is(team: Town, come: Come) -> None:
    alice = await come("Alice")
    away = alice.page.get_by_text("The sandbox does not answer.")
    await alice.page.route("**/sandbox/state*", lambda route: route.abort())
    await team.act("U0ALICE", "message", channel="C0OPS", text="seen by the last answer")
    await expect(away).to_be_visible()
    await alice.page.unroute("**/sandbox/state*")
    await expect(away).to_be_hidden()
    alice.wrong.clear()  # The browser itself notes what failed.
