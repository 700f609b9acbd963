"""A reply in the thread answers what the agent asks: said once, after it was asked, by whoever may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Agent, Policy
from agent.rules.access import Access
from agent.rules.ids import ApprovalId, RunId
from agent.rules.recorded import Recorded
from agent.rules.rule import People
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import ANSWER
from store.journal import SqlJournal
from tests.bot.slack.agents import asking, asking_twice, asking_two_things, refunds
from tests.bot.slack.workspace import Bot, bot_in, drawing

MENTION = "<@U0PILOT> "
ALICE_STEERS = Access(steer=People(users=("U0ALICE",)))
FINANCE_ANSWERS = Policy.model_validate(
    {"rules": [{"tool": "ask_user", "action": "ask", "approvers": {"groups": ["S0FINANCE"]}}]}
)


@pytest.fixture
def agent() -> Agent:
    return asking("$20", "$90")


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, agent: Agent) -> AsyncIterator[Bot]:
    """A bot that draws; its agent asks Alice how much."""
    async with bot_in(sandbox, tmp_path, agent=agent) as connected, drawing(connected):
        yield connected


@pytest.fixture
async def thread(bot: Bot) -> str:
    """In which Alice is asked."""
    return await begun(bot)


async def begun(bot: Bot, root: str | None = None) -> str:
    """The thread of a run, as soon as its question stands there."""
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT", root)
    thread = root or str(said["ts"])
    await stands(bot, 1)
    return thread


async def stands(bot: Bot, count: int) -> None:
    """So many open questions can be seen, and the bot knows where."""

    async def posted() -> bool:
        (state,) = await bot.runs()
        known = (await bot.store.threads.known(state.run_id)).messages
        open_ones = [known.get(f"approval:{one.id}") for one in state.open_approvals]
        return len([one for one in open_ones if one and one.status == "posted"]) == count

    await bot.sandbox.until(posted, f"{count} questions stand in the thread")


async def say(bot: Bot, user: str, text: str, thread: str) -> str:
    """Said there, with all that follows; when it was said."""
    said = await bot.say(user, text, "C0SUPPORT", thread)
    assert said["acknowledged"]
    await bot.services.answering.drain(5)
    return str(said["ts"])


async def deliver_again(bot: Bot, ts: str, *, is_mention: bool) -> None:
    inside = bot.sandbox.inside
    message, channel = (
        inside.messages.read("C0SUPPORT", ts),
        inside.workspace.channels["C0SUPPORT"],
    )
    make = inside.events.mention if is_mention else inside.events.message
    await inside.outbox.publish_and_wait([make(channel, message)])
    await bot.services.answering.drain(5)


async def answers(bot: Bot) -> list[str | None]:
    """To each question in turn; None while it is open."""
    asked = [one for one, _ in await bot.runtime.approvals(waiting_only=False)]
    return [one.decided.text if one.decided else None for one in asked]


async def ended(bot: Bot) -> RunState:
    (state,) = await bot.runs()
    return await bot.ended_run(state.run_id)


async def second_question(bot: Bot, first: ApprovalId) -> None:
    async def asked() -> bool:
        return any(one.id != first for one, _ in await bot.runtime.approvals())

    await bot.sandbox.until(asked, "the second question")
    await stands(bot, 1)


@pytest.mark.parametrize("mention", [MENTION, ""])
async def test_a_reply_by_who_may_answer_is_the_answer(bot: Bot, thread: str, mention: str) -> None:
    await say(bot, "U0ALICE", f"{mention}about half of it", thread)
    state = await ended(bot)
    (call,) = state.calls.values()
    assert call.result is not None
    assert (call.result.output, call.result.by) == (
        "about half of it",
        "slack:T0PILOT:U0ALICE",
    )

    def is_shown() -> bool:
        return "Answered* by <@U0ALICE>" in str(bot.sandbox.messages("C0SUPPORT", thread))

    await bot.sandbox.until(is_shown, "the card says so")
    assert await bot.runtime.replay(state.run_id) == []
    assert bot.whispers("U0ALICE") == []


async def test_retry_is_a_word_to_an_agent_that_is_at_work(bot: Bot, thread: str) -> None:
    ts = await say(bot, "U0ALICE", "retry", thread)
    await ended(bot)
    for _ in range(2):
        await deliver_again(bot, ts, is_mention=False)
    assert await answers(bot) == ["retry"]
    assert (len(await bot.runs()), bot.whispers("U0ALICE")) == (1, [])


@pytest.mark.parametrize(("act", "how"), [("edit", {"text": "19"}), ("delete", {})])
async def test_who_changes_what_was_an_answer_is_told_that_it_was_taken_as_it_was(
    bot: Bot, thread: str, act: str, how: dict[str, str]
) -> None:
    ts = await say(bot, "U0ALICE", "90", thread)
    await bot.act("U0ALICE", act, channel="C0SUPPORT", ts=ts, **how)
    await bot.whispered("U0ALICE", "Your answer was taken as it was: “90”")
    assert await answers(bot) == ["90"]
    assert len(bot.whispers("U0ALICE")) == 1


@pytest.mark.parametrize("agent", [asking_twice()])
@pytest.mark.parametrize("mention", [MENTION, ""])
async def test_the_same_words_answer_the_next_question_too(
    bot: Bot, thread: str, mention: str
) -> None:
    first, _ = await bot.waiting_run()
    await say(bot, "U0ALICE", f"{mention}yes", thread)
    await second_question(bot, first.id)
    await say(bot, "U0ALICE", f"{mention}yes", thread)
    assert await answers(bot) == ["yes", "yes"]
    assert (await ended(bot)).ending == "finished"
    assert bot.whispers("U0ALICE") == []


@pytest.mark.parametrize("agent", [asking_twice()])
@pytest.mark.parametrize("is_mention", [True, False])
async def test_a_reply_that_is_delivered_again_does_not_answer_the_next_question(
    bot: Bot, thread: str, is_mention: bool
) -> None:
    first, _ = await bot.waiting_run()
    ts = await say(bot, "U0ALICE", f"{MENTION if is_mention else ''}yes", thread)
    await second_question(bot, first.id)
    await deliver_again(bot, ts, is_mention=is_mention)
    assert await answers(bot) == ["yes", None]
    assert len(await bot.runs()) == 1
    assert bot.whispers("U0ALICE") == []


async def test_a_file_beside_an_answer_is_said_not_to_go_with_it(bot: Bot, thread: str) -> None:
    files = [{"name": "receipt.txt", "content": "90"}]
    where = {"channel": "C0SUPPORT", "thread_ts": thread}
    await bot.act("U0ALICE", "message", **where, text="$90", files=files)
    told = await bot.whispered("U0ALICE", "The agent has your answer")
    assert "but not “receipt.txt”. Share it again, in a new message that says what" in told
    # As it says; by itself it would be asked about.
    await bot.act("U0ALICE", "message", **where, text="", files=files)
    again = await bot.whispered("U0ALICE", "what should I do with “receipt.txt”?")
    assert again.partition("? ")[2] == told.partition(". ")[2]
    (state,) = await bot.runs()
    (asked,) = state.approvals.values()
    assert asked.status == "answered"


async def test_a_reply_that_is_delivered_again_when_nothing_is_asked_starts_nothing(
    bot: Bot, thread: str
) -> None:
    ts = await say(bot, "U0ALICE", f"{MENTION}$42", thread)
    await ended(bot)
    await deliver_again(bot, ts, is_mention=True)
    assert len(await bot.runs()) == 1
    assert bot.whispers("U0ALICE") == []


async def test_a_reply_that_is_delivered_twice_at_once_answers_once_and_is_no_news(
    bot: Bot, thread: str
) -> None:
    inside = bot.sandbox.inside
    ts = await say(bot, "U0BOB", "some words", thread)
    words = inside.messages.read("C0SUPPORT", ts)
    alices = {**words, "user": "U0ALICE", "text": f"{MENTION}half of it"}
    event = inside.events.mention(inside.workspace.channels["C0SUPPORT"], alices)
    await asyncio.gather(*(inside.outbox.publish_and_wait([event]) for _ in range(3)))
    await bot.services.answering.drain(5)
    assert await answers(bot) == ["half of it"]
    assert len(await bot.runs()) == 1
    assert bot.whispers("U0ALICE") == []


async def test_what_was_said_before_the_question_does_not_answer_it(bot: Bot) -> None:
    root = await bot.say("U0ALICE", "lunch?", "C0SUPPORT")
    before = await say(bot, "U0ALICE", "yes, at noon", root["ts"])
    await begun(bot, root["ts"])
    await deliver_again(bot, before, is_mention=False)
    assert await answers(bot) == [None]
    assert [state.said for state in await bot.runs()] == [()]
    await say(bot, "U0ALICE", "all of it", root["ts"])
    assert await answers(bot) == ["all of it"]


async def test_talk_in_a_thread_without_a_run_reads_no_journal_and_looks_nobody_up(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[RunId] = []
    read = SqlJournal.read

    async def counted(journal: SqlJournal, run_id: RunId, after: int = 0) -> list[Recorded]:
        reads.append(run_id)
        return await read(journal, run_id, after)

    root = await bot.say("U0ALICE", "lunch?", "C0SUPPORT")
    bot.seconds.ahead += 61
    looked_up = len(bot.sandbox.calls("users.info"))
    monkeypatch.setattr(SqlJournal, "read", counted)
    for text in ("let me have a look", "stop", "help"):
        await say(bot, "U0BOB", text, root["ts"])
    assert reads == []
    assert len(bot.sandbox.calls("users.info")) == looked_up
    assert bot.whispers("U0BOB") == []


async def test_what_was_said_before_the_question_could_be_seen_is_no_answer_and_is_told_so(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    """Its card is not known to stand there; the answer to its post may be lost."""
    async with bot_in(sandbox, tmp_path, agent=asking("$20")) as bot:
        said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT")
        asked, _ = await bot.waiting_run()
        await say(bot, "U0ALICE", "$20", said["ts"])
        (told,) = bot.whispers("U0ALICE")
        assert told.startswith("Not answered: the question could not be seen here yet when you")
        assert told.endswith("The agent is told what you wrote at its next step.")
        # Before anything was asked she meant something else by it, and is told nothing.
        inside = bot.sandbox.inside
        ts = f"{asked.requested_at.timestamp() - 1.5:.6f}"
        before = {**inside.messages.read("C0SUPPORT", said["ts"]), "ts": ts, "text": "ok, yes"}
        channel = inside.workspace.channels["C0SUPPORT"]
        event = inside.events.message(channel, {**before, "thread_ts": said["ts"]})
        await inside.outbox.publish_and_wait([event])
        assert len(bot.whispers("U0ALICE")) == 1
        assert await answers(bot) == [None]


async def test_what_asks_or_comes_near_a_stop_is_no_answer_and_the_question_stays(
    bot: Bot, thread: str
) -> None:
    asks = ("did Bob already give 20?", "20!?", "is it 30?? :thinking_face:", "what (really?)")
    for text in asks:
        await say(bot, "U0ALICE", text, thread)
    told = bot.whispers("U0ALICE")
    assert {one.partition(",")[0] for one in told} == {
        "Not answered: what ends with a question mark is no answer"
    }
    assert told[0].endswith(
        "Say the answer in a message of its own, or use the question's buttons. The agent is told what you wrote at its"
        " next step."
    )
    await say(bot, "U0ALICE", "hold on", thread)
    assert bot.whispers("U0ALICE")[-1] == (
        "Not answered: the question stays open. To pause the run, write just `pause`, or press Pause. The agent is"
        " told what you wrote at its next step."
    )
    assert await answers(bot) == [None]
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == [*asks, "hold on"]
    # With a run that is not paused this is a word as any other, and nothing is to be stopped then.
    await say(bot, "U0ALICE", "continue, and stop at 90", thread)
    assert await answers(bot) == ["continue, and stop at 90"]
    assert len(bot.whispers("U0ALICE")) == len(asks) + 1


@pytest.mark.parametrize("agent", [asking("cancel", "really?")])
async def test_what_is_offered_is_an_answer_whatever_it_says(bot: Bot, thread: str) -> None:
    await say(bot, "U0ALICE", "cancel", thread)
    assert await answers(bot) == ["cancel"]
    assert bot.whispers("U0ALICE") == []


async def test_please_stop_stops_a_run_that_asks(bot: Bot, thread: str) -> None:
    await say(bot, "U0ALICE", "please stop", thread)
    assert (await ended(bot)).ending == "cancelled"
    assert await answers(bot) == [None]


@pytest.mark.parametrize("agent", [replace(asking(), policy=FINANCE_ANSWERS)])
async def test_of_those_whose_groups_can_not_be_looked_up_members_are_told(
    bot: Bot, thread: str
) -> None:
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=9)
    for user in ("U0BOB", "U0CAROL", "U0DAVE"):
        await say(bot, user, "half of it", thread)
    (told,) = bot.whispers("U0BOB")
    assert told.startswith("Not answered: we could not look up in Slack who may decide this")
    assert [bot.whispers(user) for user in ("U0CAROL", "U0DAVE")] == [[], []]
    assert await answers(bot) == [None]
    await say(bot, "U0ALICE", "half of it", thread)
    assert await answers(bot) == ["half of it"]


async def test_a_word_that_is_to_decide_a_call_answers_nothing(bot: Bot, thread: str) -> None:
    await say(bot, "U0ALICE", "approve", thread)
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith("Not answered: this is a question of the agent's")
    assert await answers(bot) == [None]


@pytest.mark.parametrize(
    "text",
    ["<@U0BOB> what do you think?", "<!subteam^S0FINANCE> anybody?", " <!here> who knows?"],
)
async def test_what_is_said_to_somebody_else_answers_nothing(
    bot: Bot, thread: str, text: str
) -> None:
    await say(bot, "U0ALICE", text, thread)
    assert await answers(bot) == [None]
    assert bot.whispers("U0ALICE") == []
    await say(bot, "U0ALICE", f"what <@U0BOB> said, {MENTION}", thread)
    assert await answers(bot) == ["what <@U0BOB> said,"]


async def test_who_may_answer_and_can_not_be_looked_up_is_told(bot: Bot, thread: str) -> None:
    bot.seconds.ahead += 61
    for user in ("U0BOB", "U0ALICE"):
        bot.sandbox.faults.add(method="users.info", error="internal_error", contains=user)
    await say(bot, "U0BOB", "take half", thread)
    await say(bot, "U0ALICE", "take half", thread)
    assert bot.whispers("U0BOB") == []
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith("Not answered: we could not look up in Slack who you are just now.")
    assert await answers(bot) == [None]


async def test_an_answer_that_is_too_long_is_told_to_be(bot: Bot, thread: str) -> None:
    await say(bot, "U0BOB", "x" * 10_001, thread)
    await say(bot, "U0ALICE", "x" * 10_001, thread)
    assert bot.whispers("U0BOB") == []
    (told,) = bot.whispers("U0ALICE")
    assert told == "Not answered: Say it in at most 10,000 characters."
    assert await answers(bot) == [None]


@pytest.mark.parametrize("agent", [asking_two_things()])
@pytest.mark.parametrize("mention", [MENTION, ""])
async def test_where_two_things_are_asked_a_reply_answers_neither_and_says_so(
    bot: Bot, mention: str
) -> None:
    said = await bot.say("U0ALICE", MENTION + "refund something", "C0SUPPORT")
    await stands(bot, 2)
    await say(bot, "U0BOB", "all of it", said["ts"])
    await say(bot, "U0ALICE", f"{mention}all of it", said["ts"])
    assert bot.whispers("U0BOB") == []
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith("Not answered: the agent asks more than one thing here")
    assert told.endswith("The agent is told what you wrote at its next step.")
    assert await answers(bot) == [None, None]
    (state,) = await bot.runs()
    assert [one.by for one in state.said] == ["slack:T0PILOT:U0BOB", "slack:T0PILOT:U0ALICE"]


async def test_what_those_say_who_may_not_steer_is_left_alone(bot: Bot, thread: str) -> None:
    for user in ("U0CAROL", "U0DAVE"):
        for text in ("take half of it", "stop", "approve", "help"):
            await say(bot, user, text, thread)
    assert [bot.whispers(user) for user in ("U0CAROL", "U0DAVE")] == [[], []]
    assert await answers(bot) == [None]
    (state,) = await bot.runs()
    assert (state.said, state.stop) == ((), None)


@pytest.mark.parametrize("agent", [refunds()])
async def test_words_in_a_thread_never_decide_a_call(bot: Bot) -> None:
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT")
    approval, _ = await bot.waiting_run()
    for user in ("U0ALICE", "U0BOB"):
        for words in ("yes", "approve", f"approve {approval.id}"):
            await say(bot, user, words, said["ts"])
    assert await answers(bot) == [None]
    assert len(await bot.runs()) == 1


async def test_any_full_member_answers_when_they_say_so_to_the_bot(bot: Bot, thread: str) -> None:
    await say(bot, "U0BOB", "take half of it", thread)
    assert await answers(bot) == [None]
    await say(bot, "U0BOB", f"{MENTION}about half of it", thread)
    assert await answers(bot) == ["about half of it"]


@pytest.mark.parametrize("agent", [replace(asking(), access=ALICE_STEERS)])
async def test_a_reply_by_somebody_else_stays_a_message(bot: Bot, thread: str) -> None:
    await say(bot, "U0BOB", f"{MENTION}about half of it", thread)
    assert await answers(bot) == [None]
    (told,) = bot.whispers("U0BOB")
    assert told.startswith("Nothing was done: only <@U0ALICE> can say something to runs of")


@pytest.mark.parametrize("agent", [asking("$20", "$90", free_text=False)])
async def test_where_only_options_fit_other_words_are_kept_and_it_is_said_how_to_answer(
    bot: Bot, thread: str
) -> None:
    await say(bot, "U0ALICE", "about half of it", thread)
    (told,) = bot.whispers("U0ALICE")
    assert told == (
        "Not answered: choose one of the answers on the buttons of its message. The agent is told what you wrote at its"
        " next step."
    )
    assert await answers(bot) == [None]
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["about half of it"]
    await say(bot, "U0ALICE", "$90", thread)
    assert await answers(bot) == ["$90"]


@pytest.mark.parametrize("agent", [asking("Stop it", "Let it run", free_text=False)])
async def test_an_option_of_several_words_is_the_answer_also_where_it_would_stop_the_run(
    bot: Bot, thread: str
) -> None:
    await say(bot, "U0ALICE", "stop it", thread)
    assert await answers(bot) == ["Stop it"]
    (state,) = await bot.runs()
    assert state.stop is None


@pytest.mark.parametrize(
    "agent",
    [replace(asking("$20", "$90", free_text=False), policy=FINANCE_ANSWERS, access=ALICE_STEERS)],
)
async def test_who_may_answer_and_say_nothing_else_is_told_how_to_answer(
    bot: Bot, thread: str
) -> None:
    await say(bot, "U0BOB", "about half of it", thread)
    assert bot.whispers("U0BOB") == [
        "Not answered: choose one of the answers on the buttons of its message."
    ]
    (state,) = await bot.runs()
    assert state.said == ()


async def test_what_is_said_outside_the_thread_answers_nothing(bot: Bot, thread: str) -> None:
    await bot.say("U0ALICE", f"{MENTION}about half of it", "C0SUPPORT")
    assert len(await bot.waiting_runs(2)) == 2


async def test_what_is_edited_into_an_answer_is_none_and_that_is_told(
    bot: Bot, thread: str
) -> None:
    asks = await say(bot, "U0ALICE", "did Bob give 20?", thread)
    others = await say(bot, "U0BOB", "was it 20?", thread)
    before = len(bot.whispers("U0ALICE"))
    for text in ("did Frank give 20?", "20"):
        await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=asks, text=text)
        await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=others, text=text)
    told = await bot.whispered("U0ALICE", "an edit answers nothing")
    assert told == (
        "Not answered: an edit answers nothing, and the question stays open. Say the answer in a message of its own, or"
        " use the question's buttons. The agent is told what you wrote at its next step."
    )
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0ALICE")) == before + 1
    assert bot.whispers("U0BOB") == []
    assert await answers(bot) == [None]
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["20", "20"]


async def test_what_is_said_beside_the_thread_in_a_direct_message_is_asked_about(bot: Bot) -> None:
    root = str((await bot.say("U0ALICE", "refund ORD-3300", "D0ALICE"))["ts"])
    await stands(bot, 1)

    async def told(text: str) -> list[str]:
        before = len(bot.sandbox.calls("chat.postMessage"))
        await bot.say("U0ALICE", text, "D0ALICE")
        await bot.services.answering.drain(5)
        posted = bot.sandbox.calls("chat.postMessage")[before:]
        texts = [one["arguments"]["text"] for one in posted]
        return [one for one in texts if one.startswith(("Nothing", "Not "))]

    (asked,) = await told("$90")
    assert asked.startswith(
        "Nothing was answered and nothing begun: a run of yours waits here for your answer to “How much?”. If this is"
        " it, say it in <http"
    )
    assert "If it is something new, say it with <@U0PILOT> in front. (run_" in asked
    assert (await answers(bot), len(await bot.runs())) == ([None], 1)
    # What asks something itself is no answer, and what names us is something new.
    assert await told("what of ORD-7?") == []
    assert len(await bot.runs()) == 2
    await bot.say("U0ALICE", "$90", "D0ALICE", root)
    await bot.services.answering.drain(5)
    assert "$90" in await answers(bot)
    assert await told(f"{MENTION}refund ORD-8") == []
    assert len(await bot.runs()) == 3


async def test_a_form_and_a_reply_leave_one_answer(bot: Bot, thread: str) -> None:
    (approval, _) = await bot.waiting_run()
    known = (await bot.store.threads.known((await bot.runs())[0].run_id)).messages
    address = known[f"approval:{approval.id}"].address
    assert address is not None
    card = dict(zip(("channel", "ts"), address.split("/"), strict=True))
    await bot.click("U0ALICE", card, f"{ANSWER}:2")
    await say(bot, "U0ALICE", "about half of it", thread)
    assert await answers(bot) == ["$90"]
