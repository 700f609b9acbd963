"""What is said of questions that a rule puts elsewhere, or tells a whole channel of."""

from __future__ import annotations

import pytest

from agent.rules.events import ApprovalDecided
from agent.rules.ids import ApprovalId
from agent.rules.parts import Delivery
from bot.slack.cards.elsewhere import notice_message, past_notice_message, pointer_message
from bot.slack.cards.message import Message
from bot.slack.thread.desired import desired
from bot.slack.thread.standing import Standing
from tests.agent.rules.histories import (
    History,
    answered,
    approved,
    asked,
    begun,
    denied,
    guided,
    judged,
    replied,
)
from tests.bot.cards.checking import shown
from tests.bot.cards.stories import questioned
from tests.bot.cards.test_group import reply

ASKED = ApprovalId("apr_1")


def _delivered(delivery: Delivery) -> History:
    question = asked(1).model_copy(update={"delivery": delivery})
    return begun().then(replied(1)).then(judged(1, "ask")).then(question)


def _card(history: History, standing: Standing | None = None) -> Message:
    stands = {ASKED: standing} if standing else None
    return next(w.message for w in desired(history.state, standing=stands) if w.key.endswith(ASKED))


def test_why_it_is_asked_here_is_read_before_anything_is_decided() -> None:
    card = _card(_delivered(Delivery(card="C0OPS")), Standing(refused="not_in_channel"))
    for blocks in (card.blocks, card.first.blocks):
        read = shown(blocks)
        words = "asked here, because it was to be asked in <#C0OPS>, and I am not in that channel."
        assert read.index(words) < read.index("ORD-3300") < read.index("Approve")
        assert "Invite me" not in read


def test_a_channel_that_is_told_reads_what_waits() -> None:
    card = _card(_delivered(Delivery(notify="channel")))
    read = shown(card.first.blocks)
    assert "<!channel> Approve? Refund an order: ORD-3300, $180.00" in read
    assert "<!channel>" not in shown(card.blocks)


def test_what_a_channel_is_told_is_no_markup() -> None:
    question = asked(1, args={"why": "*do* _it_ `now`"})
    question = question.model_copy(update={"delivery": Delivery(notify="channel")})
    card = _card(begun().then(replied(1)).then(judged(1, "ask")).then(question))
    (told,) = [one["text"]["text"] for one in card.first.blocks if "<!channel>" in str(one)]
    assert not set("*_`") & set(told)


def test_in_text_alone_the_channel_is_rung_and_nobody_by_name() -> None:
    words = _card(_delivered(Delivery(notify="channel"))).without_blocks
    assert words.startswith("<!channel> ")
    assert "<!subteam" not in words
    assert "<@" not in words
    assert "`approve apr_1`" in words


def test_a_question_waits_for_an_answer_wherever_it_is_asked() -> None:
    history = questioned("Ten", "All of it")
    question = history.state.approvals[ASKED]
    assert "waits for an answer in <#C0OPS>" in pointer_message(question, ["C0OPS"]).text
    notice = notice_message(question, history.state, None)
    assert "waits for an answer. You may answer it." in notice.text
    past = past_notice_message(history.then(answered(1, "Ten")).state.approvals[ASKED])
    assert "waited for an answer: answered by <@U0ALICE>." in past.text


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (approved(1), "a decision: approved by <@U0BOB>."),
        (denied(1), "a decision: denied by <@U0BOB>."),
        (guided(1, "no"), "a decision: steered by <@U0BOB>."),
        (None, "a decision: nobody has to decide it any more."),
    ],
)
def test_who_was_told_directly_is_told_how_it_ended(
    word: ApprovalDecided | None, said: str
) -> None:
    history = _delivered(Delivery(notify="dm"))
    approval = history.then(*([word] if word else [])).state.approvals[ASKED]
    assert said in past_notice_message(approval).text


def test_of_what_is_over_it_is_not_said_that_a_secret_is_used() -> None:
    history = reply(asked(1, args={"order": "ORD-1", "password": "hunter2", "amount": 1}))
    assert "the real values are used" in shown(_card(history).blocks)
    assert "the real values are used" not in shown(_card(history.then(denied(1))).blocks)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (["U0BOB", "U0FRANK"], "in direct messages of 2 people."),
        (["U0BOB"], "in direct messages of 1 person."),
        (["C0OPS", "U0BOB"], "in <#C0OPS> and in direct messages of 1 person."),
    ],
)
def test_before_people_are_named_it_says_how_many_have_the_card(
    places: list[str], said: str
) -> None:
    first = pointer_message(questioned("Ten").state.approvals[ASKED], places).first
    assert first.text.endswith(said)
    assert "somebody" not in str(first.blocks)
    assert not first.is_complete, "the names are put in by an edit"


def test_a_card_in_a_channel_is_said_in_full_at_once() -> None:
    message = pointer_message(questioned("Ten").state.approvals[ASKED], ["C0OPS"])
    assert message.first.is_complete
    assert message.first.text == message.text
