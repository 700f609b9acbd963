"""The drawer below the page: what passed is looked at and sent again, and faults are armed and seen."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Locator, ViewportSize, expect

from bot.demo.tour import TOUR
from tests.acceptance.town import Town
from tests.browser.audit import faint, faults_of
from tests.browser.conftest import Come
from tests.browser.person import Person

pytestmark = pytest.mark.asyncio(loop_scope="package")

TELEPHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(autouse=True)
async def all_is_well(team: Town) -> AsyncIterator[None]:
    """What a test armed or set hurts no other."""
    yield
    team.sandbox.faults.heal()
    team.sandbox.inside.policies.change({"home_tab": True, "restrictions": {}})
    team.sandbox.inside.tour.clear()


def drawer(person: Person) -> Locator:
    return person.page.get_by_role("complementary", name="Inspector and faults")


def row(person: Person, *words: str) -> Locator:
    """The newest that says all of it."""
    rows = drawer(person).get_by_role("listitem")
    for one in words:
        rows = rows.filter(has_text=one)
    return rows.last.get_by_role("button")


async def test_a_click_is_found_by_keyboard_and_sent_again_and_pays_once(
    team: Town, come: Come
) -> None:
    thread = await team.start("mention", "refund ORD-31 180")
    await team.card(thread)
    bob = await come("Bob")
    await bob.goes_to(thread.channel, thread.ts)
    await bob.presses("Approve", on=bob.card())
    await bob.sees_reply("Refund of $180.00 for ORD-31 is complete.")

    keys = bob.page.keyboard
    await keys.press("Alt+i")
    await expect(bob.page.get_by_role("tab", name="Inspector")).to_be_focused()
    await bob.presses("Interactions", on=drawer(bob))
    await expect(
        drawer(bob).get_by_role("listitem").filter(has_text="users.info").last
    ).to_be_hidden()
    await row(bob, "block_actions").focus()
    await keys.press("Enter")
    entry = drawer(bob).get_by_role("region", name="Entry")
    await bob.sees("“Approve” by Bob in #support", on=entry)
    payload = entry.get_by_label("Payload", exact=True)
    await expect(payload).to_contain_text('"action_id": "approval.approve"')
    await expect(payload).to_contain_text('"token": "•••"')
    assert "drawer=inspector&entry=" in bob.page.url

    await bob.presses("Send again", on=entry)
    await bob.sees("Sent, and acknowledged after", on=entry)
    await bob.presses("Look at it", on=entry)
    await bob.presses("Go to the message", on=entry)
    await expect(bob.replies.filter(has_text="Approved").first).to_be_in_viewport()
    assert team.ledger()["ORD-31"] == 180.0

    await entry.get_by_role("button", name="Close the entry").focus()
    await keys.press("Escape")
    await expect(entry).to_be_hidden()
    await keys.press("Escape")
    await expect(drawer(bob)).to_be_hidden()
    await expect(bob.page.get_by_role("log", name="Replies")).to_be_visible()
    assert "drawer" not in bob.page.url


async def test_the_inspector_tells_times_by_the_clock_of_whoever_looks(
    team: Town, come: Come
) -> None:
    frank = await come("Frank")
    await frank.page.evaluate("location.hash += '&drawer=inspector'")
    await frank.page.reload()
    first = drawer(frank).get_by_role("listitem").first
    await expect(first).to_be_attached()
    number = int(await first.get_attribute("data-seq") or 0)
    at = team.sandbox.inside.record.find(number)["at"]
    for person, zone in (("U0FRANK", "America/New_York"), ("U0BOB", "Europe/Berlin")):
        await frank.page.get_by_label("You are").select_option(person)
        wanted = f"{datetime.fromtimestamp(at, ZoneInfo(zone)):%H:%M:%S}"
        await expect(first.locator("time")).to_contain_text(wanted)


async def test_a_lost_answer_is_armed_seen_and_healed(team: Town, come: Come) -> None:
    alice = await come("Alice")
    await alice.page.keyboard.press("Alt+g")
    faults = drawer(alice).get_by_role("tabpanel", name="Faults")
    await alice.presses("Arm it", on=faults)
    await alice.sees("Slack loses its answer to chat.postMessage · the next one", on=faults)
    await alice.writes("/agent refund ORD-32 20")
    await alice.sees("Nothing is armed", on=faults)
    await alice.presses("Look", on=faults)
    await expect(row(alice, "chat.postMessage", "ORD-32", "the answer was lost")).to_be_visible()
    await expect(row(alice, "Slack loses its answer to chat.postMessage")).to_be_visible()
    # It was looked for, and not said twice.
    await expect(alice.messages.filter(has_text="ORD-32").filter(has_text="Done")).to_have_count(1)
    await expect(alice.messages.filter(has_text="refund ORD-32 20")).to_have_count(1)


async def test_faults_are_taken_back_one_by_one_and_settings_are_set(
    team: Town, come: Come
) -> None:
    alice = await come("Alice", viewport=TELEPHONE)
    await alice.goes_to("C0SUPPORT")
    await alice.page.get_by_role("button", name="Faults").click()
    faults = drawer(alice).get_by_role("tabpanel", name="Faults")
    for title, button in [("Slack says no", "Arm"), ("Slack’s clock is wrong", "Do it")]:
        kind = faults.get_by_role("group").filter(has_text=title)
        await kind.locator("summary").click()
        await alice.presses(button, on=kind)
    no = faults.get_by_role("listitem").filter(
        has_text="Slack says channel_not_found to chat.postMessage · the next one"
    )
    await expect(no).to_be_visible()
    await alice.sees("Slack’s clock is 600 s ahead", on=faults)
    await no.get_by_role("button").click()
    await expect(no).to_be_hidden()
    assert team.sandbox.faults.waiting == []
    await alice.presses("Mend everything", on=faults)
    await alice.sees("Nothing is armed", on=faults)
    assert team.sandbox.clock.ahead == 0
    # Its button is gone, and the focus is not.
    await expect(faults.get_by_text("Nothing is armed")).to_be_focused()
    deleting = faults.get_by_role("group").filter(has_text="Somebody deletes")
    await alice.page.evaluate("location.hash = 'as=U0ALICE&channel=home&drawer=faults'")
    await deleting.locator("summary").click()
    await expect(deleting.get_by_role("combobox")).to_have_text("no message of the app is open")

    await alice.page.get_by_role("tab", name="Settings").click()
    settings = drawer(alice).get_by_role("tabpanel", name="Settings")
    await settings.get_by_label("The app has a Home tab").uncheck()
    await settings.get_by_label("#shared").select_option("read_only_channel")
    await alice.sees("Set.", on=settings)
    policies = team.sandbox.inside.policies
    await team.until(
        lambda: (
            (policies.home_tab, policies.restrictions) == (False, {"C0SHARED": "read_only_channel"})
        ),
        "both are set",
    )


async def test_everybody_can_use_the_drawer_and_the_tour(team: Town, come: Come) -> None:
    team.sandbox.inside.tour[:] = TOUR
    team.sandbox.faults.add(method="users.info", latency=0)
    bob = await come("Bob")
    for name in ("Inspector", "Faults", "Settings"):
        if name == "Inspector":
            await bob.page.keyboard.press("Alt+i")
            await row(bob, "auth.test").click()
            await expect(drawer(bob).get_by_label("Answer", exact=True)).to_be_visible()
        await bob.page.get_by_role("tab", name=name).click()
        assert await faults_of(bob) == [], name
        await bob.page.emulate_media(color_scheme="dark")
        assert await faint(bob) == [], name
        await bob.page.emulate_media(color_scheme="light")
    await bob.page.set_viewport_size(TELEPHONE)
    wide = "document.documentElement.scrollWidth"
    assert await bob.page.evaluate(wide) == TELEPHONE["width"]


async def test_the_tour_goes_on_when_a_thing_was_done_and_stays_closed(
    team: Town, come: Come
) -> None:
    steps = copy.deepcopy(TOUR)
    steps[0]["help"]["write"] = "/agent refund ORD-33 180"
    team.sandbox.inside.tour[:] = steps
    someone = await come("Alice", viewport=TELEPHONE)
    tour = someone.page.get_by_role("complementary", name="Guided tour")
    await someone.sees("Alice asks for a refund", on=tour)
    assert await someone.page.evaluate("document.activeElement === document.body")
    await someone.presses("Write it for me", on=tour)
    await someone.page.keyboard.press("Enter")
    await someone.sees("Become Bob, and decide", on=tour)
    await someone.presses("Become Bob", on=tour)
    await someone.presses("Close the tour")
    await expect(tour).to_be_hidden()
    await someone.presses("Close the thread")
    await someone.presses("Tour")
    await someone.sees("Become Bob, and decide", on=tour)
    await someone.presses("Become Bob", on=tour)
    # The thread covers the channel here, and the tour stands in it.
    await someone.presses("Approve", on=someone.card())
    await someone.sees("Look what happened", on=tour)
    await someone.page.reload()
    await someone.sees("Look what happened", on=tour)
    await someone.presses("Open the inspector", on=tour)
    await someone.page.get_by_role("button", name="Close the drawer").click()
    await someone.sees("Nothing is lost, or done twice", on=tour)
    await someone.presses("Done", on=tour)
    await expect(tour).to_be_hidden()
    await someone.page.reload()
    await someone.presses("Close the thread")
    await expect(tour).to_be_hidden()
    await someone.presses("Tour")
    await someone.sees("Step 1 of 3", on=tour)
