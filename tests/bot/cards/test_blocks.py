"""What is data stays data, whatever stands in it."""

from __future__ import annotations

import pytest

from bot.sandbox.escaping import as_stored
from bot.slack.cards.blocks import context, mrkdwn, plain_section, section
from bot.slack.cards.text import escape
from tests.bot.cards.checking import check_blocks, shown


def test_an_address_within_our_words_becomes_no_link_and_a_mention_stays_one() -> None:
    said = f"<@U0BOB>: {escape('see https://evil.example/x <!here>')}"
    for block in (section(said), context(mrkdwn(said))):
        check_blocks([block])
        assert shown([as_stored(block)]) == said


@pytest.mark.parametrize("text", ["a &lt;b&gt; c", "<!channel>", "one & two"])
def test_a_paragraph_in_which_slack_may_read_entities_is_no_plain_text(text: str) -> None:
    block = plain_section(text)
    check_blocks([block])
    assert block["type"] == "rich_text"
    assert shown([block]) == text


def test_any_other_paragraph_is_plain_text() -> None:
    assert plain_section("*bold* https://a.example")["text"]["type"] == "plain_text"
