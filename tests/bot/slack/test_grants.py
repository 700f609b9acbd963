"""The grants that hold, from Slack: who sees which, and who takes them back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent import Approve, Decider, GrantWish, Policy
from agent.rules.control import GrantRevoked
from agent.rules.ids import Principal
from agent.rules.standing import Grant
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import GRANT_REVOKE
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in
from tests.store.database import ask

BOB = Decider(Principal("slack:T0PILOT:U0BOB"), "U0BOB", frozenset({"S0FINANCE"}))
POLICY: dict[str, Any] = {
    "owners": {"users": ["U0OLGA"]},
    "rules": [
        {
            "tool": "process_refund",
            "action": "ask",
            "approvers": {"groups": ["S0FINANCE"], "users": ["U0BOB"]},
            "grants": {"scopes": ["run", "thread"]},
        }
    ],
}


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    agent = refunds(Policy.model_validate(POLICY))
    users = sandbox.inside.workspace.users
    users["U0OLGA"] = replace(users["U0FRANK"], id="U0OLGA", name="olga")
    async with bot_in(sandbox, tmp_path, agent=agent) as connected:
        yield connected


@pytest.fixture
async def grant(bot: Bot) -> Grant:
    """Given by Bob, in the run that Alice asked for."""
    await bot.command("U0ALICE", "refund ORD-3300 180")
    approval, _ = await bot.waiting_run()
    await bot.runtime.decide(approval.id, Approve(grant=GrantWish("thread")), BOB)
    (grant,) = await bot.runtime.grants()
    return grant


async def listed(bot: Bot, user: str) -> Json:
    """What this person is shown, and only they."""
    said = await bot.command(user, "grants")
    assert said["acknowledged"]
    shown: Json = bot.sandbox.ephemerals(user)[-1]
    return shown


async def revoke(bot: Bot, user: str, shown: Json, **what: Any) -> None:
    place = {"channel": shown["channel"], "ts": shown["ts"]}
    said = await bot.act(user, "click", **place, action_id=f"{GRANT_REVOKE}:1", **what)
    assert said["acknowledged"]
    await bot.services.answering.drain(5)


async def forge(bot: Bot, user: str, value: str, team: str = "T0PILOT") -> str:
    """A click that no list of this person's offers; what they are told."""
    click = {
        "type": "block_actions",
        "user": {"id": user, "team_id": team},
        "container": {"channel_id": "C0SUPPORT", "message_ts": "1.1"},
        "actions": [{"action_id": f"{GRANT_REVOKE}:1", "value": value}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", click)
    await bot.services.answering.drain(5)
    return bot.whispers(user)[-1]


@pytest.mark.parametrize("user", ["U0BOB", "U0FRANK", "U0ALICE", "U0OLGA"])
async def test_who_gave_it_or_might_have_who_asked_for_the_run_and_the_owners_see_it_and_take_it_back(
    bot: Bot, grant: Grant, user: str
) -> None:
    shown = await listed(bot, user)
    for words in (
        "Refund an order: ORD-3300, $180.00",
        "one thread of refunds",
        "by <@U0BOB>",
        grant.id,
    ):
        assert words in str(shown["blocks"])
    assert grant.id in shown["text"]
    await revoke(bot, user, shown)
    assert await bot.runtime.grants() == []
    taken = [one.event for one in await bot.store.control.read()]
    assert [one.by for one in taken if isinstance(one, GrantRevoked)] == [f"slack:T0PILOT:{user}"]
    # The list itself says so, and has no such button any more.
    (now,) = [one for one in bot.sandbox.ephemerals(user) if one["ts"] == shown["ts"]]
    assert "Revoked: Refund an order: ORD-3300, $180.00 is" in str(now)
    assert GRANT_REVOKE not in str(now)


async def test_whoever_asked_for_the_run_takes_it_back_also_where_the_run_can_not_be_read(
    bot: Bot, grant: Grant
) -> None:
    ask(bot.url, "UPDATE journal SET body = replace(body, 'run_started', 'run_dreamt')")
    shown = await listed(bot, "U0ALICE")
    assert grant.id in str(shown["blocks"])
    await revoke(bot, "U0ALICE", shown)
    assert await bot.runtime.grants() == []


async def test_the_list_keeps_what_was_not_revoked(bot: Bot, grant: Grant) -> None:
    await bot.command("U0ALICE", "refund ORD-3300 90")
    approval, _ = await bot.waiting_run()
    await bot.runtime.decide(approval.id, Approve(grant=GrantWish("thread")), BOB)
    shown = await listed(bot, "U0BOB")
    await revoke(bot, "U0BOB", shown)
    (left,) = await bot.runtime.grants()
    assert left.id != grant.id
    now = str([one for one in bot.sandbox.ephemerals("U0BOB") if one["ts"] == shown["ts"]])
    assert (left.id in now, f"'value': '{grant.id}'" in now) == (True, False)


async def test_a_second_click_on_revoke_says_that_it_holds_no_more(bot: Bot, grant: Grant) -> None:
    shown = await listed(bot, "U0BOB")
    await revoke(bot, "U0BOB", shown)
    await revoke(bot, "U0BOB", shown)
    assert "holds no more" in bot.whispers("U0BOB")[-1]
    taken = [one.event for one in await bot.store.control.read()]
    assert len([one for one in taken if isinstance(one, GrantRevoked)]) == 1


@pytest.mark.parametrize(
    ("user", "team", "why"),
    [
        ("U0CAROL", "T0PILOT", "uests can't"),
        ("U0DAVE", "T0OTHER", "another workspace"),
        ("U0ERIN", "T0PILOT", "deactivated"),
    ],
)
async def test_who_may_do_nothing_here_sees_none_and_revokes_none(
    bot: Bot, grant: Grant, user: str, team: str, why: str
) -> None:
    assert why in (await listed(bot, user))["text"]
    assert why in await forge(bot, user, grant.id, team)
    assert await bot.runtime.grants() == [grant]


async def test_whom_it_does_not_concern_sees_none_and_revokes_none(bot: Bot, grant: Grant) -> None:
    bot.put_into("S0FINANCE", "U0BOB")
    assert (await listed(bot, "U0FRANK"))["text"].startswith("Nothing that you can see")
    assert "none that you can see" in await forge(bot, "U0FRANK", grant.id)
    assert await bot.runtime.grants() == [grant]


@pytest.mark.parametrize("value", ["grt_unknown", "apr_1", "", "grt_1'; --"])
async def test_a_forged_revoke_is_answered_and_revokes_nothing(
    bot: Bot, grant: Grant, value: str
) -> None:
    assert "Nothing was done" in await forge(bot, "U0BOB", value)
    assert await bot.runtime.grants() == [grant]


async def test_a_group_that_can_not_be_looked_up_hides_it_from_those_who_are_only_in_it(
    bot: Bot, grant: Grant
) -> None:
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=5)
    assert grant.id not in str(await listed(bot, "U0FRANK"))
    assert grant.id in str(await listed(bot, "U0BOB"))
