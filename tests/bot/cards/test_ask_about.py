"""The modal of a shortcut: which message it is about, and what it holds of that."""

from __future__ import annotations

import json

import pytest

from bot.slack.cards.ask_about import About, ask_modal
from tests.bot.cards.checking import check_view_limits

ABOUT = About("C0SUPPORT", "1796000009.000100", "1796000000.000100", "1796000011.000200")


@pytest.mark.parametrize("text", ["It came twice.", "<!channel> *x* `&amp;`", "🙂" * 9_000, " \n"])
@pytest.mark.parametrize("is_at_work", [True, False])
def test_it_shows_any_message_as_data_and_holds_ids_alone(text: str, is_at_work: bool) -> None:
    view = ask_modal(ABOUT, text, is_at_work=is_at_work)
    check_view_limits(view)
    assert ("A run is at work" in json.dumps(view["blocks"])) is is_at_work
    assert About.read(view["private_metadata"]) == ABOUT
    assert set(json.loads(view["private_metadata"]).values()) == {
        "1796000011.000200",
        "C0SUPPORT",
        "1796000009.000100",
        "1796000000.000100",
    }


def test_a_secret_in_the_message_is_masked() -> None:
    view = ask_modal(ABOUT, "use xoxb-1234567890-abcdefghijkl please", is_at_work=False)
    assert "abcdefghijkl" not in json.dumps(view)


@pytest.mark.parametrize(
    "held",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"channel": "C0SUPPORT", "ts": "1.2"}',
        '{"channel": "C0SUPPORT", "ts": "1.2", "thread_ts": 1}',
        '{"channel": "C0SUPPORT", "ts": "now", "thread_ts": "1.2"}',
        '{"channel": "C0/OPS", "ts": "1.2", "thread_ts": "1.2"}',
        '{"channel": "C0SUPPORT", "ts": "1.2", "thread_ts": "1.2", "seen": "c0ffee"}',
        '{"approval": "apr_1"}',
    ],
)
def test_what_no_modal_of_ours_holds_is_about_nothing(held: str) -> None:
    assert About.read(held) is None
