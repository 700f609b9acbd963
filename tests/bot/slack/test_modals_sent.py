"""Every modal in which people decide ends in the same few ways, whatever is written in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent import Policy
from agent.rules.control import DecisionRefused
from agent.rules.decisions import Decider
from agent.rules.ids import EventId, Principal
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Stamped
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import (
    ANSWER_MODAL,
    APPROVE,
    APPROVE_MODAL,
    DENY_MODAL,
    GRANT_MODAL,
    STEER_MODAL,
)
from bot.slack.people import KEPT_SECONDS
from tests.bot.slack.agents import asking, refunds, scripts
from tests.bot.slack.modals import ANSWERED, OF_A_CALL, Modal, forged, sent_off
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing, nobody_else_writes
from tests.store.database import ask

MENTION = "<@U0PILOT> "
RULE: Json = {
    "tool": "process_refund",
    "action": "ask",
    "approvers": {"groups": ["S0FINANCE"]},
    "grants": {"scopes": ["run", "thread"], "longest": "4h"},
}
MODALS = {**OF_A_CALL, "answer": ANSWERED}
every_modal = pytest.mark.parametrize("modal", MODALS.values(), ids=MODALS)
ALICE = Decider(Principal("slack:T0PILOT:U0ALICE"), "U0ALICE")


def asked_by(**rule: Any) -> Policy:
    return Policy.model_validate({"rules": [{**RULE, **rule}]})


@pytest.fixture
def modal() -> Modal:
    return OF_A_CALL["deny"]


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, modal: Modal) -> AsyncIterator[Bot]:
    """Alice's run asks finance, or her, and a locked store is given up soon."""
    agent = asking("$20") if modal is ANSWERED else refunds(asked_by())
    patience = timedelta(seconds=0.2)
    async with bot_in(sandbox, tmp_path, agent=agent, store_patience=patience) as connected:
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    return await ask_for_it(bot)


async def ask_for_it(bot: Bot) -> Json:
    await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT")
    posted, _, _ = await bot.post_card()
    return posted


async def refusals(bot: Bot) -> list[tuple[str, str]]:
    """What people wanted and were refused, and why."""
    taken_down = [one.event for one in await bot.store.control.read()]
    return [(one.action, one.code) for one in taken_down if isinstance(one, DecisionRefused)]


@every_modal
async def test_what_is_delivered_twice_is_not_said_to_be_somebody_elses(
    bot: Bot, card: Json, modal: Modal
) -> None:
    view = await modal.open(bot, card)
    assert "errors" not in await modal.deliver(bot, view)
    again = await modal.deliver(bot, view)
    assert f"Your {'answer' if modal is ANSWERED else 'decision'} stands: " in again
    assert "Nothing of yours was sent" not in again


async def test_other_words_than_those_that_were_sent_are_said_to_be_lost(
    bot: Bot, card: Json, modal: Modal
) -> None:
    view = await modal.open(bot, card)
    await modal.deliver(bot, view)
    other = forged(DENY_MODAL, (await bot.runtime.approvals(waiting_only=False))[0][0].id)
    other["state"] = {"values": {"reason": {"value": {"value": "another reason"}}}}
    told = await sent_off(bot, "U0BOB", other)
    assert "<@U0BOB> denied this" in told
    assert "Nothing of yours was sent" in told


@every_modal
async def test_what_was_typed_stays_while_the_store_is_away(
    bot: Bot, card: Json, tmp_path: Path, modal: Modal
) -> None:
    await modal.open(bot, card)
    with nobody_else_writes(tmp_path):
        said = await bot.submit(modal.user, **modal.values)
    done = "answered" if modal is ANSWERED else "decided"
    assert said["errors"][modal.block_id].startswith(f"Not {done}: our store can't be reached")
    assert (await bot.submit(modal.user, **modal.values))["acknowledged"]
    assert await bot.runtime.approvals() == []


@every_modal
async def test_what_was_typed_stays_while_slack_does_not_say_who_somebody_is(
    bot: Bot, card: Json, modal: Modal
) -> None:
    await modal.open(bot, card)
    bot.seconds.ahead += KEPT_SECONDS
    bot.sandbox.faults.add(method="users.info", error="internal_error")
    said = await bot.submit(modal.user, **modal.values)
    assert "we could not look up in Slack who you are just now" in said["errors"][modal.block_id]
    assert len(await refusals(bot)) == 1
    assert (await bot.submit(modal.user, **modal.values))["acknowledged"]
    assert await bot.runtime.approvals() == []


@pytest.mark.parametrize("user", ["U0DAVE", "U0CAROL"])
@pytest.mark.parametrize(
    ("callback_id", "action"),
    [
        (STEER_MODAL, "steer"),
        (DENY_MODAL, "deny"),
        (APPROVE_MODAL, "approve"),
        (GRANT_MODAL, "approve"),
        (ANSWER_MODAL, "answer"),
    ],
)
async def test_who_may_decide_nothing_here_is_taken_down_whatever_they_send(
    bot: Bot, card: Json, user: str, callback_id: str, action: str
) -> None:
    approval, _ = await bot.waiting_run()
    await sent_off(bot, user, forged(callback_id, approval.id))
    assert await refusals(bot) == [(action, "not_allowed")]
    assert len(await bot.runtime.approvals()) == 1


@pytest.mark.parametrize("callback_id", [DENY_MODAL, GRANT_MODAL, STEER_MODAL, ANSWER_MODAL])
async def test_who_may_not_decide_it_is_taken_down_though_nothing_could_be_read(
    bot: Bot, card: Json, callback_id: str
) -> None:
    approval, _ = await bot.waiting_run()
    wrong = {"arg.amount": "abc"} if callback_id == STEER_MODAL else {}
    told = await sent_off(bot, "U0ALICE", forged(callback_id, approval.id, **wrong))
    assert "can decide this" in told
    assert [code for _, code in await refusals(bot)] == ["not_allowed"]


async def test_what_no_card_shows_in_full_is_taken_down_when_somebody_approves_it(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=scripts("x" * 45_000)) as bot:
        await bot.say("U0ALICE", MENTION + "run it", "C0SUPPORT")
        approval, _ = await bot.waiting_run()
        await bot.say("U0BOB", f"{MENTION}approve {approval.id}", "C0SUPPORT")
        await bot.whispered("U0BOB", "can't be approved here")
        assert await refusals(bot) == [("approve", "not_shown")]


@pytest.mark.parametrize("modal", [OF_A_CALL["approve"]])
async def test_whose_yes_is_counted_is_told_that_a_note_to_it_came_too_late(
    sandbox: OpenSandbox, tmp_path: Path, modal: Modal
) -> None:
    both = asked_by(approvers={"groups": ["S0FINANCE"], "count": 2}, grants=None)
    async with bot_in(sandbox, tmp_path, agent=refunds(both)) as bot:
        card = await ask_for_it(bot)
        await bot.click("U0BOB", card, APPROVE)
        view = await modal.open(bot, card)
        told = await modal.deliver(bot, view)
        assert "Your yes is counted; one more is needed" in told
        assert "What you wrote now was not kept." in told
        assert "approved this" not in told


@pytest.mark.parametrize("modal", [OF_A_CALL["approve"]])
async def test_a_yes_with_a_note_that_is_delivered_twice_is_counted_once_and_kept(
    sandbox: OpenSandbox, tmp_path: Path, modal: Modal
) -> None:
    both = asked_by(approvers={"groups": ["S0FINANCE"], "count": 2}, grants=None)
    async with bot_in(sandbox, tmp_path, agent=refunds(both)) as bot:
        view = await modal.open(bot, await ask_for_it(bot))
        await modal.deliver(bot, view)
        again = await modal.deliver(bot, view)
        assert "Your yes is counted; one more is needed" in again
        assert "not kept" not in again


@pytest.mark.parametrize("modal", [OF_A_CALL["approve"], OF_A_CALL["steer"]])
async def test_who_sends_it_off_when_another_question_took_its_place_is_led_there(
    sandbox: OpenSandbox, tmp_path: Path, modal: Modal
) -> None:
    agent = refunds(asked_by(expires="7d"))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT")
        approval, state = await bot.waiting_run()
        at = partial(buttons_of, bot, said["ts"])
        card = await bot.sandbox.until(partial(at, approval.id), "the card")
        await modal.open(bot, card)
        ask(bot.url, "UPDATE approvals SET expires_at = 1")
        over = ApprovalExpired(approval_id=approval.id)
        stamped = Stamped(EventId("over"), bot.store.clock.now(), over)
        await bot.store.journal.intend(state.run_id, [stamped], expected_seq=state.seq)
        await bot.runtime.ask_again(approval.id, ALICE)
        newer, _ = await bot.waiting_run()
        await bot.sandbox.until(partial(at, newer.id), "the newer card")
        await bot.submit("U0BOB", **modal.values)
        told = str(bot.view("U0BOB"))
        assert "replaced by a newer question" in told
        assert "|Look at it>." in told


#: A small refund is asked of legal, a large one of finance.
BY_AMOUNT = Policy.model_validate(
    {
        "rules": [
            {**RULE, "when": "args.amount < 100", "approvers": {"groups": ["S0LEGAL"]}},
            RULE,
            *({**RULE, "tool": f"tool_{n}", "approvers": {"groups": [f"S0{n}"]}} for n in range(9)),
        ]
    }
)


async def test_who_steers_speaks_for_their_groups_there_and_no_other_rules_are_looked_up(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(BY_AMOUNT)) as bot:
        bot.put_into("S0LEGAL", "U0BOB")
        card = await ask_for_it(bot)
        await OF_A_CALL["steer"].open(bot, card)
        await bot.submit("U0BOB", **{"arg.amount": "90"})
        (state,) = await bot.runs()
        ended = await bot.ended_run(state.run_id)
        assert [call.args["amount"] for call in ended.calls.values()] == [90]
        asked = {one["arguments"]["usergroup"] for one in sandbox.calls("usergroups.users.list")}
        assert asked == {"S0FINANCE", "S0LEGAL"}


async def test_guidance_looks_up_only_who_may_decide_it(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(BY_AMOUNT)) as bot:
        card = await ask_for_it(bot)
        await OF_A_CALL["guide"].open(bot, card)
        await bot.submit("U0BOB", guidance="half of it")
        assert await bot.runtime.approvals() == []
        asked = {one["arguments"]["usergroup"] for one in sandbox.calls("usergroups.users.list")}
        assert asked == {"S0FINANCE"}


def buttons_of(bot: Bot, thread: str, approval_id: str) -> Json | None:
    """The message on which this is decided."""
    found = (
        one
        for one in bot.sandbox.messages("C0SUPPORT", thread)
        if f"'value': '{approval_id}'" in str(one)
    )
    return next(({"channel": "C0SUPPORT", "ts": one["ts"]} for one in found), None)
