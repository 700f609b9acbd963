"""Pause, Resume and Stop on the status message, and the two buttons of a budget that is used up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.ports import ModelReply, ModelRequest
from agent.rules.budgets import Budget
from agent.rules.policy import Policy
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import (
    APPROVE,
    BUDGET_CONTINUE,
    BUDGET_STOP,
    RUN_HOLD,
    RUN_RESUME,
    RUN_RETRY,
    RUN_STOP,
)
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask

FINANCE = {"groups": ["S0FINANCE"]}
ALLOWED = Policy.model_validate({"owners": FINANCE, "rules": [{"tool": "*", "action": "allow"}]})


@pytest.fixture
async def bot(drawn: Bot) -> Bot:
    """Alice's run waits for finance."""
    await drawn.command("U0ALICE", "refund ORD-3300 180")
    await drawn.waiting_run()
    return drawn


async def posted(bot: Bot, *words: str) -> Json:
    """The message on which all of this stands, as soon as there is one."""

    async def found() -> Json | None:
        roots = bot.sandbox.messages("C0SUPPORT")[-1:]
        thread = [m for root in roots for m in bot.sandbox.messages("C0SUPPORT", root["ts"])]
        said = [one for one in thread if all(word in str(one) for word in words)]
        return {**said[-1], "channel": "C0SUPPORT"} if said else None

    return await bot.sandbox.until(found, f"a message says {words}")


async def the_run(bot: Bot) -> RunState:
    (state,) = await bot.runs()
    return state


async def test_a_paused_run_begins_nothing_until_somebody_resumes_it(bot: Bot) -> None:
    await bot.click("U0BOB", await posted(bot, RUN_HOLD), RUN_HOLD)
    paused = await posted(bot, "Paused by <@U0BOB>")
    assert RUN_HOLD not in str(paused)
    await bot.click("U0BOB", await posted(bot, APPROVE), APPROVE)
    await posted(bot, "*Approved* by <@U0BOB>")
    state = await the_run(bot)
    assert [call.status for call in state.calls.values()] == ["ready"]
    await bot.click("U0ALICE", await posted(bot, RUN_RESUME), RUN_RESUME)
    assert (await bot.ended_run(state.run_id)).answer == "All done."
    assert bot.whispers("U0ALICE") == bot.whispers("U0BOB") == []


async def test_a_stopped_run_closes_what_it_asked(bot: Bot) -> None:
    await bot.click("U0BOB", await posted(bot, RUN_STOP), RUN_STOP)
    state = await bot.ended_run((await the_run(bot)).run_id)
    assert state.ending == "cancelled"
    assert state.stop is not None
    assert state.stop.by == "slack:T0PILOT:U0BOB"
    card = await posted(bot, "*Stopped by <@U0BOB>*", "It did not happen.")
    assert APPROVE not in str(card)
    status = await posted(bot, "· Stopped by <@U0BOB>")
    assert RUN_STOP not in str(status)
    await posted(bot, "run was stopped by <@U0BOB>", "Not done: ")


async def test_an_approval_that_comes_after_the_stop_is_told_so(bot: Bot) -> None:
    card = await posted(bot, APPROVE)
    await bot.click("U0ALICE", await posted(bot, RUN_STOP), RUN_STOP)
    await bot.ended_run((await the_run(bot)).run_id)
    await bot.click("U0BOB", card, APPROVE)
    await bot.whispered("U0BOB", "Not decided: its run was stopped by <@U0ALICE>; there is nothing")


@pytest.mark.parametrize("action", [RUN_HOLD, RUN_RESUME, RUN_STOP])
async def test_an_old_picture_does_nothing_and_says_so(bot: Bot, action: str) -> None:
    status = await posted(bot, RUN_HOLD)
    state = await the_run(bot)
    await bot.runtime.hold(state.run_id, state.requester)
    await posted(bot, RUN_RESUME)
    await bot.runtime.stop(state.run_id, state.requester)
    await posted(bot, "· Stopped by")
    before = (await the_run(bot)).seq
    await bot.click("U0BOB", status, action)
    await bot.whispered("U0BOB", f"Nothing was done: this run was stopped. ({state.run_id})")
    assert (await the_run(bot)).seq == before


@pytest.mark.parametrize("user", ["U0CAROL", "U0DAVE", "U0ERIN"])
@pytest.mark.parametrize("action", [RUN_HOLD, RUN_STOP])
async def test_whoever_is_no_full_member_can_neither_pause_nor_stop(
    bot: Bot, user: str, action: str
) -> None:
    status = await posted(bot, action)
    before = (await the_run(bot)).seq
    await bot.click(user, status, action)
    await bot.whispered(user, "Nothing was done: ")
    assert (await the_run(bot)).seq == before


@pytest.mark.parametrize("value", ["run_unknown", "", "apr_1", "run_1 or so"])
async def test_a_forged_click_stops_nothing_and_is_answered(bot: Bot, value: str) -> None:
    status = await posted(bot, RUN_STOP)
    before = (await the_run(bot)).seq
    await bot.click("U0BOB", status, RUN_STOP, value=value)
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0BOB")) == 1
    assert (await the_run(bot)).seq == before


async def test_a_double_click_pauses_once(bot: Bot) -> None:
    status = await posted(bot, RUN_HOLD)
    await asyncio.gather(*(bot.click("U0BOB", status, RUN_HOLD) for _ in range(3)))
    await posted(bot, "Paused by <@U0BOB>")
    state = await the_run(bot)
    kinds = [one.event.kind for one in await bot.store.journal.read(state.run_id)]
    assert kinds.count("run_held") == 1


async def test_who_resumes_what_could_not_be_asked_is_told_that_it_is_tried(bot: Bot) -> None:
    run_id = (await the_run(bot)).run_id
    await posted(bot, APPROVE)
    is_idle = "SELECT 1 FROM threads WHERE holder IS NULL AND shown_seq = wanted_seq"
    await bot.sandbox.until(lambda: ask(bot.url, is_idle), "its thread is drawn")
    # As whoever draws it writes down.
    ask(bot.url, "UPDATE threads SET trouble = 'is_archived'")
    await bot.command("U0ALICE", f"resume {run_id}")
    await bot.whispered(
        "U0ALICE", "What it waits for could not be asked in its thread; it is tried"
    )


async def test_a_command_does_the_same_and_says_so(bot: Bot) -> None:
    run_id = (await the_run(bot)).run_id
    await bot.command("U0ALICE", "pause")
    paused = "somebody resumes it. What it asks can be decided meanwhile. (refund"
    await bot.whispered("U0ALICE", paused)
    await posted(bot, "Paused by <@U0ALICE>")
    await bot.command("U0BOB", f"resume {run_id}")
    await bot.whispered("U0BOB", "It goes on: waiting for a decision. (refund")
    assert (await the_run(bot)).held is None
    await bot.command("U0BOB", f"resume {run_id}")
    await bot.whispered("U0BOB", "It was not paused. (refund")
    await bot.command("U0BOB", "stop")
    await bot.whispered("U0BOB", "Nothing was done: you have no run that has not ended.")
    await bot.command("U0CAROL", f"stop {run_id}")
    await bot.whispered("U0CAROL", "Nothing was done: guests can't")
    await bot.command("U0ALICE", "stop")
    stopped = "Stopped: nothing new begins. Nothing had been done. Asked, and not done: *Refund an order*."
    await bot.whispered("U0ALICE", stopped)
    assert (await bot.ended_run(run_id)).ending == "cancelled"
    await bot.command("U0ALICE", f"stop {run_id}")
    await bot.whispered("U0ALICE", f"Nothing was done: this run was stopped. ({run_id})")


class MendedModel:
    """Fails until somebody has mended it."""

    name = "mended"

    def __init__(self) -> None:
        self.is_mended = False

    async def reply(self, request: ModelRequest) -> ModelReply:
        if not self.is_mended:
            raise ValueError("no such model")
        return ModelReply(text="Here it is.")


class TestRetry:
    @pytest.fixture
    def model(self) -> MendedModel:
        return MendedModel()

    @pytest.fixture
    async def bot(
        self, sandbox: OpenSandbox, tmp_path: Path, model: MendedModel
    ) -> AsyncIterator[Bot]:
        """Alice's run has failed."""
        agent = replace(refunds(), model=model)
        async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
            await bot.command("U0ALICE", "refund ORD-3300 180")
            await posted(bot, RUN_RETRY)
            yield bot

    async def test_a_failed_run_goes_on_where_it_failed(self, bot: Bot, model: MendedModel) -> None:
        model.is_mended = True
        await bot.click("U0BOB", await posted(bot, RUN_RETRY), RUN_RETRY)
        assert (await bot.ended_run((await the_run(bot)).run_id)).answer == "Here it is."
        await posted(bot, "taken on again after it had failed", "*Done*")

    async def test_a_second_click_is_told_that_it_goes_on(
        self, bot: Bot, model: MendedModel
    ) -> None:
        status, model.is_mended = await posted(bot, RUN_RETRY), True
        await bot.click("U0BOB", status, RUN_RETRY)
        await bot.ended_run((await the_run(bot)).run_id)
        await bot.click("U0BOB", status, RUN_RETRY)
        await bot.whispered(
            "U0BOB", "this run has finished, and only one that failed can be tried again."
        )

    async def test_the_word_alone_in_its_thread_is_the_button(
        self, bot: Bot, model: MendedModel
    ) -> None:
        thread = (await posted(bot, RUN_RETRY))["ts"]
        for user, text in (("U0CAROL", "retry"), ("U0CAROL", "oh no"), ("U0ALICE", "oh no, again")):
            await bot.say(user, text, "C0SUPPORT", thread)
        await bot.whispered("U0ALICE", "write just `retry`")
        assert (await the_run(bot)).reopened == 0
        model.is_mended = True
        said = await bot.say("U0BOB", "Retry!", "C0SUPPORT", thread)
        await bot.whispered("U0BOB", "It goes on from where it had failed.")
        state = await bot.ended_run((await the_run(bot)).run_id)
        assert (state.answer, state.said, state.reopened) == ("Here it is.", (), 1)
        # Delivered again, or said where nothing failed.
        message = bot.sandbox.inside.messages.read("C0SUPPORT", said["ts"])
        event = bot.sandbox.inside.events.message(
            bot.sandbox.inside.workspace.channels["C0SUPPORT"], message
        )
        await bot.sandbox.inside.outbox.publish_and_wait([event])
        assert len(bot.whispers("U0BOB")) == 1
        await bot.say("U0BOB", "retry", "C0SUPPORT", thread)
        await bot.whispered("U0BOB", "this run has finished, and only one that failed")
        await bot.say("U0BOB", "<@U0PILOT> retry", "C0SUPPORT")
        await bot.whispered("U0BOB", "nothing has failed in this thread")
        await bot.services.answering.drain(5)
        assert [len(bot.whispers(user)) for user in ("U0BOB", "U0CAROL", "U0ALICE")] == [3, 0, 1]
        assert len(await bot.runs()) == 1

    async def test_more_words_begin_the_next_run(self, bot: Bot, model: MendedModel) -> None:
        thread, model.is_mended = (await posted(bot, RUN_RETRY))["ts"], True
        await bot.say("U0ALICE", "look at ORD-3301 instead", "C0SUPPORT", thread)
        second = (await bot.runs())[0]
        assert second.prompt == "look at ORD-3301 instead"

    @pytest.mark.parametrize("user", ["U0CAROL", "U0DAVE", "U0ERIN"])
    async def test_whoever_is_no_full_member_can_not(self, bot: Bot, user: str) -> None:
        before = (await the_run(bot)).seq
        await bot.click(user, await posted(bot, RUN_RETRY), RUN_RETRY)
        await bot.whispered(user, "Nothing was done: ")
        assert (await the_run(bot)).seq == before


class TestBudget:
    @pytest.fixture
    async def bot(self, sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
        """Its run has done its refund, and may not ask the model once more."""
        agent = replace(refunds(ALLOWED), budget=Budget(model_calls=1))
        async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
            await bot.command("U0ALICE", "refund ORD-3300 180")
            await bot.waiting_run()
            yield bot

    async def test_an_owner_lets_it_go_on(self, bot: Bot) -> None:
        card = await posted(bot, BUDGET_CONTINUE)
        assert "This run has used its budget: 1 of 1 model calls." in str(card)
        await bot.click("U0BOB", card, BUDGET_CONTINUE)
        state = await bot.ended_run((await the_run(bot)).run_id)
        assert state.answer == "All done."
        ended = await posted(bot, "*Allowed to go on* by <@U0BOB>", "It may use 1 model call more.")
        assert BUDGET_CONTINUE not in str(ended)

    async def test_words_do_not_let_it_go_on_and_that_is_told(self, bot: Bot) -> None:
        await posted(bot, BUDGET_CONTINUE)
        thread = (await posted(bot, RUN_STOP))["ts"]
        await bot.say("U0BOB", "yes, continue", "C0SUPPORT", thread)
        told = await bot.whispered("U0BOB", "This decides nothing: whether the run may go on is")
        assert "|its card>" in told

    async def test_an_owner_stops_it(self, bot: Bot) -> None:
        await bot.click("U0BOB", await posted(bot, BUDGET_STOP), BUDGET_STOP)
        state = await bot.ended_run((await the_run(bot)).run_id)
        assert state.ending == "cancelled"
        await posted(bot, "run was stopped by <@U0BOB>", "Done: ")

    @pytest.mark.parametrize("action", [BUDGET_CONTINUE, BUDGET_STOP])
    async def test_nobody_else_can(self, bot: Bot, action: str) -> None:
        await bot.click("U0ALICE", await posted(bot, action), action)
        await bot.whispered("U0ALICE", "Not decided: only <!subteam^S0FINANCE> can decide this")
        assert len(await bot.runtime.approvals()) == 1

    @pytest.mark.parametrize("action", ["approval.steer", "question.answer", "review.happened"])
    async def test_a_forged_button_of_another_kind_is_answered(self, bot: Bot, action: str) -> None:
        card = await posted(bot, BUDGET_CONTINUE)
        approval, _ = await bot.waiting_run()
        payload = {
            "type": "block_actions",
            "user": {"id": "U0BOB", "team_id": "T0PILOT"},
            "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"]},
            "trigger_id": "1.2.3",
            "actions": [{"action_id": action, "value": approval.id}],
        }
        await bot.sandbox.inside.outbox.interact("interactive", payload)
        await bot.services.answering.drain(5)
        (told,) = bot.whispers("U0BOB")
        assert told.startswith("Not decided: ")
        assert len(await bot.runtime.approvals()) == 1

    async def test_a_forged_form_is_answered(self, bot: Bot) -> None:
        approval, _ = await bot.waiting_run()
        payload = {
            "type": "view_submission",
            "user": {"id": "U0BOB", "team_id": "T0PILOT"},
            "view": {
                "id": "V1",
                "type": "modal",
                "callback_id": "approval.steer",
                "private_metadata": f'{{"approval": "{approval.id}"}}',
                "state": {"values": {"guidance": {"value": {"value": "stop"}}}},
            },
        }
        delivered = await bot.sandbox.inside.outbox.interact("interactive", payload)
        assert "Not decided: we know of no such question." in str(delivered)
        assert len(await bot.runtime.approvals()) == 1

    async def test_it_waits_for_its_owners_wherever_one_looks(self, bot: Bot) -> None:
        await posted(bot, BUDGET_CONTINUE)
        listed = await bot.command("U0BOB", "pending")
        assert "*Go on?* This run has used its budget: 1 of 1 model calls." in str(listed)
        assert "Nothing waits for you." in str(await bot.command("U0ALICE", "pending"))

    async def test_it_is_decided_in_words(self, bot: Bot) -> None:
        approval, _ = await bot.waiting_run()
        card = await posted(bot, BUDGET_CONTINUE)
        await bot.say("U0BOB", f"<@U0PILOT> approve {approval.id}", "C0SUPPORT", card["ts"])
        state = await bot.ended_run((await the_run(bot)).run_id)
        assert state.answer == "All done."
