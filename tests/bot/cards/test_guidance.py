"""What people see of what was said while calls waited for a decision."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from agent.rules.events import Event, RunFinished
from agent.rules.ids import ApprovalId
from agent.rules.interventions import (
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    StopRequested,
)
from bot.slack.cards.guidance import said_at
from bot.slack.thread.desired import Wanted, desired
from tests.agent.rules.deciding import decided
from tests.agent.rules.happenings import asked_again, expired, out_of_calls
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    History,
    approved,
    asked,
    begun,
    in_review,
    judged,
    replied,
    voted,
    waiting,
)
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.stories import questioned


def wrote(number: int = 1, text: str = "only *half*") -> MessageReceived:
    return MessageReceived(by=ALICE, text=text, ref=f"slack:T0PILOT:C0SUPPORT:{number}.0")


def offers(history: History) -> list[Wanted]:
    return [one for one in desired(history.state) if one.key.startswith("guidance:")]


def buttons(wanted: Wanted) -> list[tuple[str, str, str]]:
    return [
        (one["action_id"], one["value"], one["text"]["text"])
        for block in wanted.message.blocks
        if block["type"] == "actions"
        for one in block["elements"]
    ]


def read(wanted: Wanted) -> str:
    return shown(wanted.message.blocks)


def two_waiting(order: str = "ORD-1") -> History:
    """One reply's two calls, on one card."""
    first: dict[str, JsonValue] = {"order": order, "amount": 180}
    second: dict[str, JsonValue] = {"order": "ORD-2", "amount": 90}
    history = begun().then(replied(1, 2))
    history = history.then(judged(1, "ask", args=first), judged(2, "ask", args=second))
    return history.then(asked(1, args=first), asked(2, approval=2, args=second))


def test_it_says_who_wrote_what_and_that_it_decides_nothing() -> None:
    history = waiting().then(wrote())
    (offer,) = offers(history)
    assert buttons(offer) == [("guidance.use", "apr_1", "Use as guidance")]
    (row,) = [one for one in offer.message.blocks if one["type"] == "actions"]
    assert said_at(row["block_id"]) == history.length
    assert "<@U0ALICE> wrote while this waits:" in read(offer)
    assert "only *half*" in read(offer)
    how, _ = read(offer).split("Use as guidance", 1)
    assert "This decides nothing: to approve or deny, use the buttons of its card." in how
    assert not offer.is_past
    check_message(offer.message, mentions=["@U0ALICE"])


def test_what_is_edited_to_more_than_can_be_shown_stays_in_its_message_and_can_be_used_no_more() -> (
    None
):
    history = waiting().then(wrote())
    (before,) = offers(history)
    history = history.then(MessageEdited(ref=wrote().ref or "", text="x" * 3_000, by=ALICE))
    (after,) = offers(history)
    assert (after.key, buttons(after)) == (before.key, [])
    (both,) = offers(history.then(wrote(2, "only half")))
    assert (both.key, len(buttons(both))) == (before.key, 1)


def test_it_is_quoted_as_it_was_edited() -> None:
    history = waiting().then(wrote())
    edited = MessageEdited(ref=wrote().ref or "", text="only a third", by=ALICE)
    (offer,) = offers(history.then(edited))
    assert "only a third" in read(offer)
    assert "half" not in read(offer)
    (row,) = [one for one in offer.message.blocks if one["type"] == "actions"]
    seen = said_at(row["block_id"])
    assert seen == history.length + 1, "a click says what stood there"


def test_whoever_uses_it_sees_all_of_it_and_what_is_too_long_for_that_is_not_offered() -> None:
    words = "first this\n" + "then that " * 240 + "and last: pay all"
    (offer,) = offers(waiting().then(wrote(text=words)))
    assert "and last: pay all" in read(offer)
    check_message(offer.message, mentions=["@U0ALICE"])
    assert offers(waiting().then(wrote(text=words * 2))) == []


@pytest.mark.parametrize(
    ("since", "words"),
    [
        (
            (decided(action="steer", guidance="only *half*", ref=wrote().ref),),
            "Used as guidance by <@U0BOB>",
        ),
        ((decided(action="steer", guidance="otherwise"),), "Kept for the agent's next step."),
        ((approved(1),), "Kept for the agent's next step."),
        ((expired(1),), "Kept for the agent's next step."),
        ((StopRequested(by=BOB), RunCancelled()), "Not used: the run was stopped."),
        ((MessageDeleted(ref=wrote().ref or "", by=ALICE),), "It was deleted."),
    ],
)
def test_afterwards_it_has_no_button_and_says_what_became_of_it(
    since: Sequence[Event], words: str
) -> None:
    (offer,) = offers(waiting().then(wrote()).then(*since))
    assert buttons(offer) == []
    assert offer.is_past, "it is not posted once nothing can be done with it"
    assert words in read(offer)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "yes",
            "OK!",
            "approve",
            "Approved.",
            "go ahead",
            "lgtm",
            "👍",
            "👍🏽",
            ":+1::skin-tone-2:",
        ),
        *(
            "yes, go ahead, approved!",
            "+1",
            "✔️",
            "no",
            "deny it please",
            "Denied",
            "no, don’t do it",
            "ok go ahead and refund it",
            "Sounds good to me",
            "fine by me",
            "do it",
            "please approve this <@U0BOB>",
            "of course, go for it!",
            "works for me 👍",
            "do not refund it",
            "not ok",
            "no way",
            "that's fine with me, thanks",
        ),
    ],
)
def test_what_reads_like_a_decision_is_no_guidance_and_says_how_to_decide(text: str) -> None:
    (offer,) = offers(waiting().then(wrote(text=text)))
    assert buttons(offer) == []
    assert read(offer).endswith("use the buttons of its card.")
    assert not offer.is_past, "whoever meant to decide is told how"
    check_message(offer.message, mentions=["@U0ALICE"])


@pytest.mark.parametrize(
    "text",
    [
        "yes, but only half",
        "no more than 90",
        "ok 19",
        "please",
        "approve ORD-1",
        "go",
        "?",
        "not yet",
        "make it half",
        "refund it",
        "no, the other order",
        "fine, but ask Carol",
        "do it tomorrow",
    ],
)
def test_what_says_more_than_yes_or_no_can_be_used(text: str) -> None:
    (offer,) = offers(waiting().then(wrote(text=text)))
    assert len(buttons(offer)) == 1


def test_however_many_talk_it_is_one_message_in_which_the_newest_few_can_be_used() -> None:
    history = waiting()
    for number in range(1, 6):
        history = history.then(wrote(number, f"only {number} % of it"))
    (note,) = offers(history.then(wrote(6, "thanks, yes please")))
    assert note.key == offers(waiting().then(wrote()))[0].key, "it stays where it was posted"
    assert [f"only {number} %" in read(note) for number in range(1, 6)] == [False] * 2 + [True] * 3
    assert len(buttons(note)) == 3
    assert "2 earlier messages are kept for the agent's next step." in read(note)
    check_message(note.message, mentions=["@U0ALICE"])
    rows = [one["block_id"] for one in note.message.blocks if one["type"] == "actions"]
    assert len(set(map(said_at, rows))) == 3, "a click says which it means"
    used = decided(action="steer", guidance="only 4 % of it", ref=wrote(4).ref)
    (note,) = offers(history.then(used))
    assert (note.is_past, buttons(note)) == (True, [])
    kept, guided = read(note).splitlines()[0], read(note)
    assert kept == "<@U0ALICE> wrote here. Kept for the agent's next step."
    assert "<@U0ALICE> wrote here. Used as guidance by <@U0BOB>" in guided


def test_what_is_said_below_a_newer_question_has_a_message_of_its_own_there() -> None:
    history = waiting().then(wrote()).then(expired(1)).then(asked_again(1))
    first, second = offers(history.then(asked(1, approval=2, supersedes=1)).then(wrote(2)))
    assert (first.is_past, len(buttons(second))) == (True, 1)


def test_it_leads_back_to_the_card() -> None:
    links = {ApprovalId("apr_1"): "https://a.example/p1"}
    found = desired(waiting().then(wrote()).state, links=links)
    (note,) = [one for one in found if one.key.startswith("guidance:")]
    told = "use the buttons of <https://a.example/p1|its card>."
    assert told in str(note.message.blocks)
    assert told in note.message.without_blocks


def test_where_several_calls_wait_there_is_a_button_for_each() -> None:
    history = two_waiting().then(wrote())
    (offer,) = offers(history)
    assert [(value, text) for _, value, text in buttons(offer)] == [
        ("apr_1", "Use for 1. ORD-1, $180.00 · Refund an order"),
        ("apr_2", "Use for 2. ORD-2, $90.00 · Refund an order"),
        ("grp_1", "Use for both"),
    ]
    assert [action_id for action_id, *_ in buttons(offer)] == [
        f"guidance.use:{number}" for number in (1, 2, 3)
    ]
    check_message(offer.message, mentions=["@U0ALICE"])
    (offer,) = offers(history.then(approved(1)))
    left = [("guidance.use", "apr_2", "Use for 2. ORD-2, $90.00 · Refund an order")]
    assert buttons(offer) == left
    used = decided(action="steer", guidance="only *half*", ref=wrote().ref)
    (offer,) = offers(history.then(used))
    assert buttons(offer) == left
    told = read(offer)
    assert "Used for 1. ORD-1, $180.00 · Refund an order, by <@U0BOB> · <!date^" in told
    assert told.index("Used for 1.") < told.index("Use for 2.")
    check_message(offer.message, mentions=["@U0ALICE", "@U0BOB"])


def test_a_button_names_no_more_of_a_call_than_there_is_room_for() -> None:
    (offer,) = offers(two_waiting("ORD-" + "1" * 90).then(wrote()))
    check_message(offer.message, mentions=["@U0ALICE"])
    assert buttons(offer)[0][2].startswith("Use for 1. ORD-11111")


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(begun().then(wrote()), id="nothing is asked"),
        pytest.param(questioned(), id="a question"),
        pytest.param(in_review(), id="a review"),
        pytest.param(out_of_calls(), id="a budget"),
        pytest.param(waiting().then(approved(1)), id="it is decided"),
        pytest.param(waiting().then(expired(1)), id="nobody decided in time"),
    ],
)
def test_what_is_no_open_call_is_not_guided(history: History) -> None:
    assert offers(history.then(wrote(2))) == []


def test_what_was_said_before_it_was_asked_is_not_offered() -> None:
    # A newer question about the call: what was said of the old one was said of the old one.
    history = waiting().then(wrote()).then(expired(1)).then(asked_again(1))
    (offer,) = offers(history.then(asked(1, approval=2, supersedes=1)))
    assert buttons(offer) == []


def test_what_is_too_long_for_guidance_is_only_kept() -> None:
    assert offers(waiting().then(wrote(text="x" * 10_001))) == []


def test_a_vote_leaves_it_as_it_is() -> None:
    history = waiting().then(wrote())
    assert offers(history.then(voted(1, BOB))) == offers(history)


def test_once_the_agent_has_heard_it_that_is_said_whatever_comes_after() -> None:
    history = waiting().then(wrote()).then(decided(action="steer", guidance="no"))
    unheard = history.then(replied(2, asked_at=2, text="Well."))
    assert "Kept for the agent's next step." in read(offers(unheard)[0])
    heard = history.then(replied(2, asked_at=history.length, text="Well."))
    for later in (heard, heard.then(RunFinished(answer="Well."))):
        (offer,) = offers(later)
        assert "The agent has been told." in read(offer)
        assert offer.is_past
    stopped = heard.then(StopRequested(by=BOB), RunCancelled())
    assert "The agent has been told." in read(offers(stopped)[0])


@pytest.mark.parametrize("block_id", ["", "said", "said:x:1", "said:٣:1", "other:3:1", "said:3"])
def test_a_forged_row_says_nothing(block_id: str) -> None:
    assert said_at(block_id) is None
