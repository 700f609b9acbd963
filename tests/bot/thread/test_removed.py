"""A thread of a run of which something was removed can still be drawn, and its cards looked into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.rules.events import Event
from agent.rules.fold import fold
from agent.rules.redacting import without_payloads, without_words
from agent.rules.shapes import approval_shape, run_shape
from bot.slack.cards.timeline import timeline_message
from bot.slack.cards.timeline_words import Links
from bot.slack.thread.desired import desired
from tests.agent.rules.golden import JOURNALS, read_golden

GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))


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
