"""What is said while an agent asks something, and answers nothing: it stays a message, and who may answer is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Agent, Policy
from agent.rules.access import Access
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from agent.rules.rule import People
from bot.sandbox.opened import OpenSandbox
from store.journal import SqlJournal
from tests.bot.slack.agents import asking, asking_two_things, refunds
from tests.bot.slack.replying import MENTION, answers, begun, stands
from tests.bot.slack.talking import deliver_again, say
from tests.bot.slack.workspace import Bot, bot_in, drawing

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


async def test_a_stop_right_behind_that_waits_for_no_run_that_does_not_begin(bot: Bot) -> None:
    await bot.say("U0ALICE", "refund ORD-3300", "D0ALICE")
    await stands(bot, 1)
    asked = await bot.say("U0ALICE", "$90", "D0ALICE")
    await bot.act("U0ALICE", "edit", channel="D0ALICE", ts=asked["ts"], text="$95")
    assert (await bot.say("U0ALICE", "stop", "D0ALICE"))["acknowledged"]
    (state,) = await bot.runs()
    assert state.stop is not None
