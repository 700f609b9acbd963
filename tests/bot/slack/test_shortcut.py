"""Ask about this: from a message in Slack to a run in its thread."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.errors import SessionBusy, StoreUnavailable
from agent.rules.access import Access
from agent.rules.ids import RunId
from agent.rules.rule import People
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack import opening
from bot.slack.cards.ask_about import ASK_TITLE
from bot.slack.ids import ASK_BLOCK, ASK_MODAL, Place
from tests.bot.slack.agents import refunds
from tests.bot.slack.modals import sent_off
from tests.bot.slack.test_manifest import MANIFEST
from tests.bot.slack.workspace import Bot, Json, bot_in, nobody_else_writes

SUPPORT = "C0SUPPORT"
WORDS = "refund one of them"


async def choose(bot: Bot, message: Json, user: str = "U0ALICE", channel: str = SUPPORT) -> Json:
    """The shortcut of that message."""
    return await bot.act(user, "shortcut", callback_id=ASK_MODAL, channel=channel, ts=message["ts"])


async def opened(bot: Bot, user: str = "U0ALICE") -> Json:
    view: Json = await bot.sandbox.until(lambda: bot.view(user), "the modal is open")
    return view


async def send(bot: Bot, view: Json, text: str = WORDS, user: str = "U0ALICE") -> str:
    """How it is acknowledged. It stays open in the sandbox: it can be sent once more."""
    state = {"values": {ASK_BLOCK: {"value": {"type": "plain_text_input", "value": text}}}}
    return await sent_off(bot, user, {**view, "state": state})


def test_the_manifest_has_the_shortcut_as_it_is_listened_to() -> None:
    (shortcut,) = yaml.safe_load(MANIFEST.read_text())["features"]["shortcuts"]
    assert (shortcut["name"], shortcut["callback_id"]) == (ASK_TITLE, ASK_MODAL)
    assert (shortcut["type"], len(shortcut["name"]) <= 24) == ("message", True)


async def test_a_message_is_asked_about_in_its_thread_once_and_is_no_instruction(bot: Bot) -> None:
    scopes = yaml.safe_load(MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    bot.sandbox.inside.tokens.add(BOT_TOKEN, scopes)
    root = await bot.say("U0BOB", "Two parcels, one order.", SUPPORT)
    said = await bot.say("U0BOB", "refund everybody", SUPPORT, root["ts"])
    assert (await choose(bot, said))["acknowledged"]
    view = await opened(bot)
    assert view["callback_id"] == ASK_MODAL
    assert "refund everybody" in str(view["blocks"])
    assert "refund" not in view["private_metadata"]
    assert "Say what is to be done" in await send(bot, view, "  ")
    assert await bot.runs() == []

    assert "{}" in await asyncio.gather(send(bot, view), send(bot, view))
    await send(bot, view)
    assert "with other words" in await send(bot, view, "refund both")
    (state,) = await bot.runs()
    assert state.said == ()
    assert (state.prompt, state.requester) == (WORDS, "slack:T0PILOT:U0ALICE")
    assert Place.of(state.place) == Place("T0PILOT", SUPPORT, root["ts"])
    assert state.session == f"slack:T0PILOT:{SUPPORT}:{root['ts']}"
    (quote,) = state.quoted
    assert (quote.by, quote.text) == ("slack:T0PILOT:U0BOB", "refund everybody")


async def test_a_run_that_is_at_work_in_the_thread_is_told_once(bot: Bot) -> None:
    root = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", SUPPORT)
    _, waiting = await bot.waiting_run()
    # A guest: the run is not told of it by itself.
    said = await bot.say("U0CAROL", "He has it back already.", SUPPORT, root["ts"])
    await choose(bot, said, "U0BOB")
    view = await opened(bot, "U0BOB")
    assert "A run is at work in this thread" in str(view["blocks"])
    for _ in range(2):
        told = await send(bot, view, "check this first", "U0BOB")
        assert f"has been told. It hears it at its next step. ({waiting.run_id})" in told
    (state,) = await bot.runs()
    assert [(one.by, one.text) for one in state.said] == [
        ("slack:T0PILOT:U0BOB", "check this first")
    ]
    assert [one.text for one in state.said[0].quoted] == ["He has it back already."]
    assert state.open_approvals


async def test_a_word_that_acts_acts_on_the_run_of_the_thread_and_one_that_comes_near_is_told(
    bot: Bot,
) -> None:
    nothing = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, nothing)
    assert "no run is at work in this thread" in await send(bot, await opened(bot), "stop")
    root = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", SUPPORT)
    await bot.waiting_run()
    await choose(bot, root)
    view = await opened(bot)
    assert "Paused: nothing new begins" in await send(bot, view, "please pause!")
    assert "It hears it at its next step" in (hinted := await send(bot, view, "yes, do it"))
    assert "This decides nothing: to approve or deny, use the buttons of" in hinted
    await choose(bot, root, "U0BOB")
    view = await opened(bot, "U0BOB")
    assert "write just `stop`, or press Stop" in await send(bot, view, "cancel that", "U0BOB")
    assert "Stopped: nothing new begins" in await send(bot, view, "stop the run", "U0BOB")
    (state,) = await bot.runs()
    assert state.stop is not None
    assert [one.text for one in state.said] == ["yes, do it", "cancel that"]


async def test_the_files_of_the_message_go_with_it(bot: Bot) -> None:
    files = [
        {"name": "orders.csv", "content": "ORD-3300,180"},
        {"name": "scan.pdf", "content": "%PDF"},
    ]
    said = await bot.act("U0BOB", "message", channel=SUPPORT, text="These.", files=files)
    await choose(bot, said)
    told = await send(bot, await opened(bot))
    (state,) = await bot.runs()
    assert [one.text for one in state.files] == ["ORD-3300,180", None]
    assert f"Your run has started. ({state.run_id})\\n“scan.pdf” was not read" in told


async def test_what_another_app_said_can_be_asked_about_too(bot: Bot) -> None:
    alert = await bot.act("U0BOB", "bot_message", channel=SUPPORT, text="42 is red", classic=True)
    await choose(bot, alert)
    await send(bot, await opened(bot))
    (state,) = await bot.runs()
    assert [one.text for one in state.quoted] == ["42 is red"]


async def test_who_may_not_start_a_run_or_is_where_we_are_not_is_told_at_the_shortcut(
    bot: Bot,
) -> None:
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said, "U0CAROL")
    await bot.whispered("U0CAROL", "Nothing was started: guests")
    bot.sandbox.faults.add(method="conversations.replies", error="internal_error")
    await choose(bot, said)
    await bot.whispered("U0ALICE", "Slack did not show me the message just now")
    bot.sandbox.faults.add(method="conversations.replies", error="missing_scope")
    await choose(bot, said)
    await bot.whispered("U0ALICE", "Slack does not let me read this message (missing_scope)")
    bot.sandbox.inside.membership.leave(bot.sandbox.inside.workspace.channels[SUPPORT])
    await choose(bot, said)
    await bot.whispered("U0ALICE", "Invite me with `/invite <@U0PILOT>`")
    assert [bot.view(user) for user in ("U0ALICE", "U0CAROL")] == [None, None]


async def test_what_is_in_the_way_later_is_said_at_the_field_and_keeps_what_was_typed(
    bot: Bot,
) -> None:
    sandbox = bot.sandbox.inside
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said)
    view = await opened(bot)
    bot.sandbox.faults.add(method="conversations.replies", error="internal_error")
    away = await send(bot, view)
    assert '"response_action": "errors"' in away
    assert "Slack did not show me the message" in away
    sandbox.membership.leave(sandbox.workspace.channels[SUPPORT])
    assert "Invite me there with /invite" in await send(bot, view)
    sandbox.membership.join(sandbox.workspace.channels[SUPPORT])
    await bot.act("U0BOB", "delete", channel=SUPPORT, ts=said["ts"])
    assert "not there any more" in await send(bot, view)
    assert await bot.runs() == []


async def test_what_was_edited_or_deleted_since_the_form_was_opened_is_not_asked_about(
    bot: Bot,
) -> None:
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said)
    await bot.act("U0BOB", "edit", channel=SUPPORT, ts=said["ts"], text="Pay *everybody*.")
    refused = await send(bot, await opened(bot))
    assert '"response_action": "errors"' in refused
    assert "since you opened this form. Now it says: “Pay *everybody*.”" in refused
    # What has replies leaves a tombstone, which is not what was asked about.
    await bot.say("U0BOB", "And one more.", SUPPORT, said["ts"])
    await bot.act("U0BOB", "delete", channel=SUPPORT, ts=said["ts"])
    assert "not there any more" in await send(bot, await opened(bot))
    assert await bot.runs() == []


async def test_who_may_start_no_more_for_now_is_told_for_how_long_and_keeps_what_was_typed(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=replace(refunds(), starts_per_hour=1)) as bot:
        await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", SUPPORT)
        await choose(bot, await bot.say("U0BOB", "Two parcels.", SUPPORT))
        refused = await send(bot, await opened(bot))
        assert '"response_action": "errors"' in refused
        assert "you have started 1 run of refunds in the last hour" in refused
        assert "again in 60 min." in refused
        assert len(await bot.runs()) == 1


async def test_a_list_of_who_may_start_and_of_who_may_say_something_holds_here_too(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    only_frank = People(users=("U0FRANK",))
    lists = Access(start=People(users=("U0BOB",)), steer=only_frank, stop=only_frank)
    async with bot_in(sandbox, tmp_path, agent=replace(refunds(), access=lists)) as bot:
        said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
        await choose(bot, said, "U0BOB")
        view = await opened(bot, "U0BOB")
        # Whoever sends it off is who asks.
        refused = await send(bot, view)
        assert "only <@U0BOB> can start" in refused
        assert '"response_action": "update"' in refused
        await send(bot, view, user="U0BOB")
        await bot.waiting_run()
        await choose(bot, said, "U0BOB")
        await bot.whispered("U0BOB", "only <@U0FRANK> can say something to")
        await choose(bot, said, "U0FRANK")
        await send(bot, await opened(bot, "U0FRANK"), "wait", "U0FRANK")
        (state,) = await bot.runs()
        assert [one.text for one in state.said] == ["wait"]


async def test_who_may_stop_and_say_nothing_else_stops_it_with_the_form_too(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    lists = Access(steer=People(users=("U0FRANK",)), stop=People(users=("U0BOB",)))
    async with bot_in(sandbox, tmp_path, agent=replace(refunds(), access=lists)) as bot:
        root = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", SUPPORT)
        await bot.waiting_run()
        await choose(bot, root, "U0ALICE")
        await bot.whispered("U0ALICE", "only <@U0FRANK> can say something to")
        await choose(bot, root, "U0BOB")
        view = await opened(bot, "U0BOB")
        # Whoever sends it off is who asks, of this as well.
        assert "only <@U0BOB> can pause, resume or stop" in await send(bot, view, "stop", "U0FRANK")
        await choose(bot, root, "U0BOB")
        view = await opened(bot, "U0BOB")
        assert "only <@U0FRANK> can say something to" in await send(bot, view, "wait", "U0BOB")
        await choose(bot, root, "U0BOB")
        view = await opened(bot, "U0BOB")
        assert "Stopped: nothing new begins" in await send(bot, view, "stop", "U0BOB")
        (state,) = await bot.runs()
        assert (state.said, state.stop is not None) == ((), True)


async def test_a_store_that_is_away_costs_nobody_what_they_typed(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.2)) as bot:
        said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
        await choose(bot, said)
        view = await opened(bot)
        with nobody_else_writes(tmp_path):
            assert "our store can't be reached right now" in await send(bot, view)
            await choose(bot, said, "U0BOB")
            await bot.whispered("U0BOB", "Nothing was started: our store can't be reached")
        assert await send(bot, view) == "{}"
        assert [one.prompt for one in await bot.runs()] == [WORDS]


async def test_where_the_store_does_not_say_whether_it_was_done_that_is_said_and_it_is_done_once(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said)
    view, start, lists = await opened(bot), bot.store.journal.start, bot.store.lists

    async def away(*_: Any, **__: Any) -> RunId:
        raise StoreUnavailable("the connection was lost")

    async def lost(*args: Any, **also: Any) -> RunId:
        await start(*args, **also)
        return await away()

    with monkeypatch.context() as broken:
        broken.setattr(bot.store.journal, "start", lost)
        broken.setattr(type(lists), "run_of_key", away)
        assert "I can't say whether this was done" in await send(bot, view)
    await send(bot, view)
    assert [one.prompt for one in await bot.runs()] == [WORDS]


async def test_where_others_are_always_quicker_it_is_not_tried_for_ever(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said)
    view = await opened(bot)

    async def busy(*_: Any, **__: Any) -> RunId:
        raise SessionBusy("ses_1", "run_1")

    monkeypatch.setattr(bot.store.journal, "start", busy)
    assert "runs begin and end here just now" in await send(bot, view)


async def test_a_modal_that_takes_its_time_opens_and_is_filled_in_later(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.0)
    said = await bot.say("U0BOB", "Two parcels.", SUPPORT)
    await choose(bot, said)
    await bot.sandbox.until(lambda: "Two parcels." in str(bot.view("U0ALICE")), "it is filled in")
    (first,) = bot.sandbox.calls("views.open")
    assert "Nothing is started" in str(first["arguments"]["view"])


async def test_a_shortcut_that_can_not_be_read_is_answered_where_it_was_chosen(bot: Bot) -> None:
    sandbox = bot.sandbox.inside
    payload = {
        "type": "message_action",
        "callback_id": ASK_MODAL,
        "user": {"id": "U0ALICE", "team_id": "T0PILOT"},
        "channel": {"id": SUPPORT},
        "message": {"text": "Two parcels."},
    }
    assert (await sandbox.outbox.interact("interactive", payload)).reply.acknowledged
    await bot.whispered("U0ALICE", "what Slack sent us could not be read")
