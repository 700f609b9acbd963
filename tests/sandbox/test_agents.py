"""Statuses, titles and prompts of an agent, through the SDK."""

from __future__ import annotations

from typing import Any

from tests.sandbox.driving import MOMENT, Driver, driving
from tests.sandbox.refusals import error_of


async def parent(driver: Driver, channel: str = "C0OPS") -> str:
    return str((await driver.slack.chat_postMessage(channel=channel, text="asked"))["ts"])


async def shown(driver: Driver, ts: str, channel: str = "C0OPS") -> Any:
    return await driver.get(f"/sandbox/channels/{channel}/session?thread_ts={ts}")


async def test_a_status_goes_after_two_minutes_or_when_the_app_posts() -> None:
    async with driving(clock=MOMENT) as driver:
        ts = await parent(driver)
        place: dict[str, Any] = {"channel_id": "C0OPS", "thread_ts": ts}
        set_status = driver.slack.assistant_threads_setStatus
        await set_status(**place, status="is thinking…", loading_messages=["Hm", "Aha"])
        found = await shown(driver, ts)
        assert (found["status"], found["loading_messages"]) == ("is thinking…", ["Hm", "Aha"])
        driver.sandbox.clock.forward(121)
        assert (await shown(driver, ts))["status"] == ""
        await set_status(**place, status="again")
        await driver.slack.chat_postMessage(channel="C0OPS", thread_ts=ts, text="there")
        assert (await shown(driver, ts))["status"] == ""
        await set_status(**place, status="again")
        await set_status(**place, status="")
        assert (await shown(driver, ts))["status"] == ""


async def test_title_and_suggested_prompts(driver: Driver) -> None:
    ts = await parent(driver, "D0BOB")
    slack = driver.slack
    await slack.assistant_threads_setTitle(channel_id="D0BOB", thread_ts=ts, title="Refunds")
    prompts = [{"title": "Refund", "message": "refund ORD-1"}]
    await slack.assistant_threads_setSuggestedPrompts(
        channel_id="D0BOB", thread_ts=ts, prompts=prompts, title="Try"
    )
    await slack.assistant_threads_setSuggestedPrompts(channel_id="D0BOB", prompts=prompts * 2)
    found = await shown(driver, ts, "D0BOB")
    assert found["title"] == "Refunds"
    assert found["suggested_prompts"] == {"title": "Try", "prompts": prompts}
    assert len((await shown(driver, "", "D0BOB"))["suggested_prompts"]["prompts"]) == 2


async def test_threads_that_are_not_there_and_too_much_of_something(driver: Driver) -> None:
    slack, ts = driver.slack, await parent(driver)
    set_status = slack.assistant_threads_setStatus
    nowhere = set_status(channel_id="C0NONE", thread_ts=ts, status="x")
    assert await error_of(nowhere) == "channel_not_found"
    no_thread = set_status(channel_id="C0OPS", thread_ts="1.1", status="x")
    assert await error_of(no_thread) == "invalid_thread_ts"
    many = set_status(channel_id="C0OPS", thread_ts=ts, status="x", loading_messages=["x"] * 11)
    assert await error_of(many) == "invalid_arguments"
    suggest = slack.assistant_threads_setSuggestedPrompts
    for prompts in ([], [{"title": "t", "message": "m"}] * 5, [{"title": "t"}]):
        assert await error_of(suggest(channel_id="C0OPS", prompts=prompts)) == "invalid_arguments"


async def test_a_session_has_a_status_and_a_name(driver: Driver) -> None:
    slack, ts = driver.slack, await parent(driver)
    place: dict[str, Any] = {"channel_id": "C0OPS", "thread_ts": ts}
    rename = slack.agents_sessions_rename
    assert await error_of(rename(**place, title="x")) == "session_not_found"
    begun = await slack.agents_sessions_setStatus(
        **place, status="processing", title="Refund", initiator_user_id="U0BOB"
    )
    assert (begun["status"], begun["agent_status"]) == ("processing", "processing")
    assert begun["title"] == "Refund"
    later = await slack.agents_sessions_setStatus(**place, status="suspended", title="ignored")
    assert (later["status"], later["title"]) == ("suspended", "Refund")
    assert (await rename(**place, title="Paid back"))["title"] == "Paid back"
    assert (await shown(driver, ts))["session"] == {
        "status": "suspended",
        "title": "Paid back",
        "initiator": "U0BOB",
    }


async def test_errors_of_sessions(driver: Driver) -> None:
    slack, ts = driver.slack, await parent(driver)
    set_status, rename = slack.agents_sessions_setStatus, slack.agents_sessions_rename
    place: dict[str, Any] = {"channel_id": "C0OPS", "thread_ts": ts}
    assert await error_of(set_status(**place, status="busy")) == "invalid_status"
    threadless = set_status(channel_id="C0OPS", status="active")
    assert await error_of(threadless) == "thread_ts_required"
    stranger = set_status(**place, status="active", initiator_user_id="U0CAROL")
    assert await error_of(stranger) == "user_not_found"
    long = set_status(**place, status="active", title="x" * 201)
    assert await error_of(long) == "invalid_arguments"
    assert await error_of(rename(**place, title="")) == "invalid_arguments"
    nowhere = set_status(channel_id="C0NONE", thread_ts=ts, status="active")
    assert await error_of(nowhere) == "channel_not_found"
    support = await parent(driver, "C0SUPPORT")
    driver.sandbox.workspace.channels["C0SUPPORT"].members.remove("U0PILOT")
    outside = set_status(channel_id="C0SUPPORT", thread_ts=support, status="active")
    assert await error_of(outside) == "not_authorized"
    driver.sandbox.policies.agent_sessions = False
    assert await error_of(set_status(**place, status="active")) == "feature_disabled"


async def test_who_is_not_told_of_stops_is_warned_and_nobody_can_stop_it() -> None:
    async with driving(events=["message.groups"]) as driver:
        ts = await parent(driver)
        said = await driver.slack.agents_sessions_setStatus(
            channel_id="C0OPS", thread_ts=ts, status="processing"
        )
        assert said["warning"] == "missing_agent_session_stopped_event_subscription"
        stop = {"as": "U0BOB", "do": "stop_session", "channel": "C0OPS", "thread_ts": ts}
        status, answer = await driver.request("POST", "/sandbox/act", stop)
        assert (status, "no Stop button" in answer["error"]) == (400, True)
