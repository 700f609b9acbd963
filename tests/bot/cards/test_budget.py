"""The card of a run that has used what it may."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from agent.rules.events import ApprovalDecided
from agent.rules.interventions import RunCancelled, StopRequested
from bot.slack.cards.message import Message
from bot.slack.ids import ASK_AGAIN, BUDGET_CONTINUE, BUDGET_STOP
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import BOB, History
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.waits import APR_1, expired, held, stopped, used_up

FINANCE = "<!subteam^S0FINANCE>"


def card(history: History) -> Message:
    return next(one.message for one in desired(history.state) if one.key == "approval:apr_1")


def read(history: History) -> str:
    return shown(card(history).blocks)


def buttons(history: History) -> list[tuple[str, str]]:
    rows = [block["elements"] for block in card(history).blocks if block["type"] == "actions"]
    return [(one["action_id"], one["text"]["text"]) for row in rows for one in row]


def decided(more: str | None = None, note: str | None = None) -> History:
    args: dict[str, JsonValue] | None = None if more is None else {"more": more}
    yes = ApprovalDecided(approval_id=APR_1, by=BOB, action="approve", args=args, note=note)
    return used_up().then(yes)


def denied(reason: str | None = None) -> History:
    no = ApprovalDecided(approval_id=APR_1, by=BOB, action="deny", reason=reason)
    return used_up().then(no, StopRequested(by=BOB, reason=reason), RunCancelled())


def test_it_says_what_was_used_and_asks_whether_to_go_on() -> None:
    words = read(used_up())
    assert words.startswith("Go on?\nThis run has used its budget: 40 of 40 model calls.")
    assert "for <@U0ALICE>" in words
    assert "Rule: the agent's budget: model_calls 40" in words
    assert buttons(used_up()) == [
        (BUDGET_CONTINUE, "Go on (+20 model calls)"),
        (BUDGET_STOP, "Stop"),
    ]


def test_the_status_says_that_its_card_is_below() -> None:
    status = next(one.message for one in desired(used_up().state) if one.key == "status")
    assert "⏸ Go on? · card below" in shown(status.blocks)
    over = next(one.message for one in desired(denied().state) if one.key == "status")
    assert "Go on?" not in shown(over.blocks)


def test_the_first_post_calls_who_may_decide_and_edits_name_them_and_call_nobody() -> None:
    pending = card(used_up())
    assert FINANCE in pending.first.text
    later = json.dumps([pending.text, pending.blocks])
    assert later.count(FINANCE) == later.count(f"any 1 of {FINANCE}") == 1


def test_allowed_while_the_run_is_paused_it_says_that_it_waits_for_resume() -> None:
    yes = ApprovalDecided(approval_id=APR_1, by=BOB, action="approve")
    assert "Resume" not in read(used_up().then(yes))
    assert "Its run is paused: it goes on with Resume." in read(held(used_up()).then(yes))


@pytest.mark.parametrize(
    ("budget", "more", "words"),
    [
        ("model_calls", "1", "Go on (+1 model call)"),
        ("tokens", "12000", "Go on (+12,000 tokens)"),
        ("cost_usd", "1", "Go on (+$1.00)"),
        ("cost_usd", "0.005", "Go on (+$0.005)"),
        ("minutes", "7.5", "Go on (+7.5 min of work)"),
    ],
)
def test_the_button_says_how_much_more(budget: str, more: str, words: str) -> None:
    assert buttons(used_up(budget, more))[0] == (BUDGET_CONTINUE, words)


def test_let_go_on_it_says_by_whom_and_how_much() -> None:
    words = read(decided("5", note="only this once"))
    assert "✅ *Allowed to go on* by <@U0BOB> · <!date^" in words
    assert "It may use 5 model calls more." in words
    assert "Note\nonly this once" in words
    assert "It may use 20 model calls more." in read(decided())
    assert buttons(decided("5")) == []


def test_stopped_it_says_by_whom_and_why() -> None:
    words = read(denied("it goes in circles"))
    assert "⏹ *Stopped* by <@U0BOB> · <!date^" in words
    assert "Reason\nit goes in circles" in words
    assert buttons(denied()) == []


def test_stopped_from_elsewhere_it_closes() -> None:
    assert "⏹ *Stopped by <@U0BOB>*" in read(stopped(used_up()))
    assert buttons(stopped(used_up())) == []


def test_what_nobody_decided_can_be_asked_again() -> None:
    words = read(expired(used_up()))
    assert "⏳ *Nobody decided by <!date^" in words
    assert [action for action, _ in buttons(expired(used_up()))] == [ASK_AGAIN]


@pytest.mark.parametrize(
    "history",
    [used_up(), held(used_up()), decided("5"), denied("<!here>"), stopped(used_up())],
)
def test_it_fits_into_slack(history: History) -> None:
    for one in desired(history.state):
        check_message(one.message, ["!subteam^S0FINANCE", "@U0BOB", "@U0ALICE"])


def test_where_blocks_can_not_be_shown_it_is_decided_in_words() -> None:
    told = card(used_up()).without_blocks
    assert "a mention of me and `approve apr_1`" in told
    assert "`deny apr_1`" in told
