"""The card on which an agent asks, the modal for an answer of one's own, and what stands there later."""

from __future__ import annotations

import json

import pytest

from agent.rules.events import RunFailed, RunFinished
from agent.rules.ids import ApprovalId, Principal
from agent.rules.parts import Approvers
from bot.slack.cards.message import Message
from bot.slack.cards.modals import answer_modal, approval_of, read_answer
from bot.slack.ids import ANSWER, ANSWER_MODAL
from bot.slack.thread.desired import Priority, desired
from tests.agent.rules.histories import ALICE, BOB, History, answered, reopened, replied
from tests.bot.cards.checking import check_message, check_view_limits, shown
from tests.bot.cards.stories import HOW_MUCH, question, questioned

ALICES = "<@U0ALICE>"


def message(history: History, key: str = "approval:apr_1") -> Message:
    return next(one.message for one in desired(history.state) if one.key == key)


def card(history: History, key: str = "approval:apr_1") -> str:
    return shown(message(history, key).blocks)


def buttons(history: History) -> list[tuple[str, str]]:
    blocks = message(history).blocks
    elements = [e for b in blocks if b["type"] == "actions" for e in b["elements"]]
    return [(e["action_id"], e["text"]["text"]) for e in elements if e["type"] == "button"]


@pytest.mark.parametrize("free_text", [True, False])
def test_more_than_five_answers_are_chosen_from_a_list(free_text: bool) -> None:
    history = questioned(*map(str, range(12)), free_text=free_text)
    check_message(message(history), {"@U0ALICE"})
    (row,) = [block["elements"] for block in message(history).blocks if block["type"] == "actions"]
    assert row[0]["action_id"] == f"{ANSWER}:1"
    assert [(one["text"]["text"], one["value"]) for one in row[0]["options"]] == [
        (str(number), f"{number + 1}|apr_1") for number in range(10)
    ]
    assert buttons(history) == ([(ANSWER, "Another answer")] if free_text else [])


def test_an_open_question_names_who_is_asked_and_offers_its_answers() -> None:
    read = card(questioned("$20", "$90"))
    assert read.startswith(f"*{ALICES}'s run asks:*\n{HOW_MUCH}")
    assert f"{ALICES} may answer" in read
    assert buttons(questioned("$20", "$90")) == [
        (f"{ANSWER}:1", "$20"),
        (f"{ANSWER}:2", "$90"),
        (ANSWER, "Another answer"),
    ]


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (questioned("$20"), "Answer with the buttons, or reply in this thread."),
        (questioned(), "Answer with the button, or reply in this thread."),
        (questioned(*"123456"), "Answer with the list, or reply in this thread."),
        (
            questioned(approvers=Approvers(members=True, requester=True)),
            "or reply in this thread; whoever is not named here mentions me.",
        ),
        (
            questioned(approvers=Approvers(members=True)),
            "reply in this thread with a mention of me.",
        ),
    ],
)
def test_a_question_that_takes_words_says_how_they_are_given(history: History, words: str) -> None:
    assert words in card(history)


def test_where_words_are_no_answer_or_could_be_one_to_something_else_none_are_asked_for() -> None:
    two = questioned("$20").then(question(approval=2))
    for history in (questioned("$20", free_text=False), questioned(approvers=Approvers()), two):
        assert "reply in this thread" not in card(history)


@pytest.mark.parametrize(
    ("options", "free_text", "wanted"),
    [
        ((), True, ["Answer"]),
        ((), False, ["Answer"]),
        (("yes", "no"), False, ["yes", "no"]),
        (("yes", "no"), True, ["yes", "no", "Another answer"]),
        ([str(n) for n in range(5)], True, [*map(str, range(5)), "Another answer"]),
    ],
)
def test_what_can_be_answered_has_a_button(
    options: list[str], free_text: bool, wanted: list[str]
) -> None:
    found = buttons(questioned(*options, free_text=free_text))
    assert [words for _, words in found] == wanted


def test_its_buttons_carry_the_approvals_id_and_none_is_the_likelier_one() -> None:
    blocks = message(questioned("$20")).blocks
    elements = [e for b in blocks if b["type"] == "actions" for e in b["elements"]]
    assert {element["value"] for element in elements} == {"apr_1"}
    assert not any("style" in element for element in elements)


def test_an_option_that_no_button_can_show_stands_above_them_in_full() -> None:
    long = "Refund only the shipping, and tell the customer that the rest follows"
    history = questioned("yes", long)
    assert f"2. \n{long}" in card(history)
    assert [words for _, words in buttons(history)][:2] == ["1. yes", f"2. {long}"]
    assert "1. " not in card(questioned("yes", "no"))


def test_the_one_who_asked_for_the_run_is_rung_and_nobody_else() -> None:
    others = Approvers(groups=("S0FINANCE",), requester=True)
    first = message(questioned(approvers=others)).first
    assert first.text == f"{ALICES}'s run asks: {HOW_MUCH}"
    assert "S0FINANCE" not in json.dumps(first.blocks)
    assert "and whoever else the policy names" in shown(first.blocks)
    # Once it stands there, it says who they are.
    assert f"{ALICES} and <!subteam^S0FINANCE> may answer" in card(questioned(approvers=others))
    assert not first.is_complete


def test_where_nobody_in_slack_asked_for_the_run_the_others_are_rung() -> None:
    history = questioned(approvers=Approvers(groups=("S0FINANCE",), requester=True))
    started, *rest = history.recorded
    by_operator = started.event.model_copy(update={"requester": Principal("cli:root")})
    first = started.__class__(
        started.run_id, started.seq, started.id, started.at, started.hash, by_operator
    )
    text = message(History((first, *rest))).first.text
    assert text == f"the operator's run asks: {HOW_MUCH} · <!subteam^S0FINANCE>"


def test_where_blocks_are_refused_the_text_says_how_to_answer() -> None:
    text = message(questioned("$20")).without_blocks
    assert HOW_MUCH in text
    assert "pilothouse answer apr_1 TEXT" in text


@pytest.mark.parametrize("by", [ALICE, BOB])
def test_an_answered_question_says_what_was_answered_and_by_whom(by: Principal) -> None:
    history = questioned("$20").then(answered(1, "about *half*", by))
    read = card(history)
    who = by.rpartition(":")[2]
    for words in (f"✅ *Answered* by <@{who}> · <!date", HOW_MUCH, "Answer\nabout *half*"):
        assert words in read
    assert buttons(history) == []
    assert message(history).text == f"✅ Answered by <@{who}>: {HOW_MUCH} · about ∗half∗"


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (questioned().then(RunFailed(error="gone")), ("⏹ *Its run has failed*",)),
        (
            questioned().then(question(approval=2).model_copy(update={"supersedes": "apr_1"})),
            ("↪︎ *Replaced by a newer question below*",),
        ),
        (
            questioned().then(RunFailed(error="gone")).then(reopened()),
            ("↪︎ *Its run had failed, and was taken on again*",),
        ),
    ],
)
def test_a_question_that_nobody_answered_says_so(history: History, words: tuple[str, ...]) -> None:
    read = card(history)
    for one in (*words, "It was not answered."):
        assert one in read
    assert buttons(history) == []


def test_the_thread_waits_for_an_answer_and_then_shows_that_it_came() -> None:
    open_one = questioned()
    assert [(w.key, w.priority, w.is_open) for w in desired(open_one.state)][1] == (
        "approval:apr_1",
        Priority.APPROVAL,
        True,
    )
    assert message(open_one, "status").text.endswith("waiting for an answer")
    assert "⏸ Ask a person · waiting for an answer · card below" in card(open_one, "status")
    over = open_one.then(answered(1, "$20"))
    assert "✓ Ask a person · answered" in card(over, "status")
    assert not desired(over.state)[1].is_open
    done = over.then(replied(text="Thanks.")).then(RunFinished(answer="Thanks."))
    assert "*Done*" in card(done, "status")
    failed = over.then(RunFailed(error="gone"))
    assert "Ask a person" not in card(failed, "answer")
    assert "Nothing was changed." in card(failed, "answer")


def test_a_question_is_data_and_mentions_nobody() -> None:
    nasty = "<!channel> `x` *bold* <@U1> & <https://evil|click>"
    history = questioned(nasty, text=nasty)
    drawn = json.dumps([message(history).text, message(history).blocks])
    assert "plain_text" in drawn
    for block in message(history).blocks:
        if block["type"] == "section" and block["text"]["type"] == "mrkdwn":
            assert "channel" not in block["text"]["text"]
    assert "<!channel>" not in message(history).text


def test_the_modal_takes_one_answer_and_holds_ids_only() -> None:
    state = questioned("$20").state
    (approval,), (call,) = state.approvals.values(), state.calls.values()
    view = answer_modal(approval, call, state)
    check_view_limits(view)
    assert view["callback_id"] == ANSWER_MODAL
    assert approval_of(view["private_metadata"]) == ApprovalId("apr_1")
    assert json.loads(view["private_metadata"]) == {"approval": "apr_1"}
    (written,) = [block for block in view["blocks"] if block["type"] == "input"]
    assert (written["block_id"], written["element"]["action_id"]) == ("answer", "value")
    assert written["element"]["max_length"] == 3000
    assert HOW_MUCH in shown(view["blocks"])


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"answer": {"value": {"value": "  about half \n"}}}, "about half"),
        ({"answer": {"value": {"value": " \n"}}}, ""),
        ({"answer": {"value": {"value": None}}}, ""),
        ({"answer": {"value": {"value": 90}}}, ""),
        ({}, ""),
    ],
)
def test_what_was_written_is_read(sent: dict[str, dict[str, dict[str, object]]], read: str) -> None:
    assert read_answer(sent) == read
