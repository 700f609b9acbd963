"""How many have to say yes, who has, and what is still needed: as the card says it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.rules.consent import Missing
from agent.rules.events import RunFailed, RunFinished
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from bot.slack.cards.message import Message
from bot.slack.cards.more import why_text
from bot.slack.cards.refusals import counted_text
from bot.slack.cards.votes import more_needed, who_may_decide
from bot.slack.ids import APPROVE, DENY, MORE, STEER
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    BOB,
    FRANK,
    History,
    approved,
    asked,
    begun,
    denied,
    judged,
    previewed,
    replied,
    waiting,
)
from tests.bot.cards.checking import shown
from tests.bot.cards.stories import ANY_TWO, LAURA, ONE_EACH, yes
from tests.bot.cards.waits import expired, patient

FINANCE, LEGAL = "<!subteam^S0FINANCE>", "<!subteam^S0LEGAL>"
WITH_ONE_MORE = ONE_EACH.model_copy(update={"count": 3, "groups": ("S0OPS",)})


def message(history: History, key: str = "approval:apr_1") -> Message:
    return next(one.message for one in desired(history.state) if one.key == key)


def card(history: History, key: str = "approval:apr_1") -> str:
    return shown(message(history, key).blocks)


def buttons(history: History) -> list[str]:
    blocks = message(history).blocks
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


@pytest.mark.parametrize(
    ("approvers", "words"),
    [
        (Approvers(groups=("S0FINANCE",)), f"any 1 of {FINANCE}, not <@U0ALICE>"),
        (ANY_TWO, f"any 2 of {FINANCE}, not <@U0ALICE>"),
        (
            Approvers(users=("U0BOB", "U0FRANK"), count=2, requester=True),
            "any 2 of <@U0BOB> or <@U0FRANK>",
        ),
        (ONE_EACH, f"one each of {FINANCE} and {LEGAL}, not <@U0ALICE>"),
        (
            WITH_ONE_MORE,
            f"any 3 of <!subteam^S0OPS>, {FINANCE} or {LEGAL},"
            f" among them one each of {FINANCE} and {LEGAL}, not <@U0ALICE>",
        ),
        (Approvers(one_from_each=("S0LEGAL",), requester=True), f"one of {LEGAL}"),
        (Approvers(), "only the operator, on the command line"),
        (
            Approvers(users=("U0BOB", "U0ALICE", "U0FRANK"), count=2),
            "any 2 of <@U0BOB> or <@U0FRANK>",
        ),
        (
            Approvers(users=("U0ALICE",), groups=("S0FINANCE",)),
            f"any 1 of {FINANCE}, not <@U0ALICE>",
        ),
        (Approvers(users=("U0BOB",)), "<@U0BOB>"),
        (Approvers(users=("U0BOB", "U0ALICE"), requester=True), "any 1 of <@U0BOB> or <@U0ALICE>"),
        (Approvers(users=("U0ALICE",)), "only the operator, on the command line"),
    ],
)
def test_the_card_says_who_may_decide_and_how_many(approvers: Approvers, words: str) -> None:
    assert who_may_decide(approvers, waiting(approvers).state) == words


def test_whoever_asked_for_a_fork_is_no_more_asked_than_who_asked_for_its_run() -> None:
    state = replace(waiting().state, forked_by=(BOB,))
    listed = Approvers(users=("U0ALICE", "U0BOB", "U0FRANK"))
    assert who_may_decide(listed, state) == "<@U0FRANK>"
    assert who_may_decide(Approvers(groups=("S0FINANCE",)), state) == (
        f"any 1 of {FINANCE}, not <@U0ALICE> or <@U0BOB>"
    )


def test_why_it_is_asked_says_who_has_said_yes_so_far() -> None:
    state = waiting(ANY_TWO).then(yes()).state
    (approval,) = state.open_approvals
    told = why_text(approval, state.call(approval.requested.of_call), state)
    assert "\nSo far 1 of 2 have said yes: <@U0BOB>\n" in told
    assert "you are asked" not in told


def test_all_who_may_decide_are_rung_once() -> None:
    first = message(waiting(ONE_EACH)).first
    assert first.text.endswith(f"· {FINANCE} {LEGAL}")
    assert f"{FINANCE} {LEGAL}: <@U0ALICE>'s run wants to do this." in shown(first.blocks)


def test_whoever_asked_is_not_rung_to_decide_what_they_may_not() -> None:
    listed = Approvers(users=("U0BOB", "U0ALICE", "U0FRANK"), count=2)
    pending = message(waiting(listed))
    assert pending.first.text.endswith("· <@U0BOB> <@U0FRANK>")
    assert shown(pending.first.blocks).count("<@U0ALICE>") == 1
    assert pending.without_blocks.startswith("<@U0BOB> <@U0FRANK>: Refund an order?")


def test_a_yes_of_two_stands_on_the_open_card_with_what_is_still_needed() -> None:
    once = waiting(ANY_TWO).then(yes(BOB))
    read = card(once)
    assert "✅ 1 of 2: approved by <@U0BOB> · <!date^" in read
    assert "\nOne more is needed." in read
    assert buttons(once) == [APPROVE, DENY, STEER, MORE]
    assert counted_text(once.state.approvals[_FIRST], once.state) == (
        "Your yes is counted; one more is needed."
    )
    assert "waiting for a decision, 1 of 2 have said yes · card below" in card(once, "status")


_FIRST = waiting().state.open_approvals[0].id


def test_it_is_said_of_whom_the_other_yes_is_needed() -> None:
    once = waiting(ONE_EACH).then(yes(BOB))
    assert f"One more is needed, from {LEGAL}." in card(once)
    told = counted_text(once.state.approvals[_FIRST], once.state)
    assert told == f"Your yes is counted; one more is needed, from {LEGAL}."


def test_a_second_yes_of_the_same_group_brings_it_no_further_and_says_so() -> None:
    read = card(waiting(ONE_EACH).then(yes(BOB)).then(yes(FRANK)))
    assert "✅ 1 of 2: approved by <@U0BOB>" in read
    assert "✅ 1 of 2: approved by <@U0FRANK>" in read
    assert f"One more is needed, from {LEGAL}." in read


def test_a_yes_that_is_counted_no_more_is_not_shown_as_one() -> None:
    history = waiting(ANY_TWO).then(yes(BOB)).then(yes(FRANK, not_counted=(BOB,)))
    read = card(history)
    assert "☑️ approved by <@U0BOB>" in read
    assert "not counted: Slack does not confirm any more that they may decide this" in read
    assert "✅ 1 of 2: approved by <@U0FRANK>" in read
    assert "One more is needed." in read
    by_laura = approved(1, LAURA, user="U0LAURA", groups=("S0FINANCE",), not_counted=(BOB,))
    decided = history.then(by_laura)
    assert "✅ *Approved* by <@U0FRANK> and <@U0LAURA> · <!date" in card(decided)
    assert "not counted" not in card(decided)


@pytest.mark.parametrize(
    ("valid_for", "why"),
    [
        (timedelta(seconds=4), "counted no more: a yes is good for 4 s"),
        (timedelta(hours=1), "not counted: Slack does not confirm any more"),
    ],
)
def test_a_yes_that_grew_too_old_is_told_from_one_of_whom_slack_does_not_confirm(
    valid_for: timedelta, why: str
) -> None:
    call = judged(1, "ask", approvers=ANY_TWO, valid_for=valid_for)
    history = begun().then(replied(1)).then(call).then(asked(1, approvers=ANY_TWO)).then(yes(BOB))
    history = history.then(yes(FRANK, not_counted=(BOB,)), after=timedelta(seconds=5))
    read = card(history)
    (line,) = [one for one in read.splitlines() if "<@U0BOB>" in one and "☑️" in one]
    assert line.endswith(f" · {why}") or f" · {why} " in line


def test_a_vote_after_which_somebody_has_changed_groups_is_not_called_enough() -> None:
    history = waiting(ONE_EACH).then(yes(BOB)).then(yes(LAURA, "S0LEGAL"))
    read = card(history)
    assert "2 of 2" not in read
    assert "One more is needed." in read
    assert "1 of 2 have said yes" in card(history, "status")


def test_a_yes_that_counted_again_in_the_end_is_shown_as_one() -> None:
    history = waiting(ANY_TWO).then(yes(BOB)).then(yes(FRANK, not_counted=(BOB,)))
    read = card(history.then(approved(1, FRANK, user="U0FRANK", groups=("S0FINANCE",))))
    assert "✅ *Approved* by <@U0BOB> and <@U0FRANK> · <!date" in read
    assert "not counted" not in read


@pytest.mark.parametrize(
    ("history", "headline"),
    [
        (
            waiting(ANY_TWO).then(yes(BOB)).then(approved(1, FRANK)),
            "✅ *Approved* by <@U0BOB> and <@U0FRANK> · <!date",
        ),
        (
            waiting(ANY_TWO).then(yes(BOB)).then(denied(1, "too much", FRANK)),
            "⛔ *Denied* by <@U0FRANK> · <!date",
        ),
        (
            waiting(ANY_TWO)
            .then(yes(BOB))
            .then(approved(1, Principal("cli:root"), authority="operator")),
            "✅ *Approved* by the operator · <!date",
        ),
        (
            waiting(ANY_TWO).then(yes(BOB)).then(RunFailed(error="gone")),
            "⏹ *Its run has failed*",
        ),
        (waiting().then(approved(1)), "✅ *Approved* by <@U0BOB> · <!date"),
    ],
)
def test_a_decided_card_names_all_who_decided_and_counts_no_more(
    history: History, headline: str
) -> None:
    read = card(history)
    assert headline in read
    assert "1 of 2" not in read
    assert "needed" not in read
    assert buttons(history) == []


def test_a_notification_of_a_quorum_names_everybody() -> None:
    history = waiting(ANY_TWO).then(yes(BOB)).then(approved(1, FRANK))
    text = message(history).text
    assert text.startswith("✅ Approved by <@U0BOB> and <@U0FRANK>: Refund an order: ORD-3300")


def test_the_status_says_for_whom_the_run_waited() -> None:
    history = waiting(ANY_TWO).then(yes(BOB)).then(approved(1, FRANK))
    over = history.then(RunFinished(answer="Done."))
    assert "waited 2.0 s for <@U0BOB> and <@U0FRANK>" in card(over, "status")


def test_where_too_few_said_yes_in_time_it_is_said_who_did() -> None:
    history = patient(ANY_TWO).then(yes(BOB))
    history = expired(history)
    read = card(history)
    assert "⏳ *Too few had said yes by <!date^" in read
    assert "✅ 1 of 2: approved by <@U0BOB>" in read
    assert "needed" not in read
    ended = card(expired(patient(ANY_TWO).then(yes(BOB)), "deny"), "status")
    assert "waited 24 h while too few said yes" in ended
    assert "for <@U0BOB>" not in ended


def test_a_note_to_a_yes_is_quoted_under_it() -> None:
    read = card(waiting(ANY_TWO).then(yes(BOB, note="*fine* by <@U1>")))
    assert "Note by <@U0BOB>:\n*fine* by <@U1>" in read


def test_the_notes_of_all_who_approved_it_stay_with_their_names() -> None:
    once = waiting(ANY_TWO).then(yes(BOB, note="the customer is *right*"))
    by_frank = approved(1, FRANK, user="U0FRANK", groups=("S0FINANCE",), note="fine")
    read = card(once.then(by_frank))
    assert "Note by <@U0BOB>:\nthe customer is *right*" in read
    assert "Note by <@U0FRANK>:\nfine" in read
    alone = card(waiting().then(approved(1, note="fine")))
    assert "Note\nfine" in alone
    assert "Note by" not in alone


@pytest.mark.parametrize(
    ("lacks", "words"),
    [
        (Missing(1), "one more is needed"),
        (Missing(2), "2 more are needed"),
        (Missing(1, ("S0LEGAL",)), f"one more is needed, from {LEGAL}"),
        (
            Missing(2, ("S0FINANCE", "S0LEGAL")),
            f"2 more are needed, one each of {FINANCE} and {LEGAL}",
        ),
        (Missing(3, ("S0LEGAL",)), f"3 more are needed, among them one of {LEGAL}"),
        (
            Missing(3, ("S0FINANCE", "S0LEGAL")),
            f"3 more are needed, among them one each of {FINANCE} and {LEGAL}",
        ),
    ],
)
def test_what_is_needed_is_said_in_words(lacks: Missing, words: str) -> None:
    assert more_needed(lacks) == words


def test_each_yes_changes_what_the_thread_shows() -> None:
    def digest(history: History) -> str:
        return next(one.digest for one in desired(history.state) if one.key == "approval:apr_1")

    once = waiting(ANY_TWO).then(yes(BOB))
    assert len({digest(waiting(ANY_TWO)), digest(once), digest(once.then(approved(1, FRANK)))}) == 3


def test_who_is_asked_again_is_told_why_and_the_old_card_says_that_it_was_not_enough() -> None:
    why = "the tool has changed since it was approved"
    again = asked(1, approval=2, supersedes=1).model_copy(update={"again_because": why})
    history = waiting().then(approved(1)).then(judged(1, "ask", again_because=why)).then(again)
    assert f"Asked again because: {why}" in card(history, "approval:apr_2")
    assert f"Asked again below, because: {why}" in card(history)
    assert "Asked again" not in card(waiting().then(approved(1)))


def test_a_call_that_is_about_to_be_asked_again_says_why_in_the_status() -> None:
    again = waiting().then(approved(1)).then(judged(1, "ask", again_because="the yes is too old"))
    assert "is to be asked again: the yes is too old" in card(again, "status")


def test_a_preview_that_could_not_be_made_is_not_passed_over() -> None:
    unseen = begun().then(replied(1)).then(judged(1, "ask", can_preview=True))
    unseen = unseen.then(previewed(1, None, "the shop did not answer"), asked(1))
    line = "What will happen could not be said: the shop did not answer"
    assert line in card(unseen)
    assert line in shown(message(unseen).first.blocks)
    assert line not in card(unseen.then(denied(1)))
    seen = begun().then(replied(1)).then(judged(1, "ask", can_preview=True))
    seen = seen.then(previewed(1, "$180.00 goes back"), asked(1, preview="$180.00 goes back"))
    assert "What will happen\n$180.00 goes back" in card(seen)
    assert "could not be said" not in card(seen)


def test_how_long_a_yes_is_good_for_stands_on_the_card_where_the_rule_says_so() -> None:
    def small_print(valid_for: timedelta | None) -> str:
        call = judged(1, "ask", valid_for=valid_for)
        return card(begun().then(replied(1)).then(call).then(asked(1)))

    assert " · a yes is good for 1 h" in small_print(timedelta(hours=1))
    assert "a yes is good for" not in small_print(None)


def test_a_yes_in_data_is_no_mention() -> None:
    forged = Principal("slack:T0PILOT:U0BOB>*<!channel")
    drawn = json.dumps(message(waiting(ANY_TWO).then(yes(forged))).blocks)
    assert "<!channel" not in drawn
