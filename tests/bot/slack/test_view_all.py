"""View all: a modal for whoever decides or asked, page by page, and what it lets them approve."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE, DENY, STEER, VIEW
from tests.bot.slack.agents import scripts, vouchers
from tests.bot.slack.workspace import Bot, Json, bot_in

LONG = "".join(f"echo {number:05}\n" for number in range(2_500))


@pytest.fixture
def script() -> str:
    return LONG


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, script: str) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path, agent=scripts(script)) as connected:
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    posted, _, _ = await bot.post_card()
    return posted


async def seen(bot: Bot, user: str, words: str) -> Json:
    def found() -> Json | None:
        view = bot.view(user)
        return view if view is not None and words in str(view) else None

    return await bot.sandbox.until(found, f"{user} sees {words!r}")


async def turn(bot: Bot, user: str, page: int, **forged: str) -> Json:
    view = bot.view(user)
    assert view is not None
    return await bot.act(user, "click", view_id=view["id"], action_id=f"{VIEW}:{page}", **forged)


async def is_open(bot: Bot) -> bool:
    return [one.status for one, _ in await bot.runtime.approvals(waiting_only=False)] == ["pending"]


@pytest.mark.parametrize("user", ["U0BOB", "U0ALICE"])
async def test_who_decides_and_who_asked_read_all_of_it_page_by_page(
    bot: Bot, card: Json, user: str
) -> None:
    assert (await bot.click(user, card, VIEW))["acknowledged"]
    first = await seen(bot, user, "Page 1 of")
    assert "echo 00000" in str(first)
    assert "echo 02499" not in str(first)
    page = 1
    while "echo 02499" not in str(bot.view(user)):
        page += 1
        assert (await turn(bot, user, page))["acknowledged"]
        await seen(bot, user, f"Page {page} of")
    await turn(bot, user, page - 1)
    back = await seen(bot, user, f"Page {page - 1} of")
    assert back["id"] == first["id"]
    assert await is_open(bot)


async def test_what_the_pages_show_can_be_approved(bot: Bot, card: Json) -> None:
    await bot.click("U0BOB", card, APPROVE)
    state = await bot.ended_run((await bot.runs())[0].run_id)
    (call,) = state.calls.values()
    assert call.result is not None
    assert call.result.outcome == "ok"
    # The old picture still says what it was.
    await bot.click("U0BOB", card, VIEW)
    await seen(bot, "U0BOB", "no longer open")


async def test_what_may_have_happened_is_read_by_who_settles_it_and_by_nobody_else(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=vouchers(LONG)) as bot:
        await bot.say("U0ALICE", "<@U0PILOT> send it", "C0SUPPORT")
        card, _, _ = await bot.post_card()
        await bot.click("U0BOB", card, VIEW)
        assert "may have happened" in str(await seen(bot, "U0BOB", "echo 00000"))
        bot.put_into("S0FINANCE", "U0FRANK")
        await turn(bot, "U0BOB", 2)
        assert "echo" not in str(await seen(bot, "U0BOB", "shown to whoever may decide this"))


@pytest.mark.parametrize("user", ["U0CAROL", "U0DAVE", "U0ERIN"])
async def test_who_may_not_know_sees_nothing(bot: Bot, card: Json, user: str) -> None:
    await bot.click(user, card, VIEW)
    assert await bot.whispered(user, "Not decided")
    assert bot.view(user) is None


async def test_a_member_who_neither_decides_nor_asked_is_told_so(bot: Bot, card: Json) -> None:
    bot.put_into("S0FINANCE", "U0FRANK")
    await bot.click("U0BOB", card, VIEW)
    await bot.whispered("U0BOB", "shown to whoever may decide this")
    assert bot.view("U0BOB") is None


async def test_who_asked_for_it_reads_it_also_while_slack_does_not_say_who_may_decide(
    bot: Bot, card: Json
) -> None:
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=9)
    await bot.click("U0ALICE", card, VIEW)
    await seen(bot, "U0ALICE", "Page 1 of")
    await bot.click("U0BOB", card, VIEW)
    await bot.whispered("U0BOB", "we could not look up in Slack who may decide this")


async def test_who_loses_the_right_while_it_is_open_turns_no_page(bot: Bot, card: Json) -> None:
    await bot.click("U0BOB", card, VIEW)
    await seen(bot, "U0BOB", "Page 1 of")
    bot.put_into("S0FINANCE", "U0FRANK")
    await turn(bot, "U0BOB", 2)
    shown = await seen(bot, "U0BOB", "shown to whoever may decide this")
    assert "echo" not in str(shown)


@pytest.mark.parametrize("value", ["run_1", "", "apr_1 or 1"])
async def test_a_forged_value_is_answered_and_shows_nothing(
    bot: Bot, card: Json, value: str
) -> None:
    await bot.click("U0BOB", card, VIEW, value=value)
    await bot.whispered("U0BOB", "could not be read")
    assert bot.view("U0BOB") is None


async def test_an_unknown_approval_is_answered_in_the_modal_that_is_open(
    bot: Bot, card: Json
) -> None:
    await bot.click("U0BOB", card, VIEW)
    await seen(bot, "U0BOB", "Page 1 of")
    await turn(bot, "U0BOB", 2, value="apr_unknown")
    await seen(bot, "U0BOB", "we know of no such question")


@pytest.mark.parametrize("script", ["x" * 45_000])
async def test_what_nothing_shows_in_full_is_neither_approved_nor_left_in_a_steered_call(
    bot: Bot, card: Json, script: str
) -> None:
    message = await bot.message(card)
    assert APPROVE not in str(message["blocks"])
    # Forged: this card has no such button.
    approval, _ = await bot.waiting_run()
    (row,) = [one for one in message["blocks"] if one["type"] == "actions"]
    click = {
        "type": "block_actions",
        "user": {"id": "U0BOB", "team_id": "T0PILOT"},
        "container": {"channel_id": card["channel"], "message_ts": card["ts"]},
        "actions": [{"action_id": APPROVE, "value": approval.id, "block_id": row["block_id"]}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", click)
    await bot.whispered("U0BOB", "can't be approved here")
    await bot.click("U0BOB", card, STEER)
    said = await bot.submit("U0BOB", **{"arg.host": "web-2"})
    assert "too long to be shown in full" in said["errors"]["guidance"]
    assert await is_open(bot)
    await bot.submit("U0BOB", **{"arg.host": "web-1", "guidance": "make it short"})
    assert not await is_open(bot)


async def test_a_modal_that_was_closed_meanwhile_is_not_missed(bot: Bot, card: Json) -> None:
    await bot.click("U0BOB", card, VIEW)
    await seen(bot, "U0BOB", "Page 1 of")
    bot.sandbox.faults.add(method="views.update", error="not_found")
    await turn(bot, "U0BOB", 2)
    await bot.services.answering.drain(5)
    assert bot.whispers("U0BOB") == []
    await bot.click("U0BOB", card, DENY)
    assert not await is_open(bot)
