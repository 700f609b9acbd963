"""What an agent asks is answered by a button, or in one's own words: once, and by whoever may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Agent
from agent.rules.access import Access
from agent.rules.rule import People
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import ANSWER, APPROVE, STEER
from bot.slack.payloads import Actor
from bot.slack.people import KEPT_SECONDS
from tests.bot.slack.agents import asking
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

MENTION = "<@U0PILOT> "
ALICE_STEERS = Access(steer=People(users=("U0ALICE",)))
FINANCE_STEERS = Access(steer=People(groups=("S0FINANCE",)))


@pytest.fixture
def agent() -> Agent:
    return replace(asking("$20", "$90"), access=ALICE_STEERS)


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, agent: Agent) -> AsyncIterator[Bot]:
    """A bot that draws; its agent asks Alice how much."""
    async with bot_in(sandbox, tmp_path, agent=agent) as connected, drawing(connected):
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    """As the drawer posted it."""
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT")

    async def posted() -> Json | None:
        thread = bot.sandbox.messages("C0SUPPORT", said["ts"])
        return next((one for one in thread if ANSWER in str(one)), None)

    return {"channel": "C0SUPPORT", "ts": (await bot.sandbox.until(posted, "the card"))["ts"]}


async def shows(bot: Bot, card: Json, *words: str) -> str:
    """The card as soon as all of this stands on it."""

    async def read() -> str | None:
        text = str(await bot.message(card))
        return text if all(one in text for one in words) else None

    return await bot.sandbox.until(read, f"the card says {words}")


async def the_answer(bot: Bot) -> tuple[RunState, object, object]:
    """The run once it has ended, what was answered and by whom."""
    (state,) = await bot.runs()
    state = await bot.ended_run(state.run_id)
    (call,) = state.calls.values()
    assert call.result is not None
    assert call.result.outcome == "answered"
    return state, call.result.output, call.result.by


async def is_open(bot: Bot) -> bool:
    (approval,) = [one for one, _ in await bot.runtime.approvals(waiting_only=False)]
    return approval.status == "pending"


async def test_the_one_who_asked_is_rung_and_answers_by_a_button(bot: Bot, card: Json) -> None:
    await shows(bot, card, "<@U0ALICE>'s run asks:", "How much?", "$20", "$90", "Another answer")
    said = await bot.click("U0ALICE", card, f"{ANSWER}:2")
    assert said["acknowledged"]
    state, answer, by = await the_answer(bot)
    assert (answer, by, state.ending) == ("$90", "slack:T0PILOT:U0ALICE", "finished")
    text = await shows(bot, card, "Answered* by <@U0ALICE>", "$90")
    assert ANSWER not in text
    assert bot.whispers("U0ALICE") == []
    assert bot.sandbox.violations == []


async def test_an_answer_of_ones_own_is_written_in_the_modal(bot: Bot, card: Json) -> None:
    await bot.click("U0ALICE", card, ANSWER)
    said = await bot.submit("U0ALICE", answer="  about half of it ")
    assert said["acknowledged"]
    _, answer, _ = await the_answer(bot)
    assert answer == "about half of it"
    await shows(bot, card, "Answered* by <@U0ALICE>", "about half of it")
    assert bot.sandbox.violations == []


@pytest.mark.parametrize("written", [" ", "\n\n"])
async def test_an_empty_answer_is_an_error_at_the_input_and_answers_nothing(
    bot: Bot, card: Json, written: str
) -> None:
    await bot.click("U0ALICE", card, ANSWER)
    said = await bot.submit("U0ALICE", answer=written)
    assert said["errors"] == {"answer": "Write an answer."}
    assert await is_open(bot)


@pytest.mark.parametrize("action", [f"{ANSWER}:1", ANSWER])
@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("U0BOB", "Not answered: only <@U0ALICE> can answer this."),
        ("U0CAROL", "guests"),
        ("U0DAVE", "another workspace"),
        ("U0ERIN", "deactivated"),
    ],
)
async def test_who_may_not_answer_is_told_who_may_and_the_question_stays(
    bot: Bot, card: Json, action: str, user: str, why: str
) -> None:
    said = await bot.click(user, card, action)
    assert said["acknowledged"]
    assert "view_id" not in said
    await bot.whispered(user, why)
    assert await is_open(bot)
    await shows(bot, card, ANSWER)


@pytest.mark.parametrize("agent", [asking("$20")])
async def test_by_default_any_full_member_may_answer_and_it_waits_for_the_requester_alone(
    bot: Bot, card: Json
) -> None:
    await shows(bot, card, "<@U0ALICE>, or any full member of this workspace, may answer")
    bob = Actor("U0BOB", "T0PILOT")
    assert (await overview.pending(bot.services, bob)).text.startswith("Nothing waits for you.")
    await bot.click("U0CAROL", card, f"{ANSWER}:1")
    await bot.whispered("U0CAROL", "guests")
    await bot.click("U0BOB", card, f"{ANSWER}:1")
    _, answer, by = await the_answer(bot)
    assert (answer, by) == ("$20", "slack:T0PILOT:U0BOB")


async def test_a_second_answer_is_told_who_was_first(bot: Bot, card: Json) -> None:
    await bot.click("U0ALICE", card, ANSWER)
    await bot.click("U0ALICE", card, f"{ANSWER}:1")
    await the_answer(bot)
    await bot.submit("U0ALICE", answer="something else")
    view = bot.view("U0ALICE")
    assert "<@U0ALICE> answered this" in str(view)
    assert "Nothing of yours was sent" in str(view)
    assert view is not None
    assert view["title"]["text"] == "Answer"
    await bot.click("U0ALICE", card, f"{ANSWER}:2")
    assert "<@U0ALICE> answered this" in await bot.whispered("U0ALICE", "Too late")
    await bot.click("U0ALICE", card, ANSWER)

    async def told_twice() -> list[str] | None:
        told = [one for one in bot.whispers("U0ALICE") if one.startswith("Too late")]
        return told if len(told) == 2 else None

    by_option, by_form = await bot.sandbox.until(told_twice, "both late clicks are answered")
    assert by_form == by_option
    _, answer, _ = await the_answer(bot)
    assert answer == "$20"


@pytest.mark.parametrize(
    "agent",
    [replace(asking("$20"), access=FINANCE_STEERS)],
)
async def test_who_asked_for_the_run_answers_also_while_slack_does_not_say_who_else_may(
    bot: Bot, card: Json
) -> None:
    bot.seconds.ahead += KEPT_SECONDS
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=9)
    await bot.click("U0BOB", card, f"{ANSWER}:1")
    await bot.whispered("U0BOB", "we could not look up in Slack who may decide this")
    await bot.click("U0ALICE", card, f"{ANSWER}:1")
    _, answer, _ = await the_answer(bot)
    assert answer == "$20"


async def test_a_double_click_answers_once(bot: Bot, card: Json) -> None:
    await asyncio.gather(*(bot.click("U0ALICE", card, f"{ANSWER}:1") for _ in range(2)))
    assert "$20" in await bot.whispered("U0ALICE", "Your answer stands: ")
    _, answer, _ = await the_answer(bot)
    assert answer == "$20"


@pytest.mark.parametrize("agent", [asking(*(f"${n}" for n in range(7)))])
async def test_one_of_many_answers_is_chosen_from_a_list(bot: Bot, card: Json) -> None:
    approval, _ = await bot.waiting_run()
    said = await bot.click("U0ALICE", card, f"{ANSWER}:1", selected=f"6|{approval.id}")
    assert said["acknowledged"]
    _, answer, _ = await the_answer(bot)
    assert answer == "$5"
    await shows(bot, card, "Answered* by <@U0ALICE>", "$5")
    assert bot.sandbox.violations == []


@pytest.mark.parametrize("chosen", ["0", "8", "²", "x", ""])
async def test_a_forged_choice_answers_nothing(bot: Bot, card: Json, chosen: str) -> None:
    approval, _ = await bot.waiting_run()
    payload = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"], "thread_ts": card["ts"]},
        "actions": [
            {"action_id": f"{ANSWER}:1", "selected_option": {"value": f"{chosen}|{approval.id}"}}
        ],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0ALICE")) == 1
    assert await is_open(bot)


@pytest.mark.parametrize("number", ["0", "3", "99999999999999999999", "²"])
async def test_a_forged_option_answers_nothing(bot: Bot, card: Json, number: str) -> None:
    approval, _ = await bot.waiting_run()
    payload = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"], "thread_ts": card["ts"]},
        "actions": [{"action_id": f"{ANSWER}:{number}", "value": approval.id}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0ALICE")) == 1
    assert await is_open(bot)


@pytest.mark.parametrize("agent", [asking("$20", "$90", free_text=False)])
async def test_where_only_options_fit_other_words_are_refused_at_the_input(
    bot: Bot, card: Json
) -> None:
    text = await shows(bot, card, "$20")
    assert "Another answer" not in text
    approval, _ = await bot.waiting_run()
    payload = {
        "type": "view_submission",
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "view": {
            "id": "V1",
            "type": "modal",
            "callback_id": "question.answer",
            "private_metadata": f'{{"approval": "{approval.id}"}}',
            "state": {"values": {"answer": {"value": {"value": "a lot"}}}},
        },
    }
    delivered = await bot.sandbox.inside.outbox.interact("interactive", payload)
    assert "Choose one of: $20, $90." in str(delivered)
    assert await is_open(bot)


@pytest.mark.parametrize("agent", [asking()])
async def test_without_options_there_is_one_button(bot: Bot, card: Json) -> None:
    message = await bot.message(card)
    (row,) = [block for block in message["blocks"] if block["type"] == "actions"]
    assert [one["action_id"] for one in row["elements"]] == [ANSWER]
    await bot.click("U0ALICE", card, ANSWER)
    await bot.submit("U0ALICE", answer="42")
    _, answer, _ = await the_answer(bot)
    assert answer == "42"


@pytest.mark.parametrize("word", ["approve", "deny"])
async def test_words_that_decide_calls_answer_no_question_and_say_how(
    bot: Bot, card: Json, word: str
) -> None:
    approval, _ = await bot.waiting_run()
    await bot.say("U0ALICE", f"{MENTION}{word} {approval.id}", "C0SUPPORT", card["ts"])
    told = await bot.whispered("U0ALICE", "Not answered: this is a question of the agent's")
    assert f"`pilothouse answer {approval.id} TEXT`" in told
    await bot.say("U0BOB", f"{MENTION}{word} {approval.id}", "C0SUPPORT", card["ts"])
    await bot.whispered("U0BOB", "Not answered: only <@U0ALICE> can answer this.")
    assert await is_open(bot)


@pytest.mark.parametrize("action", [APPROVE, STEER])
async def test_a_forged_button_of_another_kind_is_refused(
    bot: Bot, card: Json, action: str
) -> None:
    approval, _ = await bot.waiting_run()
    payload = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"], "thread_ts": card["ts"]},
        "trigger_id": "1.2.3",
        "actions": [{"action_id": action, "value": approval.id}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)
    await bot.services.answering.drain(5)
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith(("Not answered: this is a question", "Not decided: we know of no such"))
    assert await is_open(bot)


async def test_a_form_that_could_not_be_opened_leaves_the_question_open(
    bot: Bot, card: Json
) -> None:
    bot.sandbox.faults.add(method="views.open", error="expired_trigger_id")
    await bot.click("U0ALICE", card, ANSWER)
    assert "Please click Answer again" in await bot.whispered("U0ALICE", "could not be opened")
    assert await is_open(bot)


async def test_an_open_question_waits_for_whoever_may_answer_it(bot: Bot, card: Json) -> None:
    alice, bob = Actor("U0ALICE", "T0PILOT"), Actor("U0BOB", "T0PILOT")
    told = (await overview.pending(bot.services, alice)).text
    assert "*<@U0ALICE>'s run asks:* How much?" in told
    assert "`approve" not in told
    assert (await overview.pending(bot.services, bob)).text.startswith("Nothing waits for you.")
    assert "*waiting for an answer*" in (await overview.runs(bot.services, alice)).text
