"""Text comes back as Slack stores it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.act.typing import as_sent
from bot.sandbox.escaping import stored, unescape
from bot.sandbox.seed import seeded
from tests.sandbox.driving import Driver, button, modal, plain


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"),
        ("already &lt;b&gt; &amp; so on", "already &lt;b&gt; &amp; so on"),
        ("<@U0BOB> and <#C0OPS|ops>, <!here>", "<@U0BOB> and <#C0OPS|ops>, <!here>"),
        ("<!subteam^S0FINANCE> look", "<!subteam^S0FINANCE> look"),
        ("<!date^1^{date}|then> & now", "<!date^1^{date}|then> &amp; now"),
        ("see https://a.example/x?b=1&c=2.", "see <https://a.example/x?b=1&amp;c=2>."),
        ("(https://a.example)", "(<https://a.example>)"),
        ("<https://a.example|here>", "<https://a.example|here>"),
        ("<https://a.example>", "<https://a.example>"),
        ("<script>", "&lt;script&gt;"),
        ("a <b> c>", "a &lt;b&gt; c&gt;"),
    ],
)
def test_an_apps_text(said: str, kept: str) -> None:
    assert stored(said) == kept
    assert stored(kept) == kept, "what is stored already stays"


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("see #ops & #support", "see <#C0OPS|ops> &amp; <#C0SUPPORT|support>"),
        ("#opsy a#ops #nowhere", "#opsy a#ops #nowhere"),
        ("https://a.example/#ops", "<https://a.example/#ops>"),
    ],
)
def test_a_persons_text_names_channels(typed: str, sent: str) -> None:
    assert as_sent(typed, seeded()) == sent


def test_entities_are_undone_once() -> None:
    assert unescape("&amp;lt; &lt;b&gt;") == "&lt; <b>"


async def test_blocks_come_back_with_entities_too(driver: Driver) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "a & <@U0BOB>"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "http://a.b", "verbatim": True}},
        {"type": "actions", "elements": [button("go", "a & b", text=plain("Yes & <no>"))]},
        {"type": "markdown", "text": "**a** & b"},
    ]
    await driver.slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks)
    (message,) = await driver.messages("C0OPS")
    section, verbatim, actions, markdown = message["blocks"]
    assert section["text"]["text"] == "a &amp; <@U0BOB>"
    assert verbatim["text"]["text"] == "http://a.b"
    (go,) = actions["elements"]
    assert (go["text"]["text"], go["value"]) == ("Yes &amp; &lt;no&gt;", "a & b")
    assert markdown["text"] == "**a** & b"


async def test_a_views_texts_come_back_with_entities_too(driver: Driver) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    view = modal(title=plain("A & B"), private_metadata="a & b")
    opened = (await driver.slack.views_open(trigger_id=trigger_id, view=view))["view"]
    assert opened["title"]["text"] == "A &amp; B"
    assert opened["private_metadata"] == "a & b"
