"""What is used and left of a limit, wherever people are asked about a call."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

from agent.rules.parts import LimitUse
from bot.slack.cards.card import card_of
from bot.slack.cards.home import Home, home_view
from bot.slack.cards.home_asked import Asked
from bot.slack.cards.more import why_text
from tests.agent.rules.histories import History, asked, begun, judged, replied

USED = "Limit: $320.00 of $500.00 used by <@U0ALICE> today · $180.00 left · resets Tue 00:00 Europe/Berlin"
USE = LimitUse(
    key="limit.day",
    used=Decimal(320),
    amount=Decimal("180.01"),
    max=Decimal(500),
    what="args.amount",
    currency="USD",
    per=("user", "day"),
    zone="Europe/Berlin",
    until=datetime(2026, 11, 30, 23, tzinfo=UTC),
)


def limited(*uses: LimitUse | None) -> History:
    """Calls of one reply that people are asked about."""
    history = begun().then(replied(*range(1, len(uses) + 1)))
    for number, use in enumerate(uses, 1):
        judgement = judged(number, "ask")
        verdict = judgement.verdict.model_copy(update={"limit": use})
        history = history.then(judgement.model_copy(update={"verdict": verdict}))
    for number in range(1, len(uses) + 1):
        history = history.then(asked(number, approval=number))
    return history


def test_a_card_says_it_and_so_do_why_and_the_home_tab() -> None:
    state = limited(USE).state
    (approval,) = state.approvals.values()
    (call,) = state.calls.values()
    assert USED in json.dumps(card_of(approval, state).first.blocks, ensure_ascii=False)
    assert USED in why_text(approval, call, state).splitlines()
    home = home_view(Home(waiting=[Asked(approval, state)]))
    assert USED in json.dumps(home, ensure_ascii=False)


def test_a_call_without_a_limit_says_nothing_of_one() -> None:
    state = limited(None).state
    (approval,) = state.approvals.values()
    assert "Limit" not in json.dumps(card_of(approval, state).first.blocks)


def test_what_is_added_up_is_shown_as_it_is_written_and_mentions_nobody() -> None:
    use = USE.model_copy(
        update={
            "what": 'args["<!channel>{who}"]',
            "currency": None,
            "per": ("tool",),
            "until": None,
        }
    )
    state = limited(use).state
    (approval,) = state.approvals.values()
    (call,) = state.calls.values()
    said = why_text(approval, call, state)
    assert 'Limit: 320 of 500 (args["&lt;!channel&gt;{who}"]) used by this tool · 180 left' in said
