"""Faults that happen at once, and how they are mended."""

from __future__ import annotations

import asyncio
from email.utils import parsedate_to_datetime

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox
from tests.sandbox.driving import MOMENT, bolt_app, client_of, connected, modal
from tests.sandbox.passing import time_passes


async def post(sandbox: OpenSandbox) -> str:
    try:
        return str((await client_of(sandbox).chat_postMessage(channel="C0OPS", text="x"))["ts"])
    except SlackApiError as error:
        return str(error.response["error"])


async def test_a_person_deletes_a_message_and_the_app_is_told(sandbox: OpenSandbox) -> None:
    ts = await post(sandbox)
    await sandbox.faults.now(delete_message={"channel": "C0OPS", "ts": ts})
    assert sandbox.messages("C0OPS") == []
    with pytest.raises(SlackApiError, match="message_not_found"):
        await client_of(sandbox).chat_update(channel="C0OPS", ts=ts, text="y")
    async with connected(bolt_app(sandbox)):

        def told() -> bool:
            events = [one["payload"]["event"] for one in sandbox.deliveries("events_api")]
            return ts in [event.get("deleted_ts") for event in events]

        await sandbox.until(told, "the event")


async def test_an_archived_channel_takes_no_messages_until_it_is_mended(
    sandbox: OpenSandbox,
) -> None:
    await sandbox.faults.now(archive="C0OPS")
    assert await post(sandbox) == "is_archived"
    sandbox.faults.heal()
    await post(sandbox)
    assert len(sandbox.messages("C0OPS")) == 1


async def test_a_bot_that_was_removed_does_not_find_a_private_channel(sandbox: OpenSandbox) -> None:
    await sandbox.faults.now(remove_bot="C0OPS")
    assert await post(sandbox) == "channel_not_found"
    sandbox.faults.heal()
    ts = await post(sandbox)
    assert sandbox.messages("C0OPS")[-1]["ts"] == ts


@pytest.mark.sandbox(clock=MOMENT)
async def test_with_the_clock_ahead_messages_and_triggers_are_of_later(
    sandbox: OpenSandbox,
) -> None:
    trigger_id = sandbox.inside.triggers.issue("U0BOB")
    assert await sandbox.faults.now(clock_ahead=600) == {"ok": True, "now": MOMENT + 600}
    assert float(await post(sandbox)) >= MOMENT + 600
    answer = await client_of(sandbox).auth_test()
    assert parsedate_to_datetime(answer.headers["Date"]).timestamp() == MOMENT + 600
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await client_of(sandbox).views_open(trigger_id=trigger_id, view=modal())
    before = await post(sandbox)
    sandbox.faults.heal()
    assert sandbox.clock() == MOMENT
    healed = [await post(sandbox) for _ in range(3)]
    assert all(MOMENT <= float(ts) < MOMENT + 1 for ts in healed)
    shown = [message["ts"] for message in sandbox.messages("C0OPS")]
    assert len(set(shown)) == len(shown) == 5
    assert (shown, shown[-1]) == (sorted(shown), before)


async def test_it_is_told_how_many_connections_were_cut_or_asked_to_come_anew(
    sandbox: OpenSandbox,
) -> None:
    assert await sandbox.faults.now(drop_sockets=True) == {"ok": True, "connections": 0}
    async with connected(bolt_app(sandbox)):
        assert (await sandbox.faults.now(disconnect="refresh_requested"))["connections"] == 1
        await sandbox.until(lambda: len(sandbox.calls("apps.connections.open")) > 1, "a new one")
    async with connected(bolt_app(sandbox)):
        assert (await sandbox.faults.now(drop_sockets=True))["connections"] == 1


@pytest.mark.sandbox(timing=Timing(ack=30.0, socket_redelivery=600.0))
async def test_half_open_sockets_pass_nothing_until_they_are_mended(sandbox: OpenSandbox) -> None:
    app = bolt_app(sandbox)

    @app.event("message")
    async def message() -> None: ...

    async with connected(app):
        assert (await sandbox.faults.now(half_open=600))["connections"] == 1
        saying = asyncio.create_task(sandbox.act("U0BOB", "message", channel="D0BOB", text="x"))
        await sandbox.until(lambda: sandbox.deliveries("events_api"), "it is sent")
        await time_passes(30)
        assert not (await saying)["acknowledged"]
        sandbox.faults.heal()
        said = await sandbox.act("U0BOB", "message", channel="D0BOB", text="y")
        assert said["acknowledged"]
