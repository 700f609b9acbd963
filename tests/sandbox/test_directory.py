"""People and groups, and what a token must have to look them up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.workspace import Group
from tests.sandbox.driving import Driver, client_of
from tests.sandbox.refusals import error_of


def with_scopes(driver: Driver, *scopes: str) -> AsyncWebClient:
    driver.sandbox.tokens.add("xoxb-few", scopes)
    client = client_of(driver.running)
    client.token = "xoxb-few"
    return client


async def needed(driver: Driver, method: str, *scopes: str, **arguments: str) -> str:
    """Which scope is missed by a token that has these."""
    client = with_scopes(driver, *scopes)
    with pytest.raises(SlackApiError, match="missing_scope") as error:
        await client.api_call(method, params=arguments)
    assert error.value.response["provided"] == ",".join(scopes)
    return str(error.value.response["needed"])


async def test_people_are_found_by_email(driver: Driver) -> None:
    found = await driver.slack.users_lookupByEmail(email="Bob@Example.com")
    assert found["user"]["id"] == "U0BOB"
    for email in ("nobody@example.com", "erin@example.com", "dave@example.com"):
        call = driver.slack.users_lookupByEmail(email=email)
        assert await error_of(call) == "users_not_found"


async def test_an_email_is_shown_to_those_who_may_see_it(driver: Driver) -> None:
    assert "email" in (await driver.slack.users_info(user="U0BOB"))["user"]["profile"]
    few = with_scopes(driver, "users:read")
    assert "email" not in (await few.users_info(user="U0BOB"))["user"]["profile"]
    assert await needed(driver, "users.lookupByEmail", "users:read") == "users:read.email"


async def test_groups_that_are_disabled_are_left_out(driver: Driver) -> None:
    slack = driver.slack
    groups = driver.sandbox.workspace.groups
    groups["S0OLD"] = Group("S0OLD", "old", "Old", ("U0BOB",), disabled=True)
    listed = await slack.usergroups_list()
    assert [group["id"] for group in listed["usergroups"]] == ["S0FINANCE"]
    every = await slack.usergroups_list(include_disabled=True)
    assert [bool(group["date_delete"]) for group in every["usergroups"]] == [False, True]
    members = slack.usergroups_users_list
    assert await error_of(members(usergroup="S0OLD")) == "no_such_subteam"
    assert await error_of(members(usergroup="S0NONE")) == "no_such_subteam"
    assert (await members(usergroup="S0OLD", include_disabled=True))["users"] == ["U0BOB"]
    wrong = members(usergroup="S0FINANCE", cursor="?")
    assert await error_of(wrong) == "invalid_cursor"


async def test_people_are_listed_page_by_page(driver: Driver) -> None:
    first = await driver.slack.users_list(limit=4)
    rest = await driver.slack.users_list(cursor=first["response_metadata"]["next_cursor"])
    ids = [one["id"] for one in [*first["members"], *rest["members"]]]
    assert ids == ["U0ALICE", "U0BOB", "U0FRANK", "U0CAROL", "U0ERIN", "U0PILOT", "U0DEPLOY"]
    assert rest["response_metadata"]["next_cursor"] == ""


async def test_guests_of_one_channel_are_told_apart(driver: Driver) -> None:
    users = driver.sandbox.workspace.users
    users["U0CAROL"] = replace(users["U0CAROL"], is_ultra_restricted=True)
    assert (await driver.slack.users_info(user="U0CAROL"))["user"]["is_ultra_restricted"]


async def test_the_scope_that_is_needed_is_that_of_the_channels_kind(driver: Driver) -> None:
    for channel, family in [("C0SUPPORT", "channels"), ("C0OPS", "groups"), ("D0BOB", "im")]:
        arguments: dict[str, Any] = {"channel": channel}
        assert await needed(driver, "conversations.info", "commands", **arguments) == (
            f"{family}:read"
        )
        history = f"{family}:history"
        assert await needed(driver, "conversations.history", "commands", **arguments) == history
        await with_scopes(driver, history).conversations_history(channel=channel)
    manage = await needed(driver, "conversations.leave", "commands", channel="C0SUPPORT")
    assert manage == "channels:manage"


async def test_opening_and_listing_need_a_scope_for_each_kind(driver: Driver) -> None:
    assert await needed(driver, "conversations.open", "mpim:write", users="U0BOB") == "im:write"
    several: dict[str, Any] = {"users": "U0BOB,U0FRANK"}
    assert await needed(driver, "conversations.open", "im:write", **several) == "mpim:write"
    kinds: dict[str, Any] = {"types": "public_channel,private_channel"}
    assert await needed(driver, "conversations.list", "channels:read", **kinds) == "groups:read"
    both = ("channels:read", "groups:read")
    await with_scopes(driver, *both).conversations_list(**kinds)


async def test_a_name_of_its_own_is_shown_only_with_the_scope_for_it(driver: Driver) -> None:
    author: dict[str, Any] = {"username": "Refunds", "icon_emoji": ":moneybag:"}
    named = await driver.slack.chat_postMessage(channel="C0OPS", text="x", **author)
    assert named["message"]["username"] == "Refunds"
    assert named["message"]["icons"] == {"emoji": ":moneybag:"}
    few = with_scopes(driver, "chat:write")
    plain = await few.chat_postMessage(channel="C0OPS", text="x", **author)
    assert "username" not in plain["message"]
