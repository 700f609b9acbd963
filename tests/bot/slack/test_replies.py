"""A reply in the thread answers what the agent asks: said once, after it was asked, by whoever may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Agent, Policy
from agent.rules.access import Access
from agent.rules.rule import People
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import ANSWER
from tests.bot.slack.agents import asking, asking_twice
from tests.bot.slack.replying import MENTION, answers, begun, ended, second_question
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


async def test_any_full_member_answers_when_they_say_so_to_the_bot(bot: Bot, thread: str) -> None:
    await say(bot, "U0BOB", "take half of it", thread)
    assert await answers(bot) == [None]
    await say(bot, "U0BOB", f"{MENTION}about half of it", thread)
    assert await answers(bot) == ["about half of it"]


@pytest.mark.parametrize("agent", [asking("Stop it", "Let it run", free_text=False)])
async def test_an_option_of_several_words_is_the_answer_also_where_it_would_stop_the_run(
    bot: Bot, thread: str
) -> None:
    await say(bot, "U0ALICE", "stop it", thread)
    assert await answers(bot) == ["Stop it"]
    (state,) = await bot.runs()
    assert state.stop is None


async def test_a_form_and_a_reply_leave_one_answer(bot: Bot, thread: str) -> None:
    (approval, _) = await bot.waiting_run()
    known = (await bot.store.threads.known((await bot.runs())[0].run_id)).messages
    address = known[f"approval:{approval.id}"].address
    assert address is not None
    card = dict(zip(("channel", "ts"), address.split("/"), strict=True))
    await bot.click("U0ALICE", card, f"{ANSWER}:2")
    await say(bot, "U0ALICE", "about half of it", thread)
    assert await answers(bot) == ["$90"]
