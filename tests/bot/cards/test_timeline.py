"""A run's time line: who did what and when, in words, within what one message holds."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from agent.rules.events import (
    CallReturned,
    CallStarted,
    ModelFailed,
    RunFailed,
    RunFinished,
    RunReopened,
)
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId
from agent.rules.interventions import (
    BudgetReached,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Approvers, Cut, GivenFile, Quoted, Receipt, Summary
from bot.slack.cards.text import measure
from bot.slack.cards.timeline import timeline_message
from bot.slack.cards.timeline_words import Links
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    SECOND,
    TWO_OF_FINANCE,
    History,
    answered,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    in_review,
    judged,
    left_unknown,
    looked_up,
    progressed,
    replied,
    returned,
    settled,
    started,
    steered,
    voted,
    waiting,
)
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.stories import questioned
from tests.bot.cards.waits import asked_again, escalated, expired, patient, reminded

_DATE = re.compile(r"<!date\^\d+\^[^|]*\|([^>]*)>")
OTHERS = (Quoted(by=ALICE, text="it was late"), Quoted(by=ALICE, text="twice"))
FILES = (GivenFile(name="orders.csv", text="a"), GivenFile(name="logo.png", why_not="no text"))
MANY = tuple(GivenFile(name=f"{number}.csv", text="a") for number in range(7))
CALL = "*Refund an order* (ORD-3300, $180.00)"


def summed_up(text: str = "ORD-3300 was *paid*.") -> History:
    summary = ConversationSummarised(
        replies=0, summary=Summary(text=text, said=(text,)), asked_at=2, model="a:b"
    )
    return begun().then(ConversationShortened(summing=0)).then(summary)


def read(history: History, links: Links | None = None) -> str:
    told = timeline_message(history.recorded, history.state, links)
    return _DATE.sub(r"\1", shown(told.blocks))


def last(history: History) -> str:
    """What the newest line says, without its time."""
    return read(history).splitlines()[-1].partition(" · ")[2]


def heard() -> History:
    """With something said that the model has not answered to."""
    return begun().then(MessageReceived(by=BOB, text="hurry", ref="m1"))


def run_of_a_call(*end: Any) -> History:
    history = waiting().then(approved(1))
    return history.then(call_started(1, history.now + SECOND)).then(*end)


@pytest.mark.parametrize(
    ("history", "line"),
    [
        (begun(), "<@U0ALICE> asked: “refund ORD-3300 180”"),
        (begun().then(replied(1, text="I look it up.")), "The agent: “I look it up.”"),
        (
            begun().then(ModelFailed(error="no such model")),
            "No answer from the model: no such model",
        ),
        (
            waiting(),
            f"⏸ May it? {CALL} · over the threshold · may decide: any 1 of"
            " <!subteam^S0FINANCE>, not <@U0ALICE>",
        ),
        (
            waiting().then(approved(1, note="as agreed")),
            "✅ <@U0BOB> approved *Refund an order* · Note: “as agreed”",
        ),
        (
            waiting(TWO_OF_FINANCE).then(voted(1)),
            "✅ <@U0BOB> said yes to *Refund an order*; more are needed",
        ),
        (
            waiting().then(denied(1, "too much")),
            "⛔ <@U0BOB> denied *Refund an order* · Reason: “too much”",
        ),
        (
            waiting().then(steered(1, {"order": "ORD-3300", "amount": 90})),
            "🛞 <@U0BOB> steered *Refund an order*: Amount: $180.00 → $90.00",
        ),
        (
            waiting().then(guided(1, "ask them first")),
            "🛞 <@U0BOB> steered *Refund an order*, and it was not done · Guidance: “ask them first”",
        ),
        (
            run_of_a_call(returned(1)),
            f"✓ {CALL} · 1.0 s",
        ),
        (
            run_of_a_call(
                CallReturned(
                    call_id=waiting().state.open_calls[0].id,
                    output="done",
                    receipt=Receipt(status="committed", external_id="re_123"),
                )
            ),
            f"✓ {CALL} · 1.0 s · re_123",
        ),
        (
            run_of_a_call(returned(1, "card expired", is_error=True)),
            f"✗ {CALL}: failed, nothing was done: card expired",
        ),
        (
            run_of_a_call(left_unknown(1)),
            f"❓ {CALL}: nobody knows whether it happened: it did not answer",
        ),
        (
            run_of_a_call(),
            f"▶︎ {CALL}: running, until 2026-11-29 12:01 UTC at most",
        ),
        (
            started(),
            f"▶︎ {CALL}: running, until 2026-11-29 12:01 UTC at most · allowed by: allow process_refund",
        ),
        (
            run_of_a_call(progressed(1, "<!here> *3* of 7")),
            "*Refund an order*: &lt;!here&gt; ∗3∗ of 7",
        ),
        (run_of_a_call(looked_up(1)), "*Refund an order* was looked up: it had not happened"),
        (in_review().then(settled(2, "happened")), "<@U0BOB> on *Refund an order*: it happened"),
        (in_review(), "⏸ Did it happen? *Refund an order* · may decide: any 1 of"),
        (questioned(), "⏸ The agent asks <@U0ALICE>: “How much of ORD-3300 is to be refunded?”"),
        (
            questioned(approvers=Approvers(members=True)),
            "⏸ The agent asks any full member of this workspace:",
        ),
        (questioned(approvers=Approvers()), "⏸ The agent asks the operator, on the command line:"),
        (questioned().then(answered(1, "half of it")), "💬 <@U0ALICE> answered: “half of it”"),
        (begun().then(MessageReceived(by=BOB, text="hurry")), "<@U0BOB> said: “hurry”"),
        (
            begun().then(MessageReceived(by=BOB, text="as they say", quoted=OTHERS, files=FILES)),
            "<@U0BOB> said: “as they say” · with it: 2 messages of others, “orders.csv” and"
            " “logo.png” (not read)",
        ),
        (
            begun().then(MessageReceived(by=BOB, text="this", quoted=OTHERS[:1], files=MANY)),
            "<@U0BOB> said: “this” · with it: 1 message of others, “0.csv”, “1.csv”, “2.csv” and"
            " 4 more files",
        ),
        (
            begun("refund it", quoted=OTHERS),
            "<@U0ALICE> asked: “refund it” · with it: 2 messages of others",
        ),
        (
            heard().then(MessageEdited(ref="m1", by=BOB, text="wait")),
            "<@U0BOB> changed what they said: “wait”",
        ),
        (heard().then(MessageDeleted(ref="m1", by=BOB)), "<@U0BOB> took back what they had said"),
        (begun().then(RunHeld(by=BOB, reason="lunch")), "⏸ Paused by <@U0BOB> (“lunch”)"),
        (begun().then(RunHeld(by=BOB)).then(RunResumed(by=ALICE)), "▶︎ Resumed by <@U0ALICE>"),
        (begun().then(StopRequested(by=BOB)), "⏹ Stopped by <@U0BOB>: nothing new begins"),
        (begun().then(StopRequested(by=BOB), RunCancelled()), "⏹ Nothing of it runs any more"),
        (reminded(patient()), "People were reminded: *Refund an order*"),
        (
            escalated(patient()),
            "Asked as well: <!subteam^S0LEGAL> and <@U0ERIN>: *Refund an order*",
        ),
        (
            expired(patient()),
            "⏳ Nobody decided in time: *Refund an order*; it waits until it is asked again",
        ),
        (asked_again(expired(patient())), "<@U0ALICE> had it asked again: *Refund an order*"),
        (
            begun().then(BudgetReached(budget="model_calls", used="40", limit="40")),
            "⏹ Its budget is used up: 40 of 40 model calls",
        ),
        (
            begun().then(ConversationShortened(cut=Cut(turns=1, limit=600))),
            "Long results and files are told to the model in short from here on",
        ),
        (
            begun().then(ConversationShortened(summing=0)),
            "The conversation is long: the model sums up what was before",
        ),
        (summed_up(), "Summed up: “ORD-3300 was ∗paid∗.”"),
        (begun().then(RunFinished(answer="Refunded.")), "✓ Done: “Refunded.”"),
        (begun().then(RunFailed(error="no model")), "✗ Failed: no model"),
        (
            begun().then(RunFailed(error="no model")).then(RunReopened(by=BOB)),
            "↻ <@U0BOB> had it go on from where it had failed",
        ),
    ],
)
def test_each_line_says_who_did_what(history: History, line: str) -> None:
    assert last(history).startswith(line)


def test_what_was_taken_back_or_put_otherwise_before_it_was_heard_is_told_as_it_stands() -> None:
    kept = heard().then(MessageEdited(ref="m1", by=BOB, text="quickly"))
    kept = kept.then(MessageEdited(ref="m1", by=BOB, text="slowly"))
    told = read(kept)
    assert "<@U0BOB> said something, and changed it" in told
    assert "<@U0BOB> changed what they said: “slowly”" in told
    for gone in ("hurry", "quickly"):
        assert gone not in told
    told = read(kept.then(MessageDeleted(ref="m1", by=BOB)))
    assert "<@U0BOB> said something, and took it back" in told
    assert "slowly" not in told
    first = begun("refund all of it", ref="m0")
    edited = first.then(MessageEdited(ref="m0", by=ALICE, text="refund half"))
    assert "<@U0ALICE> asked: “refund half”" in read(edited)
    assert "all of it" not in read(edited)
    told = read(first.then(MessageDeleted(ref="m0", by=ALICE)))
    assert "<@U0ALICE> asked for something, and took it back" in told
    assert "all of it" not in told


def test_whoever_only_decides_reads_of_calls_and_decisions_and_nothing_that_was_said() -> None:
    history = questioned().then(answered(1, "a secret half")).then(returned(1, "a secret half"))
    history = (
        history.then(replied(2, text="a secret plan"))
        .then(judged(2, "ask"))
        .then(asked(2, approval=2))
    )
    history = history.then(MessageReceived(by=BOB, text="a secret wish", ref="m1"))
    used = guided(2, "a secret wish").model_copy(update={"ref": "m1"})
    history = history.then(used).then(RunHeld(by=BOB, reason="a secret lunch"))
    history = history.then(RunResumed(by=BOB))
    summary = Summary(text="a secret summary", said=("a secret word",), done=("a secret deed",))
    history = history.then(
        ConversationSummarised(replies=0, summary=summary, asked_at=2, model="a:b")
    )
    for end in (RunFinished(answer="a secret answer"), RunFailed(error="a secret trouble")):
        ended = history.then(end)
        assert "a secret" in read(ended)
        message = timeline_message(ended.recorded, ended.state, is_unsaid=True)
        check_message(message, mentions=["@U0ALICE", "@U0BOB", "!subteam^S0FINANCE"])
        told = shown(message.blocks) + message.text
        assert "<@U0ALICE> asked for it" in told
        assert f"⏸ May it? {CALL}" in told
        assert "🛞 <@U0BOB> steered *Refund an order*, and it was not done" in told
        assert "⏸ Paused by <@U0BOB>" in told
        for unsaid in ("secret", "refund ORD-3300 180", "How much", "answered"):
            assert unsaid not in told


def test_what_a_call_is_made_of_is_told_once_at_its_end() -> None:
    told = read(run_of_a_call(returned(1)).then(RunFinished(answer="Refunded.")))
    assert told.count("Refund an order") == 3  # asked, approved, done
    assert "proposed" not in told
    assert "judged" not in told


def test_a_second_attempt_is_told() -> None:
    history = started().then(looked_up(1))
    again = CallStarted(
        call_id=history.state.open_calls[0].id,
        attempt=2,
        deadline=history.now + timedelta(minutes=1),
    )
    told = read(history.then(again).then(returned(1)))
    assert "↻ *Refund an order* was begun again, for the same effect" in told


def test_a_line_leads_to_where_it_stands() -> None:
    history = run_of_a_call(returned(1)).then(MessageReceived(by=BOB, text="thanks", ref="m1"))
    history = history.then(RunFailed(error="no model")).then(RunReopened(by=BOB))
    history = history.then(RunFinished(answer="Refunded."))
    told = read(
        history,
        Links(
            root="https://s/root",
            cards={ApprovalId("apr_1"): "https://s/card"},
            ends={0: "https://s/failed", 1: "https://s/done"},
            messages={"m1": "https://s/m1"},
        ),
    ).splitlines()
    links = {line.rpartition("<")[2]: line for line in told if "|look>" in line}
    assert "asked: “refund" in links["https://s/root|look>"]
    assert "approved" in links["https://s/card|look>"]
    assert "“thanks”" in links["https://s/m1|look>"]
    assert "Failed" in links["https://s/failed|look>"]
    assert "Done" in links["https://s/done|look>"]


def long_run(rounds: int, text: str = "") -> History:
    history = begun()
    for number in range(1, rounds + 1):
        history = history.then(replied(number, text=text)).then(judged(number))
        history = history.then(call_started(number, history.now)).then(returned(number))
    return history.then(RunFinished(answer="All of them."))


@pytest.mark.parametrize("text", ["", "I go on. " * 30, "<!channel> & *" * 40])
def test_of_a_long_run_the_newest_is_shown_and_the_rest_is_counted(text: str) -> None:
    history = long_run(150, text)
    message = timeline_message(history.recorded, history.state)
    check_message(message, ["@U0ALICE"])
    lines = [one for one in shown(message.blocks).splitlines() if one.startswith("• <!date")]
    assert "asked: “refund" in lines[0]
    assert "✓ Done: “All of them.”" in lines[-1]
    left_out = re.search(r"… (\d+) events are left out here", shown(message.blocks))
    assert left_out is not None
    told = [one.event.kind for one in history.recorded[1 + int(left_out[1]) :]]
    assert told.count("call_returned") == sum("✓ *Refund" in line for line in lines)
    assert history.recorded[int(left_out[1])].event.kind in ("call_returned", "model_replied")
    assert "`pilothouse journal run_1`" in shown(message.blocks)
    assert measure(shown(message.blocks)) > 8_000


def test_of_a_short_run_nothing_is_left_out() -> None:
    assert "left out" not in read(long_run(10))


def test_what_people_models_and_tools_wrote_stays_data() -> None:
    evil = "<!channel> *bold* `code` <@U0EVE> <https://x|y>"
    history = begun(evil).then(replied(1, text=evil)).then(judged(1))
    history = history.then(call_started(1, history.now)).then(returned(1, evil, is_error=True))
    history = history.then(MessageReceived(by=ALICE, text=evil)).then(RunFailed(error=evil))
    message = timeline_message(history.recorded, history.state)
    check_message(message, ["@U0ALICE"])
    assert shown(message.blocks).count("&lt;!channel&gt; ∗bold∗ ˋcodeˋ") == 5


def test_secrets_are_masked() -> None:
    secret = "password=hunter2hunter2"
    history = begun(secret).then(replied(1, text=secret)).then(judged(1))
    history = history.then(call_started(1, history.now)).then(returned(1, secret, is_error=True))
    history = history.then(MessageReceived(by=ALICE, text=secret)).then(RunFinished(answer=secret))
    told = timeline_message(history.recorded, history.state)
    assert "hunter2" not in shown(told.blocks) + told.text
    assert shown(told.blocks).count("••••••••") == 5


@pytest.mark.parametrize("name", sorted(one.stem for one in JOURNALS.glob("*.jsonl")))
def test_of_each_golden_journal_every_event_has_its_words(name: str) -> None:
    journal = read_golden(name)
    message = timeline_message(journal, fold(journal))
    names = re.findall(r"<([@!](?!date)[^>]*)>", shown(message.blocks))
    check_message(message, names)
    assert len(shown(message.blocks).splitlines()) > 3
