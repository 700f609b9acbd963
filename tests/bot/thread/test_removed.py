"""A thread of a run of which something was removed can still be drawn, and its cards looked into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.errors import NotFound, Purged
from agent.rules.events import Event
from agent.rules.fold import fold
from agent.rules.redacting import without_payloads, without_words
from agent.rules.shapes import approval_shape, run_shape
from bot.slack.cards.refusals import refusal_text
from bot.slack.cards.timeline import timeline_message
from bot.slack.cards.timeline_words import Links
from bot.slack.thread.desired import desired
from tests.agent.rules.golden import JOURNALS, read_golden

GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))


def test_whoever_clicks_on_a_card_of_a_removed_run_is_told_when_it_was() -> None:
    at = datetime(2027, 3, 1, tzinfo=UTC)
    removed, unknown = refusal_text(Purged("run_1", at, 9)), refusal_text(NotFound("approval", "x"))
    assert removed.startswith("Not decided: what this was about was removed ")
    assert "2027-03-01" in removed
    assert "run_1" not in removed, "whoever clicks may not know of it"
    assert removed != unknown


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("left", [without_payloads, without_words])
def test_what_is_left_can_be_shown(name: str, left: Callable[[Event], Event]) -> None:
    events = [replace(one, event=left(one.event)) for one in read_golden(name)]
    for length in range(1, len(events) + 1):
        state = fold(events[:length])
        assert desired(state)
        assert run_shape(state, now=state.updated_at, holder=None, blocked=None, thread=None)
        for approval in state.approvals.values():
            assert approval_shape(approval, state)
    assert timeline_message(events, fold(events), Links()).text
