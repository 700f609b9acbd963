"""The Web API's answers and errors, through Slack's own SDK."""

from __future__ import annotations

from typing import Any

from slack_sdk.models.metadata import Metadata

from bot.sandbox.interactions.response_urls import Origin
from tests.sandbox.driving import MOMENT, Driver, buttons, driving, modal
from tests.sandbox.refusals import error_of


async def test_tokens_and_unknown_methods(driver: Driver) -> None:
    slack = driver.slack
    assert (await slack.auth_test())["user_id"] == "U0PILOT"
    assert await error_of(slack.api_call("chat.frobnicate")) == "unknown_method"
    slack.token = "xoxb-wrong"
    assert await error_of(slack.auth_test()) == "invalid_auth"


async def test_thread_with_metadata_is_read_back(driver: Driver) -> None:
    slack = driver.slack
    parent = await slack.chat_postMessage(channel="#ops", text="run")
    metadata = Metadata("pilothouse_message", {"run_id": "run_1", "key": "status"})
    reply = await slack.chat_postMessage(
        channel="C0OPS", text="status", thread_ts=parent["ts"], metadata=metadata
    )
    assert "metadata" not in reply["message"]
    plain = await slack.conversations_replies(channel="C0OPS", ts=parent["ts"])
    assert [one["text"] for one in plain["messages"]] == ["run", "status"]
    assert plain["messages"][0]["reply_count"] == 1
    assert "metadata" not in plain["messages"][1]
    full = await slack.conversations_replies(
        channel="C0OPS", ts=parent["ts"], include_all_metadata=True, oldest=parent["ts"]
    )
    assert full["messages"][1]["metadata"]["event_payload"]["key"] == "status"
    history = await slack.conversations_history(channel="C0OPS")
    assert [one["text"] for one in history["messages"]] == ["run"]
    first = await slack.conversations_replies(channel="C0OPS", ts=parent["ts"], limit=1)
    assert first["has_more"]
    cursor = first["response_metadata"]["next_cursor"]
    rest = await slack.conversations_replies(channel="C0OPS", ts=parent["ts"], cursor=cursor)
    assert [one["text"] for one in rest["messages"]] == ["status"]


async def test_reply_to_a_reply_goes_under_the_parent_and_is_noted(driver: Driver) -> None:
    parent = await driver.slack.chat_postMessage(channel="C0OPS", text="1")
    reply = await driver.slack.chat_postMessage(channel="C0OPS", text="2", thread_ts=parent["ts"])
    odd = await driver.slack.chat_postMessage(channel="C0OPS", text="3", thread_ts=reply["ts"])
    assert odd["message"]["thread_ts"] == parent["ts"]
    assert [one["kind"] for one in await driver.get("/sandbox/violations")] == [
        "reply_used_as_thread"
    ]


async def test_only_own_messages_are_changed(driver: Driver) -> None:
    slack = driver.slack
    ts = driver.said("U0BOB", "C0OPS")
    assert await error_of(slack.chat_update(channel="C0OPS", ts=ts, text="x")) == (
        "cant_update_message"
    )
    assert await error_of(slack.chat_delete(channel="C0OPS", ts=ts)) == "cant_delete_message"
    assert await error_of(slack.chat_update(channel="C0OPS", ts="1.1", text="x")) == (
        "message_not_found"
    )
    assert await error_of(slack.chat_update(channel="U0BOB", ts=ts, text="x")) == (
        "channel_not_found"
    )


async def test_update_without_blocks_takes_them_away(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="1", blocks=buttons("a"))
    with_blocks = await driver.slack.chat_update(
        channel="C0OPS", ts=posted["ts"], text="2", blocks=buttons("b")
    )
    assert "edited" not in with_blocks["message"]
    without = await driver.slack.chat_update(channel="C0OPS", ts=posted["ts"], text="3")
    assert "blocks" not in without["message"]
    assert "edited" in without["message"]


async def test_an_update_retains_what_it_says_nothing_of(driver: Driver) -> None:
    update, attachments = driver.slack.chat_update, [{"text": "a"}]
    posted = await driver.slack.chat_postMessage(
        channel="C0OPS", text="1", blocks=buttons("a"), attachments=attachments
    )
    place: dict[str, Any] = {"channel": "C0OPS", "ts": posted["ts"]}
    message = (await update(**place, text="2"))["message"]
    assert ("blocks" in message, message["attachments"][0]["text"]) == (False, "a")
    await update(**place, text="3", blocks=buttons("b"))
    alone = {**place, "attachments": [{"text": "b"}]}
    message = (await driver.slack.api_call("chat.update", json=alone))["message"]
    assert (message["text"], message["attachments"][0]["text"]) == ("3", "b")
    assert message["blocks"][0]["elements"][0]["action_id"] == "b"
    message = (await update(**place, text="4", blocks=[], attachments=[]))["message"]
    assert ("blocks" in message, "attachments" in message) == (False, False)


async def test_deleted_parent_leaves_a_tombstone(driver: Driver) -> None:
    slack = driver.slack
    parent = await slack.chat_postMessage(channel="C0OPS", text="1")
    await slack.chat_postMessage(channel="C0OPS", text="2", thread_ts=parent["ts"])
    await slack.chat_delete(channel="C0OPS", ts=parent["ts"])
    (tomb,) = await driver.messages("C0OPS")
    assert (tomb["subtype"], tomb["reply_count"]) == ("tombstone", 1)


async def test_places_that_are_not_there(driver: Driver) -> None:
    slack = driver.slack
    post = slack.chat_postMessage
    assert await error_of(post(channel="C0NONE", text="x")) == "channel_not_found"
    assert await error_of(post(channel="C0OPS", text="x", thread_ts="1.1")) == "thread_not_found"
    driver.sandbox.workspace.channels["C0SUPPORT"].members.remove("U0PILOT")
    driver.sandbox.workspace.channels["C0OPS"].members.remove("U0PILOT")
    await post(channel="C0SUPPORT", text="chat:write.public suffices in a public channel")
    driver.sandbox.tokens.add("xoxb-sandbox", ["chat:write", "channels:join", "users:read"])
    assert await error_of(post(channel="C0SUPPORT", text="x")) == "not_in_channel"
    assert await error_of(post(channel="C0OPS", text="x")) == "channel_not_found"
    await slack.conversations_join(channel="C0SUPPORT")
    await post(channel="C0SUPPORT", text="x")
    assert await error_of(slack.users_info(user="U0NONE")) == "user_not_found"
    private = slack.chat_postEphemeral(channel="C0SUPPORT", user="U0DAVE", text="x")
    assert await error_of(private) == "user_not_in_channel"


async def test_who_is_who(driver: Driver) -> None:
    slack = driver.slack
    people = {one["id"]: one for one in (await slack.users_list())["members"]}
    assert people["U0CAROL"]["is_restricted"]
    assert "U0DAVE" not in people, "those of another workspace aren't in the list"
    assert (await slack.users_info(user="U0DAVE"))["user"]["team_id"] == "T0OTHER"
    assert people["U0ERIN"]["deleted"]
    assert people["U0PILOT"]["is_bot"]
    assert (await slack.users_info(user="U0BOB"))["user"]["profile"]["display_name"] == "Bob"
    members = await slack.usergroups_users_list(usergroup="S0FINANCE")
    assert members["users"] == ["U0BOB", "U0FRANK"]
    (group,) = (await slack.usergroups_list(include_users=True))["usergroups"]
    assert (group["handle"], group["users"]) == ("finance", members["users"])
    opened = await slack.conversations_open(users="U0BOB")
    assert opened["channel"]["id"] == "D0BOB"
    assert (await slack.conversations_info(channel="C0SHARED"))["channel"]["is_ext_shared"]
    assert "U0DAVE" in (await slack.conversations_members(channel="C0SHARED"))["members"]
    assert (await slack.team_info())["team"]["id"] == "T0PILOT"
    assert (await slack.bots_info(bot="B0PILOT"))["bot"]["app_id"] == "A0PILOT"
    names = await slack.conversations_list(types="public_channel,private_channel")
    assert [one["name"] for one in names["channels"]] == ["support", "ops", "shared"]


async def test_a_permalink_leads_to_the_page(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="x")
    link = await driver.slack.chat_getPermalink(channel="C0OPS", message_ts=posted["ts"])
    async with driver.http.get(link["permalink"]) as response:
        assert response.status == 200


async def test_trigger_is_used_once_and_within_three_seconds() -> None:
    async with driving(clock=MOMENT) as driver:
        issue, open_view = driver.sandbox.triggers.issue, driver.slack.views_open
        early, late = issue("U0BOB"), issue("U0BOB")
        driver.sandbox.clock.forward(3.0)
        await open_view(trigger_id=early, view=modal())
        assert await error_of(open_view(trigger_id=early, view=modal())) == ("exchanged_trigger_id")
        driver.sandbox.clock.forward(0.1)
        assert await error_of(open_view(trigger_id=late, view=modal())) == "expired_trigger_id"
        assert await error_of(open_view(trigger_id="1.2.3", view=modal())) == ("invalid_trigger_id")


async def test_response_url_works_five_times_within_half_an_hour() -> None:
    async with driving(clock=MOMENT) as driver:
        slack = driver.slack
        posted = await slack.chat_postMessage(channel="C0OPS", text="?", blocks=buttons("a"))
        urls = driver.sandbox.response_urls
        path = urls.issue(Origin("U0BOB", "C0OPS", posted["ts"]))

        async def respond(**body: Any) -> int:
            async with driver.http.post(driver.running.url + path, json=body) as response:
                return response.status

        assert await respond(text="private") == 200
        assert await respond(text="seen by all", response_type="in_channel") == 200
        assert await respond(text="done", replace_original=True) == 200
        assert await respond(blocks=[{"type": "nonsense"}]) == 404
        texts = [one["text"] for one in await driver.messages("C0OPS")]
        assert texts == ["done", "seen by all"]
        (private,) = await driver.get("/sandbox/ephemerals?as=U0BOB")
        assert private["text"] == "private"
        assert await respond(delete_original=True) == 200
        assert [one["text"] for one in await driver.messages("C0OPS")] == ["seen by all"]
        assert await respond(text="sixth") == 404

        path = urls.issue(Origin("U0BOB", "C0OPS", private["ts"], is_ephemeral=True))
        assert await respond(text="changed", replace_original=True) == 200
        (private,) = await driver.get("/sandbox/ephemerals?as=U0BOB")
        assert private["text"] == "changed"
        driver.sandbox.clock.forward(31 * 60)
        assert await respond(text="late") == 404
