"""The Home tab: what can be done in it is what it shows in full, and it never grows beyond what Slack takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent.rules.interventions import RunHeld
from bot.slack.cards.blocks import Block, header
from bot.slack.cards.home import RUNS_SHOWN, WAITING_SHOWN, Home, Own, home_view
from bot.slack.cards.home_asked import Asked
from tests.agent.rules.happenings import expired, out_of_calls
from tests.agent.rules.histories import (
    BOB,
    History,
    answered,
    approved,
    asked,
    begun,
    denied,
    guided,
    in_review,
    judged,
    replied,
    settled,
    waiting,
)
from tests.bot.cards.checking import check_home, shown
from tests.bot.cards.stories import ANY_TWO, HOW_MUCH, questioned, yes
from tests.bot.cards.test_limits import MANY, MENTIONS, NASTY

URL = "https://pilot.slack.com/archives/C0SUPPORT/p1796000000000100"
LINKS = {f"{URL}|{words}" for words in ("its card", "its thread", "which is here")}


def one(history: History, url: str | None = URL) -> Asked:
    """The newest that was asked."""
    return Asked(list(history.state.approvals.values())[-1], history.state, url)


def asking(args: dict[str, Any], **how: Any) -> History:
    """A call with these arguments, of which people are asked."""
    call = judged(1, "ask", args=args)
    return begun().then(replied(1)).then(call).then(asked(1, args=args, **how))


def drawn(home: Home, notice: str = "") -> Sequence[Block]:
    view = home_view(home, notice)
    check_home(view, {*MENTIONS, *LINKS, "@U0CAROL"})
    blocks: Sequence[Block] = view["blocks"]
    return blocks


def buttons(blocks: Sequence[Block]) -> list[str]:
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


DECIDE = ["approval.approve:1", "approval.deny:1", "approval.steer:1", "approval.more:1"]
SETTLE = ["review.check:1", "review.happened:1", "review.not_happened:1", "review.give_up:1"]


@pytest.mark.parametrize(
    ("history", "words", "acts"),
    [
        (waiting(), ["Refund an order?", "ORD-3300", "for <@U0ALICE>", "its card"], DECIDE),
        (waiting(ANY_TWO).then(yes()), ["approved by <@U0BOB>", "One more is needed"], DECIDE),
        (
            questioned("$20", "$90"),
            [HOW_MUCH, "may answer"],
            ["question.answer:1:1", "question.answer:2:1", "question.answer:0:1"],
        ),
        (in_review(), ["Did this happen?", "ORD-3300"], SETTLE),
        (out_of_calls(), ["Go on?", "has used its budget"], ["budget.continue:1", "budget.stop:1"]),
        (waiting().then(expired(1)), ["⏳ Nobody decided", "ORD-3300"], ["approval.ask_again:1"]),
    ],
)
def test_each_kind_of_question_has_what_its_card_has(
    history: History, words: list[str], acts: list[str]
) -> None:
    blocks = drawn(Home(waiting=[one(history)]))
    assert buttons(blocks) == acts
    assert all(word in shown(blocks) for word in words)


@pytest.mark.parametrize(
    "args",
    [{"order": "ORD-1", "note": "x" * 1_600}, {f"value_{n}": "one\ntwo" for n in range(12)}],
    ids=["long", "many"],
)
def test_what_is_not_shown_in_full_is_not_approved_here(args: dict[str, Any]) -> None:
    blocks = drawn(Home(waiting=[one(asking(args))]))
    assert "approval.approve:1" not in buttons(blocks)
    assert {"approval.deny:1", "approval.view:1"} <= set(buttons(blocks))
    menu = next(
        e for b in blocks if b["type"] == "actions" for e in b["elements"] if "options" in e
    )
    assert not [one for one in menu["options"] if one["value"].startswith("approve")]
    assert f"<{URL}|which is here>" in shown(blocks)


def test_a_secret_is_masked_and_that_is_said() -> None:
    told = shown(drawn(Home(waiting=[one(asking({"order": "ORD-1", "password": "hunter2"}))])))
    assert "hunter2" not in told
    assert "🔒 Secrets are masked here" in told


def test_runs_can_be_paused_stopped_and_taken_on_again_each_by_itself() -> None:
    at_work, paused = begun(), begun().then(RunHeld(by=BOB))
    blocks = drawn(Home(runs=[Own(at_work.state, URL), Own(paused.state)], has_more_runs=True))
    assert buttons(blocks) == ["run.hold:1", "run.stop:1", "run.resume:2", "run.stop:2"]
    rows = [one["type"] for one in blocks[blocks.index(header("Your runs")) :]]
    assert rows[:6] == ["header", "section", "actions", "divider", "section", "actions"]
    told = shown(blocks)
    assert "*At work*" in told
    assert "*Paused by <@U0BOB>*" in told
    assert "`/agent runs` lists more" in told


def test_of_what_was_decided_it_says_who_what_and_when_and_has_no_button() -> None:
    stories = {
        "✅ *Approved* by <@U0BOB>": waiting().then(approved(1)),
        "⛔ *Denied* by <@U0BOB>": waiting().then(denied(1)),
        "🛞 *Steered* by <@U0BOB>": waiting().then(guided(1, "offer a voucher")),
        "✅ *Answered* by <@U0ALICE>": questioned("$20").then(answered(1, "$20")),
        "✅ *It happened: confirmed* by <@U0BOB>": in_review().then(settled(2, "happened")),
        "⏹ *Stopped* by <@U0BOB>": out_of_calls().then(denied(1)),
    }
    blocks = drawn(Home(decided=[one(history) for history in stories.values()]))
    told = shown(blocks)
    assert [words for words in stories if words not in told] == []
    assert "Refund an order: ORD-3300" in told
    assert f"{HOW_MUCH}\n→ $20" in told
    assert buttons(blocks) == []


def test_an_empty_tab_says_how_to_start_and_a_notice_stands_on_top() -> None:
    blocks = drawn(Home(), "Too late: somebody else did.")
    told = shown(blocks)
    assert told.startswith("Too late: somebody else did.")
    assert "Nothing waits for you." in told
    assert "mention me in a channel" in told
    assert "Decided lately" not in told


@pytest.mark.parametrize("words", NASTY[2::3])
def test_it_stays_within_what_slack_takes_whatever_is_in_it(words: str) -> None:
    args = {"order": words[:300], "note": words[:5_000], "amount": 180}
    histories = [
        asking(args, approvers=MANY, preview=words[:5_000]),
        questioned(*[f"{n} {words}"[:60] for n in range(8)], text=words[:5_000], approvers=MANY),
        in_review(),
    ]
    many = [one(histories[n % 3]) for n in range(WAITING_SHOWN)]
    home = Home(
        waiting=many,
        more_waiting=190,
        runs=[Own(begun(words or "x").state, URL)] * RUNS_SHOWN,
        has_more_runs=True,
        unreadable=3,
        decided=[one(asking(args).then(approved(1)))] * 8,
        remarks=("Slack did not say who is in <!subteam^S0FINANCE>.",) * 4,
    )
    blocks = drawn(home, "Too late. " * 500)
    here = sum(
        act.startswith(("approval.deny", "question.answer:0", "review.give_up"))
        for act in buttons(blocks)
    )
    assert 1 <= here <= WAITING_SHOWN
    assert f"… and {190 + WAITING_SHOWN - here} more: `/agent pending`" in shown(blocks)


@pytest.mark.parametrize(
    ("home", "is_nothing"),
    [(Home(), True), (Home(more_waiting=1), False), (Home(remarks=("More may wait.",)), False)],
)
def test_that_nothing_waits_is_said_only_where_that_is_known(home: Home, is_nothing: bool) -> None:
    assert ("Nothing waits for you." in shown(drawn(home))) == is_nothing


def test_as_many_as_there_is_room_for_are_shown_and_the_others_counted() -> None:
    large = asking({f"value_{n}": "one\ntwo" for n in range(6)})
    for history, fewest in ((waiting(), WAITING_SHOWN), (large, 5)):
        blocks = drawn(Home(waiting=[one(history)] * WAITING_SHOWN))
        told = shown(blocks).count("Refund an order?")
        assert told >= fewest
        more = f"… and {WAITING_SHOWN - told} more: `/agent pending`"
        assert (more in shown(blocks)) == (told < WAITING_SHOWN)
