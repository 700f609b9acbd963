"""Whoever decides on a card reads who has said something since it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from agent.rules.events import Event
from agent.rules.ids import Principal
from agent.rules.interventions import MessageDeleted, MessageEdited, MessageReceived
from agent.rules.parts import Delivery
from bot.slack.cards.card import card_of
from bot.slack.cards.elsewhere import announced, missed
from bot.slack.cards.home import Home, home_view
from bot.slack.cards.home_asked import Asked
from bot.slack.cards.message import Message
from bot.slack.cards.said_since import is_read_in, said_since_text, with_said
from bot.slack.ids import Place
from bot.slack.thread.as_drawn import redrawn_card
from bot.slack.thread.desired import desired
from tests.agent.rules.happenings import asked_again, expired, out_of_calls
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    FRANK,
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
    waiting,
)
from tests.bot.cards.checking import check_home, check_message, shown
from tests.bot.cards.stories import LAURA, questioned
from tests.bot.cards.test_group import several

MENTIONS = {"@U0ALICE", "@U0BOB", "@U0FRANK", "@U0LAURA", "@U0CAROL", "!subteam^S0FINANCE"}
SINCE = "💬 Said since this was asked: "


def wrote(text: str, by: Principal = FRANK, number: int = 1) -> MessageReceived:
    return MessageReceived(by=by, text=text, ref=ref(number))


def ref(number: int) -> str:
    return f"slack:T0PILOT:C0SUPPORT:{number}.0"


def card(history: History, words_at: Mapping[str, str] | None = None) -> Message:
    """That of ``apr_1``, or on which it is, in the thread."""
    wanted = desired(history.state, words_at=words_at)
    (found,) = [one.message for one in wanted if one.key == "approval:apr_1"]
    check_message(found, MENTIONS | {f"{url}|look at it" for url in (words_at or {}).values()})
    return found


def line(history: History) -> str:
    """What it says of that; empty where it says nothing."""
    return next((one for one in shown(card(history).blocks).splitlines() if SINCE in one), "")


ONE = "1 message in its thread,"
PLACE = str(Place("T0PILOT", "C0SUPPORT", "1.0"))
HORSES = "hold your horses, 60 I said!"


def test_it_says_who_said_what_before_anything_can_be_clicked() -> None:
    history = waiting().then(wrote(HORSES)).then(wrote("use only 60", ALICE, 2))
    assert line(waiting()) == ""
    assert line(history) == f"{SINCE}<@U0ALICE>: “use only 60” · and 1 more by <@U0FRANK>"
    read = shown(card(history).blocks)
    assert read.index("It has not happened yet.") < read.index(SINCE) < read.index("Approve")
    assert line(history) in card(history).text, "whoever has it read out"


@pytest.mark.parametrize(
    ("history", "above"),
    [
        (waiting(), "ORD-3300"),
        (several(2), "1. Refund an order?"),
        (questioned("$20", "$90"), "may answer"),
        (in_review(), "ORD-3300"),
        (out_of_calls(), "Go on (+"),
    ],
    ids=["call", "several", "question", "review", "budget"],
)
def test_each_kind_of_card_says_it_and_nobodys_telephone_rings(
    history: History, above: str
) -> None:
    state = history.then(wrote(HORSES)).state
    approval = list(state.approvals.values())[-1]
    (told,) = [
        one.message
        for one in desired(state)
        if one.key.startswith("approval:") and one.is_open and SINCE in shown(one.message.blocks)
    ]
    check_message(told, MENTIONS)
    read = shown(told.blocks)
    assert read.index(f"{SINCE}<@U0FRANK>: “{HORSES}”") < read.index(above)
    for words in (shown(told.first.blocks), told.without_blocks):
        assert f"{SINCE}“{HORSES}”" in words
        assert "U0FRANK" not in words
    assert not told.first.is_complete, "an edit says who"
    assert SINCE not in told.first.text
    view = home_view(Home(waiting=[Asked(approval, state)]))
    check_home(view, MENTIONS)
    at_home = shown(view["blocks"])
    assert at_home.index(f"{SINCE}{ONE} by <@U0FRANK>") < at_home.index("for <@U0ALICE>")
    state = replace(state, place=PLACE)
    redrawn = redrawn_card(approval.id, state, among_others=True, channel="C0SUPPORT")
    assert f"{SINCE}<@U0FRANK>: “" in shown(redrawn.blocks), "also until it is drawn anew"


@pytest.mark.parametrize("end", [approved(1), denied(1), guided(1, "60"), expired(1)])
def test_what_became_of_it_does_not_keep_it(end: Event) -> None:
    history = waiting().then(wrote(HORSES)).then(end)
    assert line(history) == ""
    assert SINCE not in card(history).text


def test_an_answered_question_does_not_keep_it() -> None:
    assert line(questioned().then(wrote("well")).then(answered(1, "90"))) == ""


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("no", True), ("Don't!", True), ("👎", True), ("yes, but 60", True), ("stop", True)]
    + [
        (one, True)
        for one in ("not approved", "do not approve this", "I don't agree", "not ok with me")
    ]
    + [
        (one, False)
        for one in ("yes", "ok!", "👍🏽", ":+1:", "go ahead", "approved", "Looks good to me")
    ],
)
def test_a_no_is_an_objection_and_a_mere_yes_hides_none(text: str, is_told: bool) -> None:
    assert (line(waiting().then(wrote(text))) != "") == is_told
    behind = line(waiting().then(wrote(HORSES)).then(wrote(text, ALICE, 2)))
    assert (HORSES in behind) == (not is_told)


def test_what_was_said_before_it_was_asked_is_not_said_since() -> None:
    history = waiting()
    before = begun().then(wrote("60")).then(replied(1)).then(judged(1, "ask")).then(asked(1))
    assert line(before) == ""
    # Asked once more, it is still the same call that somebody said this of.
    again = history.then(wrote(HORSES)).then(expired(1)).then(asked_again(1))
    state = again.then(asked(1, approval=2, supersedes=1)).state
    assert HORSES in (said_since_text(state.open_approvals, state, {}, with_words=True) or "")


def test_what_was_deleted_vanishes_and_what_was_edited_reads_as_it_does_now() -> None:
    history = waiting().then(wrote(HORSES)).then(wrote("use only 60", ALICE, 2))
    deleted = history.then(MessageDeleted(ref=ref(2), by=ALICE))
    assert line(deleted) == f"{SINCE}<@U0FRANK>: “{HORSES}”"
    assert line(deleted.then(MessageDeleted(ref=ref(1), by=FRANK))) == ""
    edited = history.then(MessageEdited(ref=ref(1), text="take 60", by=FRANK))
    assert line(edited) == f"{SINCE}<@U0FRANK>: “take 60” · and 1 more by <@U0ALICE>"


def test_of_what_the_last_reply_was_to_as_it_had_been_nothing_stands_in_its_place() -> None:
    edited = MessageEdited(ref=ref(1), text="take 60", by=FRANK)
    history = begun().then(wrote(HORSES)).then(edited).then(replied(1, asked_at=2))
    history = history.then(judged(1, "ask")).then(asked(1))
    assert line(history.then(MessageDeleted(ref=ref(1), by=FRANK))) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<!channel> *stop* `it` <@U0BOB>", "&lt;!channel&gt; ∗stop∗ ˋitˋ &lt;@U0BOB&gt;"),
        ("one\ntwo\n\n  three", "one two three"),
        ("6\u202e0", "6⟦U+202E⟧0"),
        ("x" * 79, "x" * 79),
        ("x" * 90, "x" * 67 + "… [shortened]"),
    ],
)
def test_words_are_quoted_as_data_and_cut(text: str, told: str) -> None:
    assert line(waiting().then(wrote(text))) == f"{SINCE}<@U0FRANK>: “{told}”"


def test_it_is_one_line_however_many_talk() -> None:
    history, people = waiting(), [ALICE, BOB, FRANK, LAURA, Principal("cli:root")]
    for number, by in enumerate([*people, *people], 1):
        history = history.then(wrote(f"say {number}", by, number))
    assert line(history) == (
        f"{SINCE}the operator: “say 10” · and 9 more by <@U0LAURA>, <@U0FRANK>, <@U0BOB> and 2 more people"
    )
    assert f"{SINCE}“say 10” · and 9 more" in shown(card(history).first.blocks)


def test_it_leads_to_the_newest_where_that_can_be_opened() -> None:
    history = waiting().then(wrote(HORSES)).then(wrote("use only 60", ALICE, 2))
    url = "https://a.example/archives/C0SUPPORT/p20?thread_ts=1.5&amp;cid=C0SUPPORT"
    told = shown(card(history, {ref(2): url}).blocks)
    assert f" by <@U0FRANK> · <{url}|look at it>" in told
    assert "look at it" not in shown(card(history, {ref(1): url}).blocks)


def test_of_several_it_counts_since_the_first_that_still_waits() -> None:
    history = several(2).then(wrote(HORSES))
    assert HORSES in line(history)
    assert HORSES in line(history.then(approved(1)))
    assert line(history.then(approved(1)).then(approved(2))) == ""


def _called(card: Message, history: History) -> Message:
    approval = history.state.open_approvals[0]
    delivery = Delivery(notify="channel")
    told = approval.requested.model_copy(update={"delivery": delivery})
    return announced(replace(approval, requested=told), card)


@pytest.mark.parametrize("around", [_called, lambda one, _: one])
def test_it_stands_below_the_head_whatever_else_does(
    around: Callable[[Message, History], Message],
) -> None:
    history = waiting().then(wrote(HORSES))
    state = history.state
    approval = state.open_approvals[0]
    told = around(card_of(approval, state), history)
    told = missed(
        approval, with_said(told, [approval], state, {}, with_words=True), "not_in_channel"
    )
    for blocks in (told.blocks, told.first.blocks):
        read = shown(blocks)
        assert read.index("has not happened yet") < read.index(SINCE) < read.index("ORD-3300\n")
    assert "U0FRANK" not in shown(told.first.blocks)


def _talked_of(history: History) -> bool:
    return next(one for one in desired(history.state) if one.key == "approval:apr_1").is_talked_of


def test_talk_of_what_waits_is_less_urgent_than_what_was_decided() -> None:
    alone, both = waiting().then(wrote(HORSES)), several(2).then(wrote(HORSES))
    assert [_talked_of(one) for one in (waiting(), alone, both)] == [False, True, True]
    assert [_talked_of(one.then(approved(1))) for one in (alone, both)] == [False, False]


@pytest.mark.parametrize("history", [waiting(), several(2), questioned("$20"), in_review()])
@pytest.mark.parametrize("channel", ["C0SUPPORT", "C0OPS", "D0BOB", None])
def test_the_words_stand_only_where_whoever_reads_them_sees_the_thread(
    history: History, channel: str | None
) -> None:
    history = history.then(wrote(HORSES)).then(wrote("use only 60", ALICE, 2))
    state = replace(history.state, place=PLACE)
    approval = list(state.approvals.values())[-1]
    links = {ref(2): "https://a.example/p2"}
    redrawn = redrawn_card(approval.id, state, among_others=True, channel=channel, words_at=links)
    check_message(
        redrawn,
        MENTIONS | {f"{url}|look at {it}" for url in links.values() for it in ("it", "the newest")},
    )
    first = redrawn.announce.blocks if redrawn.announce else ()
    for told in (
        shown(redrawn.blocks),
        redrawn.text,
        redrawn.without_blocks,
        shown(first or redrawn.blocks),
    ):
        assert SINCE in told
        assert ("use only 60" in told) == (channel == "C0SUPPORT")
        assert HORSES not in told
    if channel != "C0SUPPORT":
        line = f"{SINCE}2 messages in its thread, by <@U0ALICE> and <@U0FRANK> · <https://a.example/p2|look at the newest>"
        assert line in shown(redrawn.blocks)
        assert f"{SINCE}2 messages in its thread" in redrawn.without_blocks
        assert "U0FRANK" not in redrawn.without_blocks


def test_of_a_run_whose_place_is_not_known_the_words_stand_nowhere_else() -> None:
    state = replace(waiting().then(wrote(HORSES)).state, place=None)
    assert not any(is_read_in(one, state) for one in (None, "C0SUPPORT"))


def test_however_many_talk_it_is_one_line_elsewhere_too() -> None:
    history, people = waiting(), [ALICE, BOB, FRANK, LAURA, Principal("cli:root")]
    for number, by in enumerate([*people, *people], 1):
        history = history.then(wrote(f"say {number}", by, number))
    asked = history.state.open_approvals
    assert said_since_text(asked, history.state, {}, with_words=False) == (
        f"{SINCE}10 messages in its thread, by the operator, <@U0LAURA>, <@U0FRANK> and 2 more people"
    )
    one = waiting().then(wrote(HORSES)).state
    links = {ref(1): "https://a.example/p1"}
    assert said_since_text(one.open_approvals, one, links, with_words=False) == (
        f"{SINCE}{ONE} by <@U0FRANK> · <https://a.example/p1|look at it>"
    )
