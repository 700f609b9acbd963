"""What an admin has set, and what the app then meets."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.policies import Policies
from bot.sandbox.wire import Refusal
from tests.sandbox.driving import MOMENT, Driver, driving
from tests.sandbox.refusals import error_of


async def set_policies(driver: Driver, **policies: Any) -> None:
    status, body = await driver.request("POST", "/sandbox/policies", policies)
    assert status == 200, body
    current = await driver.get("/sandbox/policies")
    assert current == current | policies


async def test_the_messages_tab_can_be_closed(driver: Driver) -> None:
    post = driver.slack.chat_postMessage
    await post(channel="U0BOB", text="x")
    await set_policies(driver, messages_tab=False)
    assert await error_of(post(channel="U0BOB", text="x")) == "messages_tab_disabled"
    await post(channel="C0OPS", text="x")


async def test_app_home_can_be_closed(driver: Driver) -> None:
    publish, view = driver.slack.views_publish, {"type": "home", "blocks": []}
    await publish(user_id="U0BOB", view=view)
    assert await error_of(publish(user_id="U0NONE", view=view)) == "invalid_arguments"
    await set_policies(driver, home_tab=False)
    assert await error_of(publish(user_id="U0BOB", view=view)) == "not_enabled"


async def test_groups_need_a_paid_plan(driver: Driver) -> None:
    slack = driver.slack
    await set_policies(driver, user_groups=False)
    for call in (slack.usergroups_list(), slack.usergroups_users_list(usergroup="S0FINANCE")):
        assert await error_of(call) == "plan_upgrade_required"


async def test_messages_can_be_edited_for_a_while_only() -> None:
    async with driving(clock=MOMENT) as driver:
        update = driver.slack.chat_update
        await set_policies(driver, edit_window=60)
        ts = (await driver.slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
        driver.sandbox.clock.forward(59)
        await update(channel="C0OPS", ts=ts, text="y")
        driver.sandbox.clock.forward(2)
        assert await error_of(update(channel="C0OPS", ts=ts, text="z")) == "edit_window_closed"


RESTRICTIONS = [
    ("posting", "restricted_action", "restricted_action"),
    (
        "read_only_channel",
        "restricted_action_read_only_channel",
        "restricted_action_read_only_channel",
    ),
    ("thread_only_channel", "restricted_action_thread_only_channel", ""),
    ("non_threadable_channel", "", "restricted_action_non_threadable_channel"),
]


@pytest.mark.parametrize(("restriction", "at_top_level", "in_thread"), RESTRICTIONS)
async def test_a_channel_can_be_restricted(
    driver: Driver, restriction: str, at_top_level: str, in_thread: str
) -> None:
    post = driver.slack.chat_postMessage
    parent = (await post(channel="C0OPS", text="x"))["ts"]
    await set_policies(driver, restrictions={"C0OPS": restriction})
    for error, thread in [(at_top_level, {}), (in_thread, {"thread_ts": parent})]:
        call = post(channel="C0OPS", text="x", **thread)
        if error:
            assert await error_of(call) == error
        else:
            await call


async def test_a_thread_can_be_locked(driver: Driver) -> None:
    slack = driver.slack
    parent = (await slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
    await set_policies(driver, locked_threads=[f"C0OPS/{parent}"])
    reply = slack.chat_postMessage(channel="C0OPS", text="x", thread_ts=parent)
    assert await error_of(reply) == "restricted_action_thread_locked"
    react = slack.reactions_add(channel="C0OPS", timestamp=parent, name="eyes")
    assert await error_of(react) == "thread_locked"
    await slack.chat_postMessage(channel="C0OPS", text="x")


WRONG: list[dict[str, Any]] = [
    {"edit_windows": 1},
    {"edit_window": -1},
    {"edit_window": "long"},
    {"messages_tab": "no"},
    {"restrictions": {"C0OPS": "nothing"}},
    {"locked_threads": "C0OPS/1.1"},
    {"home_tab": False, "user_groups": 1},
]


@pytest.mark.parametrize("body", WRONG)
def test_what_makes_no_sense_changes_nothing(body: dict[str, Any]) -> None:
    policies = Policies()
    with pytest.raises(Refusal):
        policies.change(body)
    assert policies == Policies()
