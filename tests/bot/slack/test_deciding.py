"""Buttons, the Steer modal and written decisions: one decision, and everybody is told the truth."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agent.rules.control import DecisionRefused
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE, DENY, STEER
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in
from tests.sandbox.passing import time_passes

MENTION = "<@U0PILOT> "


@pytest.fixture
async def card(bot: Bot) -> Json:
    """Of a run that Alice started and that waits for finance."""
    await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    posted, _, _ = await bot.post_card()
    return posted


async def test_an_approval_runs_the_call_and_redraws_the_card_at_once(bot: Bot, card: Json) -> None:
    _, state = await bot.waiting_run()
    said = await bot.click("U0BOB", card, APPROVE)
    assert said["acknowledged"]
    ended = await bot.ended_run(state.run_id)
    assert [call.result.outcome for call in ended.calls.values() if call.result] == ["ok"]
    shown = await bot.sandbox.until(lambda: _without_buttons(bot, card), "the card has no buttons")
    assert "Approved* by <@U0BOB>" in str(shown)
    assert bot.whispers("U0BOB") == []


async def test_a_denial_never_runs_the_call(bot: Bot, card: Json) -> None:
    _, state = await bot.waiting_run()
    await bot.click("U0BOB", card, DENY)
    ended = await bot.ended_run(state.run_id)
    assert [call.result.outcome for call in ended.calls.values() if call.result] == ["denied"]
    assert "Denied* by <@U0BOB>" in str(
        await bot.sandbox.until(lambda: _without_buttons(bot, card), "card")
    )


async def test_a_steer_changes_the_amount(bot: Bot, card: Json) -> None:
    _, state = await bot.waiting_run()
    await bot.click("U0BOB", card, STEER)
    said = await bot.submit("U0BOB", **{"arg.amount": "90"})
    assert said["acknowledged"]
    ended = await bot.ended_run(state.run_id)
    (call,) = ended.calls.values()
    assert call.args == {"order": "ORD-3300", "amount": 90.0}
    assert call.steered_by == "slack:T0PILOT:U0BOB"


@pytest.mark.parametrize("amount", ["abc", "-5", "0", "NaN"])
async def test_a_wrong_amount_is_an_error_at_its_field_and_decides_nothing(
    bot: Bot, card: Json, amount: str
) -> None:
    await bot.click("U0BOB", card, STEER)
    said = await bot.submit("U0BOB", **{"arg.amount": amount})
    assert list(said["errors"]) == ["arg.amount"]
    assert len(await bot.runtime.approvals()) == 1


async def test_guidance_alone_ends_the_question_without_the_call(bot: Bot, card: Json) -> None:
    _, state = await bot.waiting_run()
    await bot.click("U0BOB", card, STEER)
    values = {"guidance": "send a voucher"}
    await bot.submit("U0BOB", **values)
    ended = await bot.ended_run(state.run_id)
    assert [call.result.outcome for call in ended.calls.values() if call.result] == ["guided"]


async def test_values_and_guidance_together_are_an_error_and_decide_nothing(
    bot: Bot, card: Json
) -> None:
    await bot.click("U0BOB", card, STEER)
    values = {"arg.amount": "90", "guidance": "send a voucher"}
    said = await bot.submit("U0BOB", **values)
    assert "not both" in said["errors"]["guidance"]
    assert len(await bot.runtime.approvals()) == 1


async def test_a_steer_that_comes_too_late_is_told_who_was_first(bot: Bot, card: Json) -> None:
    await bot.click("U0BOB", card, STEER)
    await bot.click("U0FRANK", card, APPROVE)
    values = {"arg.amount": "abc"}
    said = await bot.submit("U0BOB", **values)
    assert said["acknowledged"]
    view = bot.view("U0BOB")
    assert "<@U0FRANK> approved this" in str(view)
    assert "Nothing of yours was sent" in str(view)


async def test_a_trigger_that_is_over_leaves_the_question_open(bot: Bot, card: Json) -> None:
    bot.sandbox.faults.add(method="views.open", error="expired_trigger_id")
    said = await bot.click("U0BOB", card, STEER)
    assert said["acknowledged"]
    assert "click Steer again" in await bot.whispered("U0BOB", "could not be opened")
    _, state = await bot.waiting_run()
    await bot.click("U0BOB", card, APPROVE)
    await bot.ended_run(state.run_id)


async def test_a_double_click_decides_once_and_says_so(bot: Bot, card: Json) -> None:
    _, state = await bot.waiting_run()
    await asyncio.gather(*(bot.click("U0BOB", card, APPROVE) for _ in range(2)))
    told = await bot.whispered("U0BOB", "Your decision stands")
    assert "✅ Approved by <@U0BOB>" in told
    ended = await bot.ended_run(state.run_id)
    assert [call.attempts for call in ended.calls.values()] == [1]


async def test_of_two_people_at_once_one_decides_and_the_other_learns_who(
    bot: Bot, card: Json
) -> None:
    _, state = await bot.waiting_run()
    await asyncio.gather(bot.click("U0BOB", card, APPROVE), bot.click("U0FRANK", card, DENY))
    await bot.ended_run(state.run_id)
    (approval,) = (await bot.runtime.state(state.run_id)).approvals.values()
    assert approval.decided is not None
    loser = "U0FRANK" if approval.decided.by.endswith("U0BOB") else "U0BOB"
    assert approval.decided.by.rpartition(":")[2] in await bot.whispered(loser, "Too late")


@pytest.mark.parametrize("action", [APPROVE, DENY, STEER])
@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("U0ALICE", "only <!subteam^S0FINANCE> can decide this, and not the person who asked"),
        ("U0CAROL", "guests"),
        ("U0DAVE", "another workspace"),
        ("U0ERIN", "deactivated"),
    ],
)
async def test_who_may_not_decide_is_told_why_and_the_card_stays(
    bot: Bot, card: Json, action: str, user: str, why: str
) -> None:
    said = await bot.click(user, card, action)
    assert said["acknowledged"]
    assert "view_id" not in said
    await bot.whispered(user, why)
    (approval,) = [one for one, _ in await bot.runtime.approvals()]
    assert approval.status == "pending"
    assert await _without_buttons(bot, card) is None
    # What they wanted is taken down; to be told that there is no form for them is no decision yet.
    refused = [one.event for one in await bot.runtime.store.control.read()]
    wanted = [(e.action, e.by, e.code) for e in refused if isinstance(e, DecisionRefused)]
    team = "T0OTHER" if user == "U0DAVE" else "T0PILOT"
    named = (action.removeprefix("approval."), f"slack:{team}:{user}", "not_allowed")
    assert wanted == ([] if action == STEER else [named])


@pytest.mark.parametrize("value", ["apr_unknown", "run_1", "", "apr_1'; --", "x" * 2000])
async def test_a_forged_value_decides_nothing_and_is_answered(
    bot: Bot, card: Json, value: str
) -> None:
    for action in (APPROVE, DENY, STEER):
        said = await bot.click("U0BOB", card, action, value=value)
        assert said["acknowledged"]
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0BOB")) == 3
    assert len(await bot.runtime.approvals()) == 1


@pytest.mark.parametrize("action", [APPROVE, STEER])
async def test_a_group_that_can_not_be_looked_up_decides_nothing_and_the_truth_is_said(
    bot: Bot, card: Json, action: str
) -> None:
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=5)
    await bot.click("U0BOB", card, action)
    await bot.whispered("U0BOB", "Not decided: we could not look up in Slack who may decide this")
    assert len(await bot.runtime.approvals()) == 1


async def test_a_written_approval_decides_as_a_click_does(bot: Bot, card: Json) -> None:
    approval, state = await bot.waiting_run()
    await bot.say("U0BOB", f"{MENTION}approve {approval.id}", "C0SUPPORT", card["ts"])
    await bot.ended_run(state.run_id)
    await bot.whispered("U0BOB", "Your decision was saved")


async def test_a_written_denial_carries_its_reason(bot: Bot, card: Json) -> None:
    approval, state = await bot.waiting_run()
    await bot.say("U0BOB", f"{MENTION}deny {approval.id} too much & too soon", "C0SUPPORT")
    ended = await bot.ended_run(state.run_id)
    (call,) = ended.calls.values()
    assert call.result is not None
    assert call.result.output == "too much & too soon"


async def test_who_clicked_on_a_card_that_can_not_be_redrawn_is_told_privately(
    bot: Bot, card: Json
) -> None:
    _, state = await bot.waiting_run()
    bot.sandbox.faults.add(method="response_url", status=500)
    bot.sandbox.faults.add(method="chat.update", error="cant_update_message", times=1000)
    await bot.click("U0BOB", card, APPROVE)
    assert "Approved" in await bot.whispered("U0BOB", "Your decision was saved")
    await bot.ended_run(state.run_id)


@pytest.mark.parametrize(("word", "done"), [("approve", "Approved"), ("deny", "Denied")])
async def test_a_written_decision_that_is_delivered_again_still_stands(
    bot: Bot, card: Json, word: str, done: str
) -> None:
    sandbox = bot.sandbox.inside
    approval, state = await bot.waiting_run()
    words = f"{MENTION}{word} {approval.id}"
    said = await bot.say("U0BOB", words, "C0SUPPORT", card["ts"])
    await bot.ended_run(state.run_id)
    message = sandbox.messages.read("C0SUPPORT", said["ts"])
    channel = sandbox.workspace.channels["C0SUPPORT"]
    await sandbox.outbox.publish_and_wait([sandbox.events.mention(channel, message)])
    assert done in await bot.whispered("U0BOB", "Your decision stands")
    await bot.say("U0FRANK", words, "C0SUPPORT", card["ts"])
    assert "<@U0BOB>" in await bot.whispered("U0FRANK", "Too late")
    assert not [one for one in bot.whispers("U0BOB") if "Too late" in one]


async def test_a_run_that_this_version_can_not_read_is_not_called_an_approval(
    bot: Bot, card: Json, tmp_path: Path
) -> None:
    approval, _ = await bot.waiting_run()
    with sqlite3.connect(tmp_path / "pilothouse.db") as database:
        database.execute("update journal set body = replace(body, 'call_judged', 'call_dreamt')")
    database.close()
    await bot.click("U0BOB", card, APPROVE)
    told = await bot.whispered("U0BOB", "can't be read by the version that runs now")
    assert told == (
        "Not decided: the run behind this question can't be read by the version that runs now. "
        f"({approval.id})"
    )


async def test_a_refusal_finds_its_way_without_a_response_url(bot: Bot, card: Json) -> None:
    approval, _ = await bot.waiting_run()
    click = {
        "type": "block_actions",
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"], "thread_ts": card["ts"]},
        "actions": [{"action_id": APPROVE, "value": approval.id}],
    }
    for response_url in (None, f"{bot.sandbox.url}/response/gone"):
        before = bot.sandbox.ephemerals("U0ALICE")
        payload = {**click, "response_url": response_url}
        await bot.sandbox.inside.outbox.interact("interactive", payload)
        await bot.services.answering.drain(5)
        *_, told = bot.sandbox.ephemerals("U0ALICE")
        assert told not in before
        assert told["text"].startswith("Not decided: only")
        assert (told["channel"], told["thread_ts"]) == ("C0SUPPORT", card["ts"])
    assert bot.sandbox.messages("D0ALICE") == []


async def test_what_can_not_be_said_in_the_thread_is_said_directly(
    bot: Bot, card: Json, caplog: pytest.LogCaptureFixture
) -> None:
    bot.sandbox.faults.add(method="response_url", status=404)
    bot.sandbox.faults.add(method="chat.postEphemeral", error="user_not_in_channel")
    await bot.click("U0ALICE", card, APPROVE)
    await bot.services.answering.drain(5)
    (told,) = bot.sandbox.messages("D0ALICE")
    assert told["text"].startswith("Not decided: only")
    assert "Could not answer in C0SUPPORT: SlackApiError (user_not_in_channel)" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "approve",
        "yes",
        "disapprove {id}",
        "do not approve {id}",
        "approve {id}?",
        "approve {id} please",
        "approve\u200b {id}",
        "\u0430pprove {id}",
        "APPROVE {id}",
        "approve {short}",
        "please approve {id}",
    ],
)
async def test_nothing_but_the_whole_words_decides(bot: Bot, card: Json, text: str) -> None:
    approval, _ = await bot.waiting_run()
    words = MENTION + text.format(id=approval.id, short=approval.id[:-3])
    await bot.say("U0BOB", words, "C0SUPPORT", card["ts"])
    await bot.say("U0BOB", words.removeprefix(MENTION), "D0BOB")
    await bot.services.answering.drain(5)
    asked = {one.id: one.status for one, _ in await bot.runtime.approvals(waiting_only=False)}
    assert asked[approval.id] == "pending"


async def test_a_slow_write_is_acknowledged_in_time_and_the_truth_follows(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(), patience=0.05) as bot:
        await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        card, _, state = await bot.post_card()
        bot.sandbox.faults.add(method="users.info", latency=20)
        said = await bot.click("U0BOB", card, APPROVE)
        assert said["acknowledged"]
        await bot.whispered("U0BOB", "Still saving your decision")
        await time_passes(20)
        await bot.whispered("U0BOB", "Your decision was saved: ✅ Approved")
        await bot.ended_run(state.run_id)


async def _without_buttons(bot: Bot, card: Json) -> Json | None:
    message = await bot.message(card)
    has_buttons = any(block["type"] == "actions" for block in message["blocks"])
    return None if has_buttons else message
