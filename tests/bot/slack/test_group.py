"""Several calls of one reply on one card: clicked one by one, and each decided by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import Policy
from agent.rules.control import DecisionRefused
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import APPROVE, APPROVE_ALL, DENY, DENY_ALL, MORE, STEER, numbered
from bot.slack.payloads import Actor
from tests.bot.slack.agents import several_refunds
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask

BOB = Actor("U0BOB", "T0PILOT")


@pytest.fixture
async def drawn(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path, agent=several_refunds(3)) as bot, drawing(bot):
        yield bot


async def asked(bot: Bot) -> tuple[Json, RunState]:
    """The card on which finance is asked, and its run."""
    started = await bot.say("U0ALICE", "<@U0PILOT> refund all of it", "C0SUPPORT")
    _, state = (await bot.waiting_runs(3))[0]

    def found() -> Json | None:
        thread = bot.sandbox.messages("C0SUPPORT", started["ts"])
        cards = [one for one in thread if numbered(APPROVE, 3) in str(one)]
        return {"channel": "C0SUPPORT", "ts": cards[0]["ts"]} if cards else None

    return await bot.sandbox.until(found, "the card is posted"), state


async def shows(bot: Bot, card: Json, *parts: str, without: str = "nothing at all") -> Json:
    async def found() -> Json | None:
        message = await bot.message(card)
        is_so = all(part in str(message) for part in parts) and without not in str(message)
        return message if is_so else None

    return await bot.sandbox.until(found, f"the card shows {parts}")


def outcomes(state: RunState) -> list[str]:
    return [call.result.outcome for call in state.calls.values() if call.result]


async def test_each_is_decided_by_its_own_buttons_and_the_others_wait(drawn: Bot) -> None:
    card, state = await asked(drawn)
    assert (await drawn.click("U0BOB", card, numbered(APPROVE, 1)))["acknowledged"]
    await shows(
        drawn, card, "Approved* by <@U0BOB>", numbered(APPROVE, 2), without=numbered(DENY, 1)
    )
    assert (await drawn.click("U0BOB", card, numbered(DENY, 2)))["acknowledged"]
    await shows(drawn, card, "1 of 3 actions to decide", numbered(DENY, 3))
    await drawn.click("U0BOB", card, numbered(STEER, 3))
    assert (await drawn.submit("U0BOB", **{"arg.amount": "90"}))["acknowledged"]
    ended = await drawn.ended_run(state.run_id)
    assert outcomes(ended) == ["ok", "denied", "ok"]
    await shows(drawn, card, "none left to decide", "$180.00 → $90.00", without="approval.")
    assert drawn.whispers("U0BOB") == []


async def test_the_menu_of_each_is_its_own(drawn: Bot) -> None:
    card, state = await asked(drawn)
    second = list(state.approvals)[1]
    chosen = f"deny_reason|{second}"
    await drawn.click("U0BOB", card, numbered(MORE, 2), selected=chosen)
    assert (await drawn.submit("U0BOB", reason="not this one"))["acknowledged"]
    await shows(drawn, card, "not this one", numbered(APPROVE, 3), without=numbered(APPROVE, 2))


async def test_a_click_on_what_was_decided_says_by_whom_and_decides_nothing_else(
    drawn: Bot,
) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0FRANK", card, numbered(DENY, 1))
    await shows(drawn, card, "Denied* by <@U0FRANK>")
    await drawn.click("U0BOB", card, numbered(APPROVE, 1))
    assert "<@U0FRANK> denied this" in await drawn.whispered("U0BOB", "Too late")
    assert len(await drawn.waiting_runs(2)) == 2


async def test_who_may_not_decide_is_told_so_and_the_card_stays(drawn: Bot) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0ALICE", card, numbered(APPROVE, 2))
    assert "can decide this" in await drawn.whispered("U0ALICE", "Not decided")
    assert numbered(APPROVE, 2) in str(await drawn.message(card))
    assert len(await drawn.waiting_runs(3)) == 3


async def test_the_list_of_what_waits_leads_to_the_card_from_each_of_them(drawn: Bot) -> None:
    card, _ = await asked(drawn)
    in_thread = f"?thread_ts={(await drawn.message(card))['thread_ts']}&amp;cid=C0SUPPORT"
    link = f"archives/C0SUPPORT/p{card['ts'].replace('.', '')}{in_thread}|look at it"

    async def is_linked() -> bool:
        return (await overview.pending(drawn.services, BOB)).text.count(link) == 3

    await drawn.sandbox.until(is_linked, "each has a link")


async def view_of(bot: Bot, user: str, callback_id: str) -> Json:
    def found() -> Json | None:
        view = bot.view(user)
        return view if view is not None and view.get("callback_id") == callback_id else None

    return await bot.sandbox.until(found, "the modal is open")


async def says_of(bot: Bot, count: int, *words: str) -> None:
    """Bob's form does, at once or, where that takes longer, when it is known."""

    def is_said() -> bool:
        shown = str(bot.view("U0BOB"))
        return sum(shown.count(one) for one in words) == count

    await bot.sandbox.until(is_said, f"what became of {count}")


async def test_approve_all_lists_what_it_decides_and_says_of_each_what_became_of_it(
    drawn: Bot,
) -> None:
    card, state = await asked(drawn)
    await drawn.click("U0BOB", card, APPROVE_ALL)
    view = await view_of(drawn, "U0BOB", APPROVE_ALL)
    assert json.loads(view["private_metadata"])["approvals"] == list(state.approvals)
    assert all(f"ORD-{n}" in str(view["blocks"]) for n in (1, 2, 3))
    assert (await drawn.submit("U0BOB"))["acknowledged"]
    await says_of(drawn, 3, "✅ Approved.")
    ended = await drawn.ended_run(state.run_id)
    assert outcomes(ended) == ["ok"] * 3
    await shows(drawn, card, "none left to decide", without="approval")


async def test_what_others_decided_meanwhile_stays_and_the_rest_is_decided(drawn: Bot) -> None:
    card, state = await asked(drawn)
    await drawn.click("U0BOB", card, DENY_ALL)
    await view_of(drawn, "U0BOB", DENY_ALL)
    await drawn.click("U0FRANK", card, numbered(APPROVE, 2))
    assert (await drawn.submit("U0BOB", reason="none of it"))["acknowledged"]
    await says_of(drawn, 2, "⛔ Denied.")
    assert "<@U0FRANK> approved this" in str(drawn.view("U0BOB"))
    assert outcomes(await drawn.ended_run(state.run_id)) == ["denied", "ok", "denied"]
    await shows(drawn, card, "none of it", "Approved* by <@U0FRANK>")


async def test_only_what_still_waits_is_listed(drawn: Bot) -> None:
    card, state = await asked(drawn)
    await drawn.click("U0BOB", card, numbered(DENY, 1))
    await drawn.click("U0BOB", card, APPROVE_ALL)
    view = await view_of(drawn, "U0BOB", APPROVE_ALL)
    assert json.loads(view["private_metadata"])["approvals"] == list(state.approvals)[1:]


async def test_sent_off_twice_it_decides_once(drawn: Bot) -> None:
    card, state = await asked(drawn)
    await drawn.click("U0BOB", card, APPROVE_ALL)
    view = await view_of(drawn, "U0BOB", APPROVE_ALL)
    both = [drawn.act("U0BOB", "submit", view_id=view["id"], values={}) for _ in range(2)]
    await asyncio.gather(*both)
    # The second is shown last, and may have come first to one of them.
    await says_of(drawn, 3, "✅ Approved.", "Your decision stands: ")
    ended = await drawn.ended_run(state.run_id)
    assert [call.attempts for call in ended.calls.values()] == [1, 1, 1]


@pytest.mark.parametrize("action_id", [APPROVE_ALL, DENY_ALL])
async def test_who_may_decide_none_of_them_sees_none_of_them(drawn: Bot, action_id: str) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0ALICE", card, action_id)
    assert "can decide this" in await drawn.whispered("U0ALICE", "Not decided")
    assert drawn.view("U0ALICE") is None
    assert len(await drawn.waiting_runs(3)) == 3


async def test_the_group_of_another_reply_opens_nothing(drawn: Bot) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0BOB", card, APPROVE_ALL, value="grp_another")
    assert "no such question" in await drawn.whispered("U0BOB", "Not decided")
    assert drawn.view("U0BOB") is None


async def test_an_old_picture_of_the_card_lists_nothing_that_was_decided(drawn: Bot) -> None:
    card, state = await asked(drawn)
    await drawn.click("U0BOB", card, APPROVE_ALL)
    await view_of(drawn, "U0BOB", APPROVE_ALL)
    await drawn.submit("U0BOB")
    await drawn.ended_run(state.run_id)
    await shows(drawn, card, "none left to decide", without="approval")
    await drawn.click("U0FRANK", card, DENY_ALL)
    assert await drawn.whispered("U0FRANK", "Not decided: nothing on this card waits")


async def test_what_is_not_theirs_to_decide_is_not_among_what_is_listed(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    rule = {"tool": "process_refund", "action": "ask"}
    franks = {**rule, "when": "args.order == 'ORD-2'", "approvers": {"users": ["U0FRANK"]}}
    policy = Policy.model_validate(
        {"rules": [franks, {**rule, "approvers": {"groups": ["S0FINANCE"]}}]}
    )
    agent = several_refunds(3, policy)
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        card, state = await asked(bot)
        await bot.click("U0BOB", card, APPROVE_ALL)
        view = await view_of(bot, "U0BOB", APPROVE_ALL)
        first, second, third = state.approvals
        assert json.loads(view["private_metadata"])["approvals"] == [first, third]
        assert "not yours to decide: 1 more" in str(view["blocks"])
        assert "ORD-2" not in str(view["blocks"])
        await bot.submit("U0BOB")
        await shows(bot, card, "1 of 3 actions to decide", numbered(APPROVE, 2))
        assert [one.id for one, _ in await bot.waiting_runs(1)] == [second]


async def test_a_late_redraw_gives_no_decided_call_its_buttons_back(drawn: Bot) -> None:
    card, state = await asked(drawn)
    drawn.sandbox.faults.add(method="response_url", latency=0.8)
    await drawn.click("U0BOB", card, numbered(DENY, 1))
    await shows(drawn, card, "2 of 3 actions to decide")
    for number in (2, 3):
        await drawn.click("U0BOB", card, numbered(DENY, number))
    await drawn.ended_run(state.run_id)
    await shows(drawn, card, "none left to decide")
    await drawn.services.answering.drain(5)
    late = drawn.sandbox.calls("response_url")
    assert any(numbered(APPROVE, 2) in str(one["arguments"]) for one in late)
    await shows(drawn, card, "none left to decide", without="approval.")


async def sent_off(bot: Bot, user: str, team: str, group: str, *approvals: str) -> str:
    """What the modal says that somebody made up."""
    held = json.dumps({"group": group, "approvals": approvals})
    view = {"id": "V1", "callback_id": APPROVE_ALL, "private_metadata": held}
    payload = {"type": "view_submission", "user": {"id": user, "team_id": team}, "view": view}
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    return str(answer.reply.body)


async def test_a_forged_list_decides_nothing_that_is_of_another_reply_or_not_theirs(
    drawn: Bot,
) -> None:
    _, state = await asked(drawn)
    first, second, _ = state.approvals
    group = state.approvals[first].requested.group
    assert "no such question" in await sent_off(drawn, "U0BOB", "T0PILOT", "grp_x", first)
    assert "no such question" in await sent_off(drawn, "U0BOB", "T0PILOT", group, "apr_x")
    for user, team in (("U0ALICE", "T0PILOT"), ("U0DAVE", "T0OTHER"), ("U0ERIN", "T0PILOT")):
        told = await sent_off(drawn, user, team, group, first, second)
        assert told.count("Not decided") == 2
    assert len(await drawn.waiting_runs(3)) == 3
    refused = [one.event for one in await drawn.store.control.read()]
    assert len([one for one in refused if isinstance(one, DecisionRefused)]) == 6


async def test_while_it_is_being_saved_that_is_said_and_what_became_of_each_follows(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    agent = several_refunds(3)
    async with bot_in(sandbox, tmp_path, agent=agent, patience=0.0) as bot, drawing(bot):
        card, state = await asked(bot)
        await bot.click("U0BOB", card, APPROVE_ALL)
        await view_of(bot, "U0BOB", APPROVE_ALL)
        assert (await bot.submit("U0BOB"))["acknowledged"]
        assert "Still saving your decisions. You'll be told in a direct" in str(bot.view("U0BOB"))
        assert outcomes(await bot.ended_run(state.run_id)) == ["ok"] * 3

        def is_told() -> bool:
            direct = bot.sandbox.messages("D0BOB")
            return any(one["text"].count("✅ Approved.") == 3 for one in direct)

        await sandbox.until(is_told, "Bob is told directly")


async def told_of_each(bot: Bot) -> list[str]:
    """What Bob is told of each: by the modal, or, where that took long, directly."""

    def found() -> list[str] | None:
        view = bot.view("U0BOB") or {"blocks": []}
        texts = [one["text"]["text"] for one in view["blocks"] if "text" in one]
        texts += [one["text"] for one in bot.sandbox.messages("D0BOB")]
        return next((one.splitlines() for one in texts if one.startswith("1. ")), None)

    told: list[str] = await bot.sandbox.until(found, "Bob is told of each")
    return told


#: What goes wrong while one of them is written: the database can't be used, or does not take it.
FAILS = {"is away": "SELECT json('{')", "refuses it": "SELECT RAISE(ABORT, 'no')"}


@pytest.mark.parametrize(
    ("how", "told"), [("is away", "Nothing has changed"), ("refuses it", "we can't say whether")]
)
async def test_a_store_that_fails_in_the_middle_of_it_leaves_what_came_before_and_after_decided(
    drawn: Bot, how: str, told: str
) -> None:
    card, state = await asked(drawn)
    _, second, _ = state.approvals
    await drawn.click("U0BOB", card, APPROVE_ALL)
    await view_of(drawn, "U0BOB", APPROVE_ALL)
    ask(
        drawn.url,
        f"CREATE TRIGGER fails BEFORE UPDATE ON approvals WHEN NEW.approval_id = '{second}'"
        f" BEGIN {FAILS[how]}; END",
    )
    assert (await drawn.submit("U0BOB"))["acknowledged"]
    said = await told_of_each(drawn)
    assert ["✅ Approved." in one for one in said] == [True, False, True]
    assert [told in one for one in said] == [False, True, False]
    assert [one.id for one, _ in await drawn.waiting_runs(1)] == [second]
    await shows(drawn, card, "1 of 3 actions to decide", numbered(APPROVE, 2))
    ask(drawn.url, "DROP TRIGGER fails")
    await drawn.click("U0BOB", card, numbered(APPROVE, 2))
    ended = await drawn.ended_run(state.run_id)
    assert [call.attempts for call in ended.calls.values()] == [1, 1, 1]


async def test_a_store_that_is_gone_from_the_middle_of_it_on_has_decided_only_the_first(
    drawn: Bot,
) -> None:
    card, state = await asked(drawn)
    first, *others = state.approvals
    await drawn.click("U0BOB", card, DENY_ALL)
    await view_of(drawn, "U0BOB", DENY_ALL)
    ask(
        drawn.url,
        f"CREATE TRIGGER fails BEFORE UPDATE ON approvals WHEN NEW.approval_id <> '{first}'"
        f" BEGIN {FAILS['is away']}; END",
    )
    await drawn.submit("U0BOB")
    said = str(await told_of_each(drawn))
    assert (said.count("⛔ Denied."), said.count("Nothing has changed")) == (1, 2)
    assert [one.id for one, _ in await drawn.waiting_runs(2)] == others
