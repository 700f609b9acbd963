"""The thread's first message: whom it waits for, what it used, what is done when it fails or can't go on."""

from __future__ import annotations

from datetime import timedelta

from agent.rules.events import ModelFailed, RunFailed
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Approvers, Cut, Summary
from bot.slack.cards.status import status_message
from bot.slack.ids import RUN_HOLD, RUN_RETRY, RUN_STOP
from tests.agent.rules.histories import History, approved, begun, replied, waiting
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.stories import questioned
from tests.bot.cards.waits import stopped

BLOCKED = {
    "code": "missing_tool",
    "message": "refunds has no tool process_refund any more.",
    "fix": "Put the tool back; the run goes on by itself.",
}


def read(history: History, blocked: dict[str, str] | None = None) -> str:
    return shown(status_message(history.state, blocked).blocks)


def buttons(history: History, blocked: dict[str, str] | None = None) -> list[str]:
    blocks = status_message(history.state, blocked).blocks
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


def test_it_says_whom_it_waits_for_but_rings_nobody_when_it_is_posted() -> None:
    message = status_message(waiting().state)
    assert "waiting for any 1 of <!subteam^S0FINANCE>" in shown(message.blocks)
    assert "<!subteam" not in str(message.first)
    assert "waiting for a decision" in shown(message.first.blocks)


def test_it_says_from_whom_an_answer_is_waited_for() -> None:
    both = Approvers(groups=("S0FINANCE",), requester=True)
    assert "waiting for <@U0ALICE> and <!subteam^S0FINANCE>" in read(questioned(approvers=both))
    assert "waiting for <@U0ALICE>\n" in read(questioned())


def test_once_it_is_decided_or_stopped_nobody_is_waited_for() -> None:
    assert "waiting for" not in read(waiting().then(approved(1)))
    assert "waiting for" not in read(stopped(waiting()))


def test_it_says_what_was_used() -> None:
    reply = replied(1)
    assert "1 model call · 15 tokens" in read(begun().then(reply))
    # A cost that is not known is not left out as if there were none.
    usage = reply.usage.model_copy(update={"is_priced": False})
    unpriced = begun().then(reply.model_copy(update={"usage": usage}))
    assert "what it cost is not known · 1 model call" in read(unpriced)


def test_a_failed_run_can_be_taken_on_again() -> None:
    assert buttons(begun().then(RunFailed(error="the model is gone"))) == [RUN_RETRY]


def test_a_blocked_run_says_why_and_what_mends_it() -> None:
    message = status_message(begun().then(replied(1)).state, BLOCKED)
    assert message.text.startswith("! ")
    assert message.text.endswith("· Can't go on")
    words = (
        "refunds has no tool process_refund any more. Put the tool back; the run goes on by itself."
    )
    assert words in shown(message.blocks)
    assert buttons(begun().then(replied(1)), BLOCKED) == [RUN_HOLD, RUN_STOP]
    check_message(message, ["@U0ALICE"])


def test_what_was_waited_stands_there_as_of_the_newest_event() -> None:
    history = waiting().then(approved(1), after=timedelta(minutes=2))
    assert "waited 2 min for <@U0BOB>" in read(history)
    assert "waited" not in read(waiting())


def test_it_says_that_the_conversation_is_summed_up_and_that_it_was() -> None:
    summing = begun().then(ConversationShortened(summing=0))
    assert "▶︎ Summing up the conversation so far" in read(summing)
    assert "Summing up" not in read(stopped(summing))
    summary = Summary(text="a secret <@U0BOB>")
    done = summing.then(ConversationSummarised(replies=0, summary=summary, asked_at=2, model="a:b"))
    assert "Summing up" not in read(done)
    assert "what was before is told to the model in short" in read(done)
    assert "a secret" not in read(done)


def test_it_says_that_a_request_was_too_long_and_is_shortened() -> None:
    at_once = begun().now
    failed = begun().then(ModelFailed(error="too long", retry_at=at_once, too_long=9_000))
    assert "this was too long for the model; it is shortened and tried again" in read(failed)
    cut = failed.then(ConversationShortened(cut=Cut(turns=1, limit=600)))
    assert "long results are told to the model in short" in read(cut)
