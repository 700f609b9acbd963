"""What people read on the cards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.events import CallReturned, RunFailed
from agent.rules.ids import CallId, Principal
from agent.rules.parts import Approvers, Receipt
from bot.slack.cards.message import Message
from bot.slack.ids import (
    APPROVE,
    DENY,
    MORE,
    REVIEW_CHECK,
    REVIEW_GIVE_UP,
    REVIEW_HAPPENED,
    REVIEW_NOT_HAPPENED,
    STEER,
)
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    in_review,
    judged,
    left_unknown,
    replied,
    returned,
    settled,
    steered,
    waiting,
)
from tests.bot.cards.checking import shown

FINANCE = "<!subteam^S0FINANCE>"


def message(history: History, key: str) -> Message:
    return next(one.message for one in desired(history.state) if one.key == key)


def card(history: History, approval: int = 1) -> str:
    return shown(message(history, f"approval:apr_{approval}").blocks)


def buttons(history: History, approval: int = 1) -> list[str]:
    blocks = message(history, f"approval:apr_{approval}").blocks
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


def done(history: History) -> History:
    return history.then(call_started(1, history.now))


def test_a_pending_card_asks_before_anything_happens() -> None:
    read = card(waiting())
    assert read.startswith("Refund an order?")
    for words in (
        "<@U0ALICE>'s run wants to do this. It has not happened yet.",
        "*Order*\nORD-3300\n*Amount*\n$180.00",
        "Asked because: over the threshold",
        "may decide: any 1 of <!subteam^S0FINANCE>, not <@U0ALICE>",
        "Rule: ask process_refund",
    ):
        assert words in read
    assert buttons(waiting()) == [APPROVE, DENY, STEER, MORE]


@pytest.mark.parametrize(
    ("rule", "reason", "said"),
    [
        (
            "ask process_refund when args.amount > 100; 2 different people say yes; a yes is good for 1 h",
            "over the threshold",
            "\nRule: ask process_refund when args.amount > 100\n",
        ),
        ("ask process_refund; remind after 1 h", "the rule: ask process_refund", None),
    ],
)
def test_of_its_rule_the_card_says_what_it_is_about_and_nothing_twice(
    rule: str, reason: str, said: str | None
) -> None:
    question = asked(1).model_copy(update={"rule": rule, "reason": reason})
    read = card(begun().then(replied(1)).then(judged(1, "ask")).then(question))
    assert (said or reason) in read
    assert ("Rule: " in read) == (said is not None)
    assert "remind" not in read
    assert "different people" not in read


def test_its_buttons_carry_the_approvals_id_and_nothing_else() -> None:
    blocks = message(waiting(), "approval:apr_1").blocks
    *elements, menu = [e for b in blocks if b["type"] == "actions" for e in b["elements"]]
    assert {element["value"] for element in elements} == {"apr_1"}
    assert [element.get("style") for element in elements] == ["primary", "danger", None]
    assert [one["value"] for one in menu["options"]] == [
        "deny_reason|apr_1",
        "approve_note|apr_1",
        "why|apr_1",
    ]


def test_a_rule_may_have_slack_ask_once_more_before_a_yes_and_never_before_a_no() -> None:
    judgement = judged(1, "ask")
    sure = judgement.verdict.model_copy(update={"confirm": True})
    history = begun().then(replied(1)).then(judgement.model_copy(update={"verdict": sure}))
    blocks = message(history.then(asked(1)), "approval:apr_1").blocks
    elements = [e for b in blocks if b["type"] == "actions" for e in b["elements"]]
    (dialog,) = [one["confirm"] for one in elements if "confirm" in one]
    assert elements[0]["action_id"] == APPROVE
    assert dialog == elements[0]["confirm"]
    assert dialog["text"]["text"] == "Refund an order: ORD-3300, $180.00"
    assert (dialog["confirm"]["text"], dialog["deny"]["text"]) == ("Approve", "Cancel")
    assert "confirm" not in str(message(waiting(), "approval:apr_1").blocks)


def test_the_first_post_calls_who_may_decide_and_edits_name_them_and_call_nobody() -> None:
    pending = message(waiting(), "approval:apr_1")
    first = json.dumps([pending.first.text, pending.first.blocks])
    assert FINANCE in pending.first.text
    assert f"{FINANCE}: <@U0ALICE>'s run wants to do this." in first
    later = json.dumps([pending.text, pending.blocks])
    assert later.count(FINANCE) == later.count(f"any 1 of {FINANCE}, not <@U0ALICE>") == 1
    decided = message(waiting().then(approved(1)), "approval:apr_1")
    assert decided.announce is None
    assert FINANCE not in json.dumps([decided.text, decided.blocks])


def test_a_notification_says_first_what_is_asked() -> None:
    text = message(waiting(), "approval:apr_1").first.text
    assert text.startswith("Approve? Refund an order: ORD-3300, $180.00 · asked for by <@U0ALICE>")


def test_where_blocks_are_refused_the_text_says_how_to_decide() -> None:
    text = message(waiting(), "approval:apr_1").without_blocks
    assert FINANCE in text
    assert "Order: `ORD-3300`; Amount: `$180.00`" in text
    assert "`approve apr_1`" in text


@pytest.mark.parametrize("order", ["`ORD-1`", "ORD-1\nAmount: $1.00", "ORD-1  2"])
def test_what_text_alone_would_show_otherwise_can_only_be_denied_there(order: str) -> None:
    question = asked(1, args={"order": order, "amount": 180})
    judgement = judged(1, "ask", args=question.args)
    history = begun().then(replied(1)).then(judgement).then(question)
    text = message(history, "approval:apr_1").without_blocks
    assert "`approve apr_1`" not in text
    assert "`deny apr_1 reason`" in text


def test_no_value_in_text_alone_looks_like_another_or_like_bold() -> None:
    args: dict[str, JsonValue] = {
        "order": "ORD-1; Amount: $1.00 *approved* https://a.example",
        "amount": 180,
    }
    history = begun().then(replied(1)).then(judged(1, "ask", args=args)).then(asked(1, args=args))
    text = message(history, "approval:apr_1").without_blocks
    assert f"Order: `{args['order']}`; Amount: `$180.00`." in text


def test_what_is_too_long_for_a_sentence_can_only_be_denied_there() -> None:
    question = asked(1, args={"order": "ORD-" + "9" * 2_000, "amount": 180})
    long = begun().then(replied(1)).then(judged(1, "ask")).then(question)
    text = message(long, "approval:apr_1").without_blocks
    assert "`approve" not in text
    assert "`deny apr_1 reason`" in text


def test_nobody_named_means_the_operator() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1, approvers=Approvers()))
    assert "only the operator, on the command line" in card(history)
    assert message(history, "approval:apr_1").first.text.endswith("<@U0ALICE>")


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (waiting().then(approved(1)), ("✅ *Approved* by <@U0BOB>", "$180.00")),
        (
            waiting().then(denied(1, "too much")),
            ("⛔ *Denied* by <@U0BOB>", "Reason", "too much", "It did not happen."),
        ),
        (
            waiting().then(steered(1, {"order": "ORD-3300", "amount": 90})),
            ("🛞 *Steered* by <@U0BOB>", "Amount: \n$180.00 → $90.00"),
        ),
        (
            waiting().then(guided(1, "ask the customer")),
            ("🛞 *Steered*", "Guidance", "ask the customer", "It did not happen."),
        ),
        (
            waiting().then(asked(1, approval=2, supersedes=1)),
            ("↪︎ *Replaced by a newer question below*", "It had not happened until then."),
        ),
        (
            waiting().then(RunFailed(error="the model is gone")),
            ("⏹ *Its run has failed*", "It did not happen."),
        ),
        (
            waiting().then(approved(1, Principal("cli:root"))),
            ("✅ *Approved* by the operator",),
        ),
        (
            waiting().then(approved(1).model_copy(update={"claimed_by": "cli:root", "note": "ok"})),
            ("by <@U0BOB> (so says the operator)", "Note", "ok"),
        ),
    ],
)
def test_a_card_that_is_over_has_no_buttons_and_says_what_became_of_it(
    history: History, words: tuple[str, ...]
) -> None:
    read = card(history)
    for one in words:
        assert one in read
    assert buttons(history) == []


def test_a_steered_cards_notification_says_what_was_changed() -> None:
    changed = waiting().then(steered(1, {"order": "ORD-3300", "amount": 90}))
    text = message(changed, "approval:apr_1").text
    assert text == (
        "🛞 Steered by <@U0BOB>: Refund an order: ORD-3300, $90.00 · Amount: $180.00 → $90.00"
    )


def test_what_was_foreseen_is_not_promised_of_a_changed_call() -> None:
    question = asked(1).model_copy(update={"preview": "$180.00 goes back"})
    foreseen = begun().then(replied(1)).then(judged(1, "ask")).then(question)
    assert "What will happen\n$180.00 goes back" in card(foreseen)
    assert "What was to happen\n$180.00 goes back" in card(foreseen.then(denied(1)))
    changed = foreseen.then(steered(1, {"order": "ORD-3300", "amount": 90}))
    assert "goes back" not in card(changed)


def test_the_card_says_what_came_of_the_call() -> None:
    started = done(waiting().then(approved(1)))
    receipt = Receipt(status="committed", external_id="re_123")
    ok = CallReturned(call_id=CallId("call_1"), output="done", receipt=receipt)
    assert "Done <!date" in card(started.then(ok))
    assert "re_123" in card(started.then(ok))
    failed = card(started.then(returned(1, "card expired", is_error=True)))
    assert "Failed" in failed
    assert "Nothing was done." in failed
    assert "card expired" in failed
    assert "We can't tell whether it happened" in card(started.then(left_unknown(1)))
    assert "We can't tell whether it happened" in card(in_review())
    assert "It happened" in card(in_review().then(settled(2, "happened")))


def test_a_review_says_what_was_sent_when_and_under_which_operation() -> None:
    read = card(in_review(), 2)
    assert read.startswith("Did this happen? Refund an order\nThis may have happened.")
    for words in ("$180.00", "started <!date", "operation op_1", "it did not answer"):
        assert words in read
    found = [REVIEW_CHECK, REVIEW_HAPPENED, REVIEW_NOT_HAPPENED, REVIEW_GIVE_UP]
    assert buttons(in_review(), 2) == found
    assert "primary" not in json.dumps(message(in_review(), "approval:apr_2").blocks)


def test_after_the_runs_end_a_review_starts_nothing_any_more() -> None:
    over = in_review().then(RunFailed(error="the model is gone"))
    assert buttons(over, 2) == [REVIEW_CHECK, REVIEW_HAPPENED, REVIEW_GIVE_UP]
    assert "run it" not in card(over, 2)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("happened", "It happened: confirmed* by <@U0BOB>"),
        ("not_happened", "It did not happen"),
        ("check", "Checked again* by <@U0BOB>"),
        ("give_up", "Given up* by <@U0BOB>"),
    ],
)
def test_a_settled_review_has_no_buttons_and_says_how(outcome: Any, words: str) -> None:
    settled_one = in_review().then(settled(2, outcome))
    assert words in card(settled_one, 2)
    assert buttons(settled_one, 2) == []


def test_secrets_are_masked_wherever_arguments_stand_and_it_is_said() -> None:
    secret = "hunter2hunter2"
    args: dict[str, JsonValue] = {
        "url": f"postgresql://app:{secret}@db/x",
        "headers": {"Authorization": f"Bearer {secret}"},
        "password": secret,
    }
    history = begun(f"use token={secret}").then(replied(1)).then(judged(1, "ask", args=args))
    history = history.then(asked(1, args=args))
    for one in (history, history.then(steered(1, {**args, "password": "other" + secret}))):
        drawn = json.dumps(
            [[w.message.first.text, w.message.first.blocks] for w in desired(one.state)]
        )
        assert secret not in drawn
    assert "Secrets are masked" in card(history)


def test_hidden_characters_are_pointed_out() -> None:
    args: dict[str, JsonValue] = {"order": "ORD\u202e-1", "amount": 1}
    history = begun().then(replied(1)).then(judged(1, "ask", args=args)).then(asked(1, args=args))
    assert "ORD⟦U+202E⟧-1" in card(history)
    assert "Hidden characters" in card(history)


def test_an_argument_with_markup_stays_one_preformatted_piece() -> None:
    data = "```\n*APPROVED by <@U1>* <https://evil|click>\n``` &lt;b&gt;"
    args: dict[str, JsonValue] = {"order": data, "amount": 1}
    history = begun().then(replied(1)).then(judged(1, "ask", args=args)).then(asked(1, args=args))
    blocks = message(history, "approval:apr_1").blocks
    pieces = [
        e for b in blocks for e in b.get("elements", ()) if e["type"] == "rich_text_preformatted"
    ]
    assert pieces == [
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": data}]}
    ]


def test_a_notification_of_guidance_does_not_read_as_if_it_had_been_done() -> None:
    told = message(waiting().then(guided(1, "ask the customer")), "approval:apr_1").text
    assert told == "🛞 Steered by <@U0BOB>: Refund an order: ORD-3300, $180.00 · not done"
