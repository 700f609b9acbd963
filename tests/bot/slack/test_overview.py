"""What people may look at from anywhere: theirs, all of it, and nothing that is not so."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent import Decider, Deny
from agent.rules.ids import EventId, Principal, RunId
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Stamped
from agent.rules.state import Approval, RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview, waiting
from bot.slack.home.gathering import gathered
from bot.slack.payloads import Actor
from tests.bot.slack.agents import vouchers
from tests.bot.slack.workspace import Bot, bot_in
from tests.store.database import ask

ALICE, BOB = Actor("U0ALICE", "T0PILOT"), Actor("U0BOB", "T0PILOT")
BOBS = Principal("slack:T0PILOT:U0BOB")
ALICES = Principal("slack:T0PILOT:U0ALICE")


async def start(bot: Bot, count: int, requester: str) -> list[RunId]:
    """Runs that wait for finance."""
    prompts = [f"refund ORD-{number}" for number in range(count)]
    return [await bot.runtime.start(one, requester=Principal(requester)) for one in prompts]


def make_unreadable(folder: Path, run_id: RunId) -> None:
    """As if a newer version had written it."""
    with sqlite3.connect(folder / "pilothouse.db") as database:
        body = "replace(body, 'run_started', 'run_dreamt')"
        database.execute(f"update journal set body = {body} where run_id = ?", (run_id,))
    database.close()


async def test_other_peoples_runs_hide_none_of_ones_own(bot: Bot) -> None:
    (own,) = await start(bot, 1, ALICES)
    await start(bot, 60, "slack:T0PILOT:U0ERIC")
    assert own in (await overview.runs(bot.services, ALICE)).text
    assert own in (await overview.status(bot.services, ALICE, None)).text


async def test_a_run_is_where_its_thread_says_it_is(bot: Bot) -> None:
    await start(bot, 1, ALICES)
    approval, state = await bot.waiting_run()
    assert "*waiting for a decision*" in (await overview.runs(bot.services, ALICE)).text
    await bot.runtime.decide(
        approval.id, Deny("no"), Decider(BOBS, groups=frozenset({"S0FINANCE"}))
    )
    await bot.ended_run(state.run_id)
    for told in (
        await overview.runs(bot.services, ALICE),
        await overview.status(bot.services, ALICE, None),
    ):
        assert "*ended: nothing was done*" in told.text


async def test_more_runs_than_are_shown_are_not_passed_over_in_silence(bot: Bot) -> None:
    await start(bot, 10, ALICES)
    assert "older" not in (await overview.runs(bot.services, ALICE)).text
    await start(bot, 1, ALICES)
    told = (await overview.runs(bot.services, ALICE)).text
    assert told.splitlines()[-1] == "… and older ones"
    assert len(told.splitlines()) == 12


async def test_runs_that_can_not_be_read_are_not_said_to_be_none(bot: Bot, tmp_path: Path) -> None:
    (own,) = await start(bot, 1, ALICES)
    make_unreadable(tmp_path, own)
    told = (await overview.runs(bot.services, ALICE)).text
    assert told == "1 of your runs can't be read by the version that runs now."
    for run_id in (own, None):
        told = (await overview.status(bot.services, ALICE, run_id)).text
        assert told == f"This run can't be read by the version that runs now. ({own})"


async def test_open_questions_that_were_not_looked_through_are_mentioned(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "LOOKED_THROUGH", 2)
    await start(bot, 2, ALICES)
    await bot.waiting_runs(2)
    assert "more may wait" not in (await overview.pending(bot.services, BOB)).text
    await start(bot, 1, ALICES)
    await bot.waiting_runs(3)
    told = (await overview.pending(bot.services, BOB)).text
    assert told.count("• ") == 2
    assert "oldest questions were looked through; more may wait for you." in told
    assert "ORD-3300, $180.00" in told
    assert "a mention of me and `approve apr_…`" in told


async def expire(bot: Bot, approval: Approval, state: RunState) -> None:
    """As the engine does when the time has come."""
    ask(bot.url, "UPDATE approvals SET expires_at = 1")
    event = ApprovalExpired(approval_id=approval.id)
    stamped = Stamped(EventId(f"late-{state.run_id}"), bot.store.clock.now(), event)
    await bot.store.journal.intend(state.run_id, [stamped], expected_seq=state.seq)


@pytest.mark.parametrize("expired", [3, 2, 1])
async def test_what_nobody_decided_in_time_is_not_passed_over_in_silence_either(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, expired: int
) -> None:
    await start(bot, 3, ALICES)
    asked = await bot.waiting_runs(3)
    for approval, state in asked[:expired]:
        await expire(bot, approval, state)
    monkeypatch.setattr(waiting, "LOOKED_THROUGH", 3)
    assert "more may wait" not in (await overview.pending(bot.services, ALICE)).text
    monkeypatch.setattr(waiting, "LOOKED_THROUGH", 2)
    told = (await overview.pending(bot.services, ALICE)).text
    assert told.count("*Ask again* on its card") == min(expired, 2)
    assert ("oldest questions were looked through; more may wait for you." in told) == (expired > 2)


async def test_what_can_not_be_read_hides_no_question_behind_it_in_silence(
    bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(bot, 4, ALICES)
    asked = await bot.waiting_runs(4)
    for _, state in asked[:2]:
        make_unreadable(tmp_path, state.run_id)
    monkeypatch.setattr(waiting, "LOOKED_THROUGH", 2)
    told = (await overview.pending(bot.services, BOB)).text
    assert told.count("• ") == 1
    assert "oldest questions were looked through; more may wait for you." in told


async def test_what_waits_and_can_not_be_read_is_not_said_to_be_nothing(
    bot: Bot, tmp_path: Path
) -> None:
    (own,) = await start(bot, 1, ALICES)
    await bot.waiting_run()
    make_unreadable(tmp_path, own)
    unreadable = "1 question that may wait for you can't be read by the version that runs now."
    assert (await overview.pending(bot.services, BOB)).text == unreadable
    assert unreadable in (await gathered(bot.services, BOB)).remarks
    assert "Nothing waits" in (await overview.pending(bot.services, ALICE)).text


async def test_groups_that_nobody_looked_up_are_mentioned(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(bot, 1, ALICES)
    await bot.waiting_run()
    assert "more may wait" not in (await overview.pending(bot.services, BOB)).text
    monkeypatch.setattr(waiting, "_GROUPS_AT_MOST", 0)
    told = (await overview.pending(bot.services, BOB)).text
    assert told == "Only 0 of the groups that are asked were looked up; more may wait for you."


async def test_all_that_waits_is_shown_as_far_as_it_fits_and_of_the_rest_it_is_said_where(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(bot, 12, ALICES)
    await bot.waiting_runs(12)
    told = (await overview.pending(bot.services, BOB)).text
    assert told.count("• ") == 12
    assert "more" not in told
    monkeypatch.setattr(overview, "_TEXT_LIMIT", 1_000)
    told = (await overview.pending(bot.services, BOB)).text
    shown = told.count("• ")
    assert 1 < shown < 12
    assert f"… and {12 - shown} more, which come up here as these are decided" in told


async def test_a_group_that_is_unknown_is_mentioned(bot: Bot) -> None:
    await start(bot, 1, ALICES)
    await bot.waiting_run()
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error")
    told = (await overview.pending(bot.services, BOB)).text
    assert told == "Slack did not say who is in <!subteam^S0FINANCE>; more may wait for you."


async def test_a_refusal_keeps_its_names(bot: Bot) -> None:
    bot.sandbox.faults.add(method="users.info", error="internal_error", times=3)
    for look in (overview.pending, overview.runs):
        told = (await look(bot.services, ALICE)).text
        assert told.startswith("We could not look up in Slack who you are just now. Please")


async def test_an_unknown_effect_is_asked_about_as_one_and_not_to_be_approved(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=vouchers()) as bot:
        await start(bot, 1, ALICES)
        approval, _ = await bot.waiting_run()
        assert approval.kind == "review"
        told = (await overview.pending(bot.services, BOB)).text
        assert "• *Did this happen? " in told
        assert " · to be said on its card" in told
        assert "apr_" not in told
