"""Each fault can be taken back by its number, and what lasts is shown as long as it does."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.driving import MOMENT, Driver, driving


async def numbers(driver: Driver) -> list[int]:
    return [one["number"] for one in await driver.get("/sandbox/faults")]


async def mend(driver: Driver, number: int) -> tuple[int, Any]:
    return await driver.request("DELETE", f"/sandbox/faults/{number}")


async def test_a_waiting_fault_is_taken_back_alone(driver: Driver) -> None:
    await driver.fault(method="users.info", error="fatal_error", times=2)
    await driver.fault(method="chat.update", error="fatal_error")
    first, second = await numbers(driver)
    assert (await mend(driver, first))[0] == 200
    assert await numbers(driver) == [second]
    assert (await driver.slack.users_info(user="U0BOB"))["ok"]
    status, body = await mend(driver, first)
    assert (status, body["error"]) == (404, f"No fault {first} waits or lasts.")


async def test_what_was_broken_at_once_is_shown_and_mended_to_what_it_was_at_first() -> None:
    async with driving(clock=MOMENT) as driver:
        await driver.fault(clock_ahead=600)
        await driver.fault(archive="C0OPS")
        await driver.fault(clock_ahead=900)
        archived, clock = await driver.get("/sandbox/faults")
        assert (archived["archive"], clock["clock_ahead"]) == ("C0OPS", 900)
        await mend(driver, clock["number"])
        channel = driver.sandbox.workspace.channels["C0OPS"]
        lasting = [(driver.sandbox.clock(), channel.archived)]
        await mend(driver, archived["number"])
        lasting.append((driver.sandbox.clock(), channel.archived))
        assert lasting == [(MOMENT, True), (MOMENT, False)]
        assert await numbers(driver) == []


async def test_what_ends_by_itself_is_shown_no_longer() -> None:
    async with driving(clock=MOMENT) as driver:
        await driver.fault(half_open=30)
        assert [one["until"] for one in await driver.get("/sandbox/faults")] == [MOMENT + 30]
        driver.sandbox.clock.forward(31)
        assert await numbers(driver) == []


async def test_the_record_tells_of_each_fault_that_strikes(driver: Driver) -> None:
    await driver.fault(method="users.info", latency=0)
    await driver.slack.users_info(user="U0BOB")
    await driver.fault(drop_sockets=True)
    struck = [one for one in driver.sandbox.record.calls() if one["kind"] == "fault"]
    assert [(one["effect"], one.get("what")) for one in struck] == [
        ("latency", "users.info"),
        ("drop_sockets", None),
    ]


async def test_whoever_counts_the_calls_counts_no_fault_and_no_violation(driver: Driver) -> None:
    await driver.fault(method="users.info", error="fatal_error")
    with pytest.raises(SlackApiError):
        await driver.slack.users_info(user="U0BOB")
    driver.sandbox.record.violation("limit", "too long", "users.info")
    recorded = driver.sandbox.record.calls()
    assert [one["kind"] for one in recorded if one.get("method") == "users.info"] == ["call"]
    told = {one["group"] for one in (await driver.get("/sandbox/inspector"))["rows"]}
    assert {"call", "fault", "violation"} <= told
    assert {one["kind"] for one in await driver.get("/sandbox/calls")} == {"call"}
