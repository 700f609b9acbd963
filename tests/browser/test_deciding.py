"""Deciding on the page in every way: by keyboard, on a telephone, in the dark, from Home; and who may not."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import expect

from tests.acceptance.town import Thread, Town
from tests.browser.conftest import Come
from tests.browser.person import Person

pytestmark = pytest.mark.asyncio(loop_scope="package")

A_WEEK = 7 * 24 * 60 * 60


async def asked(team: Town, order: str) -> Thread:
    """Alice has asked for a refund over the limit, and its card is there."""
    thread = await team.start("mention", f"refund {order} 180")
    await team.card(thread)
    return thread


async def refunded(team: Town, thread: Thread, order: str, amount: float = 180.0) -> None:
    await team.says(thread, f"Refund of ${amount:.2f} for {order} is complete.")
    assert team.ledger()[order] == amount


async def test_by_keyboard_alone_a_form_is_opened_and_left_and_a_refund_approved(
    team: Town, come: Come
) -> None:
    thread = await asked(team, "ORD-11")
    bob = await come("Bob")
    await bob.goes_to(thread.channel, thread.ts)
    await expect(bob.card()).to_be_visible()

    await bob.tabs_to("Steer")
    await bob.page.keyboard.press("Enter")
    await expect(bob.form.get_by_label("Amount")).to_be_visible()
    assert await bob.form.locator(":focus").count() == 1, "the form has the focus"
    await bob.page.keyboard.press("Escape")
    await expect(bob.form).to_be_hidden()
    await expect(bob.button("Steer", on=bob.card())).to_be_focused()

    await bob.page.keyboard.press("Shift+Tab")
    await expect(bob.button("Deny", on=bob.card())).to_be_focused()
    await bob.page.keyboard.press("Shift+Tab")
    await bob.page.keyboard.press("Enter")
    await refunded(team, thread, "ORD-11")
    await expect(bob.card()).to_be_hidden()


async def test_on_a_telephone_in_the_dark_everything_fits_and_can_be_approved(
    team: Town, come: Come
) -> None:
    thread = await asked(team, "ORD-12")
    bob = await come(
        "Bob",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        color_scheme="dark",
    )
    await bob.goes_to(thread.channel, thread.ts)
    await bob.button("Approve", on=bob.card()).scroll_into_view_if_needed()
    assert await bob.page.evaluate("document.documentElement.scrollWidth") == 390
    assert await too_wide(bob) == []
    assert await lightness(bob) < 0.2
    await bob.button("Approve", on=bob.card()).tap()
    await refunded(team, thread, "ORD-12")


async def too_wide(person: Person) -> list[str]:
    """What stands partly beside the screen, where it can't be scrolled to."""
    found: list[str] = await person.page.evaluate(
        """() => [...document.querySelectorAll("#replies *, #reply *")]
          .filter((one) => one.checkVisibility() && !one.closest("pre, table, .tools"))
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    return found


async def lightness(person: Person) -> float:
    """Of the paper: 0 is black, 1 is white."""
    colour = await person.page.evaluate("getComputedStyle(document.body).backgroundColor")
    parts = [int(one) for one in re.findall(r"\d+", colour)[:3]]
    return sum(parts) / 3 / 255


async def test_from_home_bob_approves_what_waits_for_him(team: Town, come: Come) -> None:
    thread = await asked(team, "ORD-13")
    bob = await come("Bob")
    await bob.presses("Pilothouse: Home")
    await bob.sees("Waiting for you")
    # Others may wait there, too.
    below = bob.page.locator("button:below(:text('ORD-13: $0.00 refunded so far'))")
    await below.filter(has_text=re.compile("^Approve$")).first.click()
    await refunded(team, thread, "ORD-13")
    await bob.sees("Decided lately")


async def test_whoever_may_not_decide_is_told_so_and_nobody_else_hears_of_it(
    team: Town, come: Come
) -> None:
    thread = await asked(team, "ORD-14")
    alice, frank = await come("Alice"), await come("Frank")
    for person in (alice, frank):
        await person.goes_to(thread.channel, thread.ts)
        await expect(person.card()).to_be_visible()

    await alice.presses("Approve", on=alice.card())
    await alice.sees_reply("not the person who asked")
    await alice.sees_reply("Only visible to you")
    await expect(frank.replies.filter(has_text="Only visible to you")).to_have_count(0)

    await team.act("U0ALICE", "deactivate", whom="U0FRANK")
    try:
        await frank.presses("Deny", on=frank.card())
        await frank.sees_reply("Only visible to you")
    finally:
        await team.act("U0ALICE", "reactivate", whom="U0FRANK")
    await expect(alice.replies.filter(has_text="Only visible to you")).to_have_count(1)
    await expect(alice.card()).to_be_visible()
    assert "ORD-14" not in team.ledger()


async def test_each_reads_times_in_their_own_zone_whatever_that_of_the_machine(
    team: Town, come: Come
) -> None:
    thread = await asked(team, "ORD-15")
    posted = float((await team.card(thread))["ts"])
    for name, zone in (("Bob", "Europe/Berlin"), ("Frank", "America/New_York")):
        reader = await come(name, timezone_id="Asia/Kolkata")
        await reader.goes_to(thread.channel, thread.ts)
        there = datetime.fromtimestamp(posted, ZoneInfo(zone))
        times = reader.card().locator("time")
        await expect(times.first).to_have_text(re.compile(rf"^0?{there:%-H:%M}$"))
        ends = datetime.fromtimestamp(posted + A_WEEK, ZoneInfo(zone))
        # The browser's English has a Sept of four letters.
        await expect(times.last).to_contain_text(re.compile(f"{ends:%-d %b}t? {ends:%Y}"))
