"""What no card and no page holds: attached as a file, read, and approved; refused while it is not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from bot.sandbox.opened import OpenSandbox
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack.ids import APPROVE, MORE, STEER
from tests.bot.slack.agents import scripts
from tests.bot.slack.test_manifest import MANIFEST
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

WORDS = [f"word-{number}" for number in range(40_000)]
COMPLETE = "files.completeUploadExternal"


@pytest.fixture
def script() -> str:
    return " ".join(WORDS)


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, script: str) -> AsyncIterator[Bot]:
    """With the scopes of its manifest; it asks about a script of 40,000 words, unless a test has another."""
    scopes = yaml.safe_load(MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    sandbox.inside.tokens.add(BOT_TOKEN, scopes)
    agent = scripts(script)
    async with bot_in(sandbox, tmp_path, agent=agent) as connected, drawing(connected) as drawn:
        yield drawn


def thread(bot: Bot) -> list[Json]:
    roots = bot.sandbox.messages("C0SUPPORT")
    said = [one for root in roots for one in bot.sandbox.messages("C0SUPPORT", root["ts"])]
    return [{**one, "channel": "C0SUPPORT"} for one in said]


async def card(bot: Bot, words: str = APPROVE) -> Json:
    """Once it says so."""

    def found() -> Json | None:
        cards = (one for one in thread(bot) if "approval.deny" in str(one))
        return next((one for one in cards if words in str(one["blocks"])), None)

    return await bot.sandbox.until(found, f"a card with {words}")


def files(bot: Bot) -> list[str]:
    ids = [file["id"] for one in thread(bot) for file in one.get("files", [])]
    held = [bot.sandbox.inside.files.get(one).content for one in ids]
    return [one.decode() for one in held if one is not None]


async def told(bot: Bot, count: int) -> None:
    await bot.sandbox.until(lambda: len(bot.whispers("U0BOB")) == count, f"{count} answers")


async def outcome(bot: Bot) -> str:
    state = await bot.ended_run((await bot.runs())[0].run_id)
    (call,) = state.calls.values()
    return str(call.result and call.result.output)


async def test_forty_thousand_words_are_read_in_a_file_and_approved(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    (file,) = files(bot)
    assert f"| {' '.join(WORDS)}\n" in file
    assert (await bot.click("U0BOB", asked, APPROVE))["acknowledged"]
    assert await outcome(bot) == f"{len(' '.join(WORDS))} on web-1"


async def test_it_is_approved_in_words_as_by_a_click(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    approval, _ = await bot.waiting_run()
    words = f"<@U0PILOT> approve {approval.id}"
    await bot.say("U0BOB", words, "C0SUPPORT", asked["thread_ts"])
    assert "on web-1" in await outcome(bot)


async def test_what_the_file_shows_may_be_left_as_it_is_by_a_change(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    await bot.click("U0BOB", asked, STEER)
    await bot.sandbox.until(lambda: bot.view("U0BOB"), "the form")
    said = await bot.submit("U0BOB", **{"arg.host": "web-2"})
    assert "errors" not in said
    assert await outcome(bot) == f"{len(' '.join(WORDS))} on web-2"


async def test_while_the_file_is_not_there_no_way_leads_to_a_yes(bot: Bot) -> None:
    bot.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot, "can't be approved here")
    assert APPROVE not in str(asked["blocks"])
    approval, _ = await bot.waiting_run()
    (row,) = [one for one in asked["blocks"] if one["type"] == "actions"]
    click: Json = {
        "type": "block_actions",
        "user": {"id": "U0BOB", "team_id": "T0PILOT"},
        "trigger_id": "1.2.abc",
        "container": {"channel_id": "C0SUPPORT", "message_ts": asked["ts"]},
    }
    forged: list[Json] = [
        {"action_id": APPROVE, "value": approval.id},
        {"action_id": MORE, "selected_option": {"value": f"approve_note|{approval.id}"}},
    ]
    for count, action in enumerate(forged, 1):
        actions = [{**action, "block_id": row["block_id"]}]
        await bot.sandbox.inside.outbox.interact("interactive", {**click, "actions": actions})
        await told(bot, count)
    words = f"<@U0PILOT> approve {approval.id}"
    await bot.say("U0BOB", words, "C0SUPPORT", asked["thread_ts"])
    await told(bot, 3)
    assert ["can't be approved here" in one for one in bot.whispers("U0BOB")] == [True] * 3
    assert files(bot) == []
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]


@pytest.mark.parametrize("script", [pytest.param("word " * 42_000, id="just needs one")])
async def test_slack_is_let_be_with_looking_up_files_as_long_as_it_says(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    bot.sandbox.faults.add(method="files.info", ratelimited=True, retry_after=30)
    for _ in range(2):
        await bot.click("U0BOB", asked, APPROVE)
    await bot.sandbox.until(lambda: len(bot.whispers("U0BOB")) == 2, "each click is answered")
    assert ["Slack does not say now" in one for one in bot.whispers("U0BOB")] == [True] * 2
    assert len(bot.sandbox.calls("files.info")) == 1


@pytest.mark.parametrize("script", [pytest.param("word " * 42_000, id="just needs one")])
async def test_a_yes_rests_on_no_file_that_is_gone_or_can_t_be_looked_up(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    bot.sandbox.faults.add(method="files.info", status=503, times=1)
    await bot.click("U0BOB", asked, APPROVE)
    await bot.whispered("U0BOB", "Slack does not say now")
    (gone,) = [file["id"] for one in thread(bot) for file in one.get("files", [])]
    await bot.services.slack.files_delete(file=gone)
    await bot.click("U0BOB", asked, APPROVE)
    await bot.whispered("U0BOB", "Not decided: the file with all of it was deleted")
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]

    def is_attached_anew() -> bool:
        ids = [file["id"] for one in thread(bot) for file in one.get("files", [])]
        return any(one != gone and bot.sandbox.inside.files.get(one).content for one in ids)

    await bot.sandbox.until(is_attached_anew, "another file")
    await bot.sandbox.until(lambda: APPROVE in str(thread(bot)), "Approve is back")
    await bot.click("U0BOB", await card(bot), APPROVE)
    assert "on web-1" in await outcome(bot)


@pytest.mark.parametrize("script", [pytest.param("word " * 42_000, id="just needs one")])
@pytest.mark.parametrize("is_elsewhere", [True, False])
async def test_a_yes_rests_on_the_message_of_the_file_and_not_on_its_being_somewhere(
    bot: Bot, is_elsewhere: bool
) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    asked = await card(bot)
    (attached,) = [one for one in thread(bot) if one.get("files")]
    if is_elsewhere:
        # In the same channel, but not below the card.
        inside = bot.sandbox.inside
        file = inside.files.get(attached["files"][0]["id"])
        lunch = await bot.say("U0ALICE", "lunch?", "C0SUPPORT")
        file.shares.append((inside.workspace.channels["C0SUPPORT"], {"ts": lunch["ts"]}))
    await bot.services.slack.chat_delete(channel="C0SUPPORT", ts=attached["ts"])
    await bot.click("U0BOB", asked, APPROVE)
    await bot.whispered("U0BOB", "Not decided: Slack does not show the file with all of it")
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]
    await bot.sandbox.until(lambda: files(bot), "another file")
    await bot.sandbox.until(lambda: APPROVE in str(thread(bot)), "Approve is back")
    await bot.click("U0BOB", await card(bot), APPROVE)
    assert "on web-1" in await outcome(bot)


@pytest.mark.parametrize("script", ["cd /srv\nrm -rf ."])
@pytest.mark.parametrize("is_attached", [True, False])
async def test_where_no_blocks_are_taken_words_decide_as_far_as_one_can_read(
    bot: Bot, is_attached: bool
) -> None:
    for method in ("chat.postMessage", "chat.update"):
        fault = {"error": "invalid_blocks", "contains": "approval.deny", "times": 1000}
        bot.sandbox.faults.add(method=method, **fault)
    if not is_attached:
        bot.sandbox.faults.add(method=COMPLETE, error="restricted_action", times=1000)
    await bot.say("U0ALICE", "<@U0PILOT> run it", "C0SUPPORT")
    wanted = "in the file" if is_attached else "can't show the question in full"
    (asked,) = await bot.sandbox.until(
        lambda: [one for one in thread(bot) if wanted in one["text"]], "the card in words"
    )
    approval, _ = await bot.waiting_run()
    words = f"<@U0PILOT> approve {approval.id}"
    await bot.say("U0BOB", words, "C0SUPPORT", asked["thread_ts"])
    if is_attached:
        assert "on web-1" in await outcome(bot)
    else:
        assert "can't be approved here" in await bot.whispered("U0BOB", "Not decided")
