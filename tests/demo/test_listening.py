"""The demo's model while people talk to it: it finishes what it was asked, and does what it is told besides."""

from __future__ import annotations

import pytest

from agent.engine.planning import _NEWER
from agent.rules.state import AS_GUIDANCE, EARLY
from agent.rules.transcript import AssistantMessage, Message
from bot.demo.model import HELP
from tests.demo.conversations import ask, called, told

SEARCHED = called("search_policy", {"topic": "refunds"}, '{"policy": "…"}')


def checked(*numbers: int) -> list[Message]:
    return [
        message
        for number in numbers
        for message in called(
            "check_order",
            {"order": f"ORD-{number}"},
            f'{{"order":"ORD-{number}","state":"delivered"}}',
        )
    ]


def delivered(*numbers: int) -> str:
    return "\n".join(f"ORD-{number} is delivered." for number in numbers)


async def to_the_end(prompt: str, *turns: list[Message]) -> tuple[list[object], str]:
    """The orders that it goes on to check, and its last word."""
    orders: list[object] = []
    so_far = list(turns)
    while True:
        text, calls = await ask(prompt, *so_far)
        if not calls:
            return orders, text
        ((tool, args),) = calls
        assert tool == "check_order"
        orders.append(args["order"])
        so_far.append(checked(int(str(args["order"]).removeprefix("ORD-"))))


@pytest.mark.parametrize(
    ("words", "orders", "answer"),
    [
        ("actually also check ORD-9", "34569", delivered(1, 2, 3, 4, 5, 6, 9)),
        ("and ORD-9 please", "34569", delivered(1, 2, 3, 4, 5, 6, 9)),
        ("thanks", "3456", delivered(1, 2, 3, 4, 5, 6)),
        (AS_GUIDANCE, "3456", delivered(1, 2, 3, 4, 5, 6)),
        (
            "the weather is fine",
            "3456",
            delivered(1, 2, 3, 4, 5, 6)
            + "\nI did not understand “the weather is fine”, and changed nothing for it.",
        ),
        (
            "no need to hurry",
            "3456",
            delivered(1, 2, 3, 4, 5, 6)
            + "\nI did not understand “no need to hurry”, and changed nothing for it.",
        ),
        (
            "check ORD-9 instead",
            "9",
            delivered(1, 2, 9) + "\nNot checked, as I was told: ORD-3, ORD-4, ORD-5, ORD-6.",
        ),
        (
            "only ORD-4",
            "4",
            delivered(1, 2, 4) + "\nNot checked, as I was told: ORD-3, ORD-5, ORD-6.",
        ),
        (
            "only check ORD-4",
            "4",
            delivered(1, 2, 4) + "\nNot checked, as I was told: ORD-3, ORD-5, ORD-6.",
        ),
        (
            "don't check ORD-3 and ORD-5",
            "46",
            delivered(1, 2, 4, 6) + "\nNot checked, as I was told: ORD-3, ORD-5.",
        ),
        (
            "forget it!",
            "",
            delivered(1, 2) + "\nNot checked, as I was told: ORD-3, ORD-4, ORD-5, ORD-6.",
        ),
        (
            "please stop",
            "",
            delivered(1, 2) + "\nNot checked, as I was told: ORD-3, ORD-4, ORD-5, ORD-6.",
        ),
    ],
)
async def test_it_finishes_what_it_was_asked_unless_it_is_told_otherwise(
    words: str, orders: str, answer: str
) -> None:
    said = await to_the_end("check ORD-1 … ORD-6", checked(1, 2), told(words))
    assert said == ([f"ORD-{number}" for number in orders], answer)


async def test_a_call_that_a_newer_message_dropped_is_made_again() -> None:
    dropped = called(
        "check_order", {"order": "ORD-2"}, f"Not executed and not queued. {_NEWER}", True
    )
    orders, answer = await to_the_end(
        "check ORD-1, ORD-2", checked(1), dropped, told("also check ORD-9")
    )
    assert orders == ["ORD-2", "ORD-9"]
    assert answer == delivered(1, 2, 9)


async def test_things_of_another_kind_are_done_one_after_the_other_and_answered_together() -> None:
    _, calls = await ask("refund ORD-3300 90", SEARCHED, told("check ORD-1"))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "90"})]
    refunded = called("process_refund", calls[0][1], '{"order":"ORD-3300","amount":"90.00"}')
    complete = "Refund of $90.00 for ORD-3300 is complete."
    # Also where it had its last word already, of which nobody would hear otherwise.
    answered: list[Message] = [AssistantMessage(complete)]
    for more in ([], answered):
        so_far = (SEARCHED, refunded, more, told("check ORD-1"))
        said = await to_the_end("refund ORD-3300 90", *so_far)
        assert said == (["ORD-1"], f"{complete}\nORD-1 is delivered.")
    text, _ = await ask("refund ORD-3300 90", SEARCHED, told("check ORD-1 instead"), checked(1))
    assert text == "Not refunded, as I was told: ORD-3300.\nORD-1 is delivered."


async def test_one_message_may_ask_for_several_things_in_their_order() -> None:
    prompt = (
        "check ORD-1 and ORD-2, then refund ORD-3 20 and refund ORD-4 30; don't refund ORD-5 50"
    )
    orders = [{"order": "ORD-3", "amount": "20"}, {"order": "ORD-4", "amount": "30"}]
    _, calls = await ask(prompt, checked(1, 2), SEARCHED)
    assert calls == [("process_refund", args) for args in orders]


GUIDED = "It was not executed. A person wants it done otherwise: "


def guided(words: str) -> list[Message]:
    return called("process_refund", {"order": "ORD-3300", "amount": "180"}, GUIDED + words)


@pytest.mark.parametrize(
    ("guidance", "later", "amount"),
    [
        ("use only 95", (), "95"),
        ("only half", (), "90"),
        ("just 25%", (), "45"),
        ("no, make it $95.50", (), "95.50"),
        ("yes, go ahead, approved!", (), "180"),
        ("yes, go ahead, approved!", ("use only 95",), "95"),
        ("ask the customer first", ("hm", "only half please"), "90"),
    ],
)
async def test_guidance_that_names_an_amount_is_used_and_a_yes_asks_again(
    guidance: str, later: tuple[str, ...], amount: str
) -> None:
    text, calls = await ask("refund ORD-3300 180", SEARCHED, guided(guidance), told(*later))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": amount})]
    assert text == ("Guidance is no approval, so I ask once more." if amount == "180" else "")


@pytest.mark.parametrize(
    "words",
    [
        "give me 5 minutes",
        "20 or $30",
        "90 or half",
        "she paid 20",
        "hmm 45",
        "can we do 25",
        "20!?",
        "is it 30?",
        "is it 30",
        "did Bob already give 20?",
        "I'll ask the customer, she ordered 2 of them",
    ],
)
async def test_no_money_moves_on_a_number_that_is_not_surely_an_amount(words: str) -> None:
    assert (await ask("refund ORD-3300 180", SEARCHED, guided(words)))[1] == []
    question = called("ask_user", {}, f"A person answered: {words}")
    _, ((tool, again),) = await ask("refund ORD-3300", question)
    assert tool == "ask_user"
    how_much = "How much of ORD-3300 is to be refunded?"
    assert again["question"] == f"I find no clear amount in “{words}”. {how_much}"


@pytest.mark.parametrize(
    "words",
    ["80 is what the customer wants, don't do it yet", "never mind", "no", "nothing, she kept it"],
)
async def test_an_answer_that_wants_nothing_ends_it(words: str) -> None:
    question = called("ask_user", {}, f"A person answered: {words}")
    said = f"Nothing was refunded, as I was told: {words}"
    assert await ask("refund ORD-3300", question) == (said, [])


async def test_what_finance_said_counts_and_not_what_was_said_before() -> None:
    early = told(f"{EARLY} use only 99")
    _, calls = await ask("refund ORD-3300 180", SEARCHED, guided("use only 60"), early)
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "60"})]
    answer = called("ask_user", {}, "A person answered: $90")
    _, calls = await ask("refund ORD-3300", answer, told(f"{EARLY} use only 50"))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "90"})]


async def test_the_answer_counts_and_not_what_was_said_while_it_was_waited_for() -> None:
    question = called("ask_user", {}, "A person answered: 90, see the invoice")
    _, calls = await ask("refund ORD-3300", told("refund 50"), question)
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "90"})]
    _, calls = await ask("refund ORD-3300", question, told("no, make it 20"))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "20"})]


async def test_an_amount_that_is_named_before_the_refund_is_proposed_counts() -> None:
    _, calls = await ask("refund ORD-3300 180", SEARCHED, told("wait, it should be 90!"))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "90"})]


async def test_an_amount_that_comes_too_late_is_said_to_have_done_so() -> None:
    refunded = called(
        "process_refund", {"order": "ORD-3300"}, '{"order":"ORD-3300","amount":"180"}'
    )
    late = told("wait, it should be 90!")
    text, _ = await ask("refund ORD-3300 180", SEARCHED, refunded, late)
    assert text == (
        "Refund of $180.00 for ORD-3300 is complete.\n"
        "“wait, it should be 90!” came too late: I had done my part by then."
    )


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("thanks everyone, good work", "You're welcome!"),
        ("ok", "All right."),
        ("Hello there!", "Hello!"),
        ("approved!", "All right. A yes in words decides nothing"),
        ("forget it", "All right: there is nothing left"),
    ],
)
async def test_what_wants_nothing_done_is_answered_kindly(words: str, begins: str) -> None:
    text, calls = await ask(words)
    assert (text[: len(begins)], calls) == (begins, [])
    assert HELP not in text
