"""What was wrong with a decision that was given by a form stands where it was written."""

from __future__ import annotations

from bot.slack.cards.forms import form_errors
from bot.slack.ids import LASTS_BLOCK, NOTE_BLOCK, REASON_BLOCK


def test_what_the_check_said_of_a_grants_words_stands_where_they_were_written() -> None:
    errors = {"note": "Say it in fewer words.", "grant": "Its rule allows 4 h."}
    assert form_errors(errors, NOTE_BLOCK, LASTS_BLOCK) == {
        NOTE_BLOCK: "Say it in fewer words.",
        LASTS_BLOCK: "Its rule allows 4 h.",
    }
    both = form_errors({"reason": "a", "action": "b"}, REASON_BLOCK, REASON_BLOCK)
    assert both == {REASON_BLOCK: "a b"}
