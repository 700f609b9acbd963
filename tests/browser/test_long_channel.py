"""A channel in which much was said."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.town import Town
from tests.browser.conftest import Come

pytestmark = pytest.mark.asyncio(loop_scope="package")

EVERY = "[...document.querySelectorAll('#messages article')]"


async def test_one_more_message_leaves_the_others_as_they_are_and_the_oldest_can_be_reached(
    team: Town, come: Come
) -> None:
    inside = team.sandbox.inside
    alice, place = inside.workspace.user("U0ALICE"), inside.workspace.channel("C0SHARED")
    for number in range(300):
        inside.posting.say(alice, place, f"message {number}", [], None)
    bob = await come("Bob")
    await bob.goes_to(place.id)
    await expect(bob.messages.filter(has_text="message 299")).to_be_in_viewport()
    await bob.page.evaluate(f"() => {EVERY}.forEach((one) => {{ one.isOld = true; }})")
    inside.posting.say(alice, place, "one more", [], None)
    await expect(bob.messages.filter(has_text="one more")).to_be_in_viewport()
    assert await bob.page.evaluate(f"() => {EVERY}.filter((one) => !one.isOld).length") == 1

    oldest = bob.messages.get_by_text("message 0", exact=True)
    while await oldest.count() == 0:
        top = bob.messages.first
        shown = await top.text_content() or ""
        await top.scroll_into_view_if_needed()
        await expect(top).not_to_have_text(shown)
    await oldest.scroll_into_view_if_needed()
    await expect(oldest).to_be_in_viewport()
