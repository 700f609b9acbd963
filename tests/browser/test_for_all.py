"""The page as a screen reader has it, and as those see it who see little."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.acceptance.town import Town
from tests.browser.audit import faint, faults_of
from tests.browser.conftest import Come

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_every_control_has_a_name_and_every_word_stands_out(team: Town, come: Come) -> None:
    thread = await team.start("mention", "refund ORD-21 180")
    await team.card(thread)
    bob = await come("Bob")
    await bob.goes_to(thread.channel, thread.ts)
    await expect(bob.card()).to_be_visible()
    assert await faults_of(bob) == []

    await bob.presses("Steer", on=bob.card())
    await bob.fills(Amount="-5")
    await bob.presses("Send", on=bob.form)
    await bob.sees("It must be more than 0.", on=bob.form)
    assert await faults_of(bob) == []
    await bob.page.emulate_media(color_scheme="dark")
    assert await faint(bob) == []
    await bob.page.keyboard.press("Escape")
    await expect(bob.form).to_be_hidden()
    assert await faint(bob) == []

    await bob.presses("Pilothouse: Home")
    await bob.sees("Waiting for you")
    assert await faults_of(bob) == []


async def test_a_control_without_a_name_and_a_faint_word_would_be_found(come: Come) -> None:
    bob = await come("Bob")
    await bob.page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", '<dialog><button>➤</button><p id="messages">hardly</p></dialog>');
          document.body.lastChild.lastChild.style.color = "#aaa";
          document.body.lastChild.show();
        }"""
    )
    found = await faults_of(bob)
    assert [re.sub(r": <.*| of .*", "", one, flags=re.DOTALL) for one in found] == [
        "a dialog has no name",
        "a button has no name",
        "the id messages stands twice",
        "2.32",
    ]
