"""The story in a real browser: who asks, who decides, and what both see."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.town import Town
from tests.browser.conftest import Come

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_bob_steers_what_alice_asked_for_after_a_value_that_is_refused(
    team: Town, come: Come
) -> None:
    alice, bob = await come("Alice"), await come("Bob")
    await alice.writes("/agent refund ORD-3300 180")
    await bob.opens_thread("ORD-3300")
    await alice.opens_thread("ORD-3300")
    card = bob.card("refund $180.00 exceeds the $100 threshold")
    await expect(alice.card("ORD-3300")).to_be_visible()
    assert "ORD-3300" not in team.ledger()

    await bob.presses("Steer", on=card)
    await bob.fills(Amount="-5")
    await bob.presses("Send", on=bob.form)
    await bob.sees("It must be more than 0.", on=bob.form)
    assert "ORD-3300" not in team.ledger()

    await bob.fills(Amount="90")
    await bob.presses("Send", on=bob.form)
    await expect(bob.form).to_be_hidden()
    for person in (alice, bob):
        await person.sees_reply("Refund of $90.00 for ORD-3300 is complete.")
        await expect(person.card("ORD-3300")).to_be_hidden()
    assert team.ledger()["ORD-3300"] == 90.0
    assert team.sandbox.violations == []
