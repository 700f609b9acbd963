"""The demo's model: what it makes of what it is told."""

from __future__ import annotations

import pytest

from agent.ports import ModelRequest
from agent.rules.ids import Principal
from agent.rules.parts import GivenFile, Quoted
from agent.rules.transcript import AssistantMessage, Message, UserMessage, transcript
from bot.demo.model import HELP, DemoModel
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import begun
from tests.demo.conversations import TOOLS, ask, called, told


async def test_what_others_said_and_what_stands_in_files_asks_it_for_nothing() -> None:
    quoted = Quoted(by=Principal("slack:T0PILOT:U0BOB"), text="refund ORD-1 999")
    file = GivenFile(name="a.txt", text="voucher ORD-2 999")
    asked = begun("well", quoted=(quoted,), files=(file,))
    for history in (asked, asked.then(said("well", quoted=(quoted,)))):
        messages = transcript(history.state)
        reply = await DemoModel().reply(ModelRequest("", messages, TOOLS))
        assert (reply.text, reply.calls) == (f"I could not make sense of that. {HELP}", ())


SEARCHED = called("search_policy", {"topic": "refunds"}, '{"policy": "…"}')


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("refund ORD-3300 180", [("ORD-3300", "180")]),
        ("Please Refund ORD-3300, $1,180.50 today", [("ORD-3300", "1180.50")]),
        ("refund ORD-7 250.50", [("ORD-7", "250.50")]),
        ("refund ORD-1 150 and ORD-2 20", [("ORD-1", "150"), ("ORD-2", "20")]),
        ("refund ORD-1 -5", [("ORD-1", "-5")]),
        ("refund banana 5", [("banana", "5")]),
        ("refund ORD-1 1e999.", [("ORD-1", "1e999")]),
        ("refund ORD-1 180k", [("ORD-1", "180k")]),
        ("refund ORD-1 -$1,180.50!", [("ORD-1", "-1180.50")]),
    ],
)
async def test_it_looks_up_the_policy_and_then_proposes_what_was_asked(
    prompt: str, wanted: list[tuple[str, str]]
) -> None:
    _, calls = await ask(prompt)
    assert calls == [("search_policy", {"topic": "refunds"})]
    _, calls = await ask(prompt, SEARCHED)
    assert calls == [("process_refund", {"order": o, "amount": a}) for o, a in wanted]


REFUND: dict[str, object] = {"order": "ORD-3300", "amount": "180"}


@pytest.mark.parametrize(
    ("output", "is_error", "answer"),
    [
        (
            '{"order":"ORD-3300","amount":"180.00","refund":"re_1"}',
            False,
            "Refund of $180.00 for ORD-3300 is complete.",
        ),
        (
            "A person changed the arguments; it was executed with {}.\n"
            '{"order":"ORD-3300","amount":"90.00","refund":"re_1"}',
            False,
            "Refund of $90.00 for ORD-3300 is complete.",
        ),
        (
            "Denied by a person. It was not executed and will not be. Reason: too much",
            False,
            "The refund of $180.00 for ORD-3300 was denied, and nothing was done. Reason: too much",
        ),
        (
            "It was not executed. A person wants it done otherwise: ask the customer first",
            False,
            "The refund of $180.00 for ORD-3300 was not made. I was told: ask the customer first",
        ),
        (
            "Not executed and not queued. The arguments do not fit. amount: It must be more than 0.",
            True,
            "The refund of $180.00 for ORD-3300 can't be made. amount: It must be more than 0.",
        ),
    ],
)
async def test_its_last_word_says_what_became_of_it(
    output: str, is_error: bool, answer: str
) -> None:
    refund = called("process_refund", REFUND, output, is_error)
    assert await ask("refund ORD-3300 180", SEARCHED, refund) == (answer, [])


async def test_it_plans_again_with_guidance() -> None:
    guided = called(
        "process_refund",
        REFUND,
        "It was not executed. A person wants it done otherwise: only $40 please",
    )
    _, calls = await ask("refund ORD-3300 180", SEARCHED, guided)
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "40"})]


HOW_MUCH = "How much of ORD-3300 is to be refunded?"
ASKED: dict[str, object] = {"question": HOW_MUCH, "options": ["$20", "$90", "$180"]}


@pytest.mark.parametrize("prompt", ["refund ORD-3300", "Please refund ord-3300."])
async def test_it_asks_how_much_where_nobody_said(prompt: str) -> None:
    assert await ask(prompt) == ("", [("ask_user", ASKED)])


@pytest.mark.parametrize(
    ("answer", "amount"),
    [("$90", "90"), ("make it $1,180.50 please", "1180.50"), ("ORD-3300: 20", "20")],
)
async def test_it_refunds_what_it_was_told(answer: str, amount: str) -> None:
    told = called("ask_user", ASKED, f"A person answered: {answer}")
    _, calls = await ask("refund ORD-3300", told)
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": amount})]
    done = called("process_refund", calls[0][1], '{"order":"ORD-3300","amount":"90.00"}')
    assert await ask("refund ORD-3300", told, done) == (
        "Refund of $90.00 for ORD-3300 is complete.",
        [],
    )


async def test_three_answers_without_an_amount_refund_nothing() -> None:
    told = called("ask_user", ASKED, "A person answered: as much as you like")
    for times in (1, 2):
        _, calls = await ask("refund ORD-3300", *[told] * times)
        assert [tool for tool, _ in calls] == ["ask_user"]
    said = "Nothing was refunded: I find no amount in the answer. I was told: as much as you like"
    assert await ask("refund ORD-3300", *[told] * 3) == (said, [])


async def test_a_denial_can_be_worked_around() -> None:
    denied = called("process_refund", REFUND, "Denied by a person. No reason was given.")
    _, calls = await ask("refund ORD-3300 180 or voucher", SEARCHED, denied)
    assert calls == [("send_voucher", {"order": "ORD-3300", "amount": "20"})]


@pytest.mark.parametrize("prompt", ["", "good grief", "refund", "refund ORD-1 abc", "😀" * 4000])
async def test_what_it_does_not_understand_it_says(prompt: str) -> None:
    text, calls = await ask(prompt)
    assert HELP in text
    assert calls == []


REFUNDED = called("process_refund", REFUND, '{"order":"ORD-3300","amount":"180.00"}')
DONE: list[Message] = [AssistantMessage("Refund of $180.00 for ORD-3300 is complete.")]
CHECKED = called("check_order", {"order": "ORD-1"}, '{"order":"ORD-1","state":"delivered"}')
CHECK = ("check_order", {"order": "ORD-1"})


async def test_what_was_done_before_does_not_stand_for_what_is_wanted_later() -> None:
    before = ("refund ORD-3300 180", SEARCHED, REFUNDED, told("refund ORD-9 20"))
    _, calls = await ask(*before)
    assert calls == [("search_policy", {"topic": "refunds"})]
    _, calls = await ask(*before, SEARCHED)
    assert calls == [("process_refund", {"order": "ORD-9", "amount": "20"})]


@pytest.mark.parametrize("words", ["please hurry", "thanks"])
@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [("check ORD-1", CHECK), ("refund ORD-3300", ("ask_user", ASKED))],
)
async def test_what_it_makes_no_sense_of_changes_nothing(
    prompt: str, wanted: tuple[str, dict[str, object]], words: str
) -> None:
    assert await ask(prompt, told(words)) == ("", [wanted])


async def test_later_words_may_complete_what_was_said_before() -> None:
    _, calls = await ask("refund ORD-3300", SEARCHED, told("$90"))
    assert calls == [("process_refund", {"order": "ORD-3300", "amount": "90"})]
    denied = called("process_refund", REFUND, "Denied by a person. No reason was given.")
    _, calls = await ask("refund ORD-3300 180", SEARCHED, denied, told("or a voucher"))
    assert calls == [("send_voucher", {"order": "ORD-3300", "amount": "20"})]


async def test_each_call_of_a_run_has_an_id_of_its_own() -> None:
    messages = (UserMessage("check ORD-1"), *CHECKED, UserMessage("check ORD-2"))
    reply = await DemoModel().reply(ModelRequest("", messages, TOOLS))
    assert [call.model_call_id for call in reply.calls] == ["demo_1"]


async def test_it_greets_with_nothing_that_it_can_not_do() -> None:
    payments = ModelRequest(
        "", (UserMessage("hello"),), tuple(t for t in TOOLS if t.name == "process_refund")
    )
    said = (await DemoModel().reply(payments)).text
    assert said.startswith("Hello! I understand:")
    assert "refund ORD-3300 180" in said
    assert "check ORD-1" not in said
