"""Channels and direct messages: opened, joined, left, read page by page."""

from __future__ import annotations

import base64
from typing import Any

from tests.sandbox.driving import Driver
from tests.sandbox.refusals import error_of


async def test_several_people_are_talked_to_in_one_conversation(driver: Driver) -> None:
    slack = driver.slack
    opened = await slack.conversations_open(users=["U0BOB", "U0FRANK"], return_im=True)
    channel = opened["channel"]
    assert channel["is_mpim"]
    assert channel["name"] == "mpdm-bob--frank--pilothouse-1"
    assert "already_open" not in opened.data
    again = await slack.conversations_open(users="U0FRANK,U0BOB")
    assert again["already_open"]
    assert again["channel"]["id"] == channel["id"]
    resumed = await slack.conversations_open(channel=channel["id"])
    assert resumed["channel"]["id"] == channel["id"]
    await slack.chat_postMessage(channel=channel["id"], text="hello")
    found = await slack.conversations_history(channel=channel["id"])
    assert [one["text"] for one in found["messages"]] == ["hello"]
    members = await slack.conversations_members(channel=channel["id"])
    assert members["members"] == ["U0BOB", "U0FRANK", "U0PILOT"]
    listed = await slack.conversations_list(types="mpim,im")
    assert channel["id"] in [one["id"] for one in listed["channels"]]


async def test_whom_nobody_can_write_to(driver: Driver) -> None:
    open_ = driver.slack.conversations_open
    for users, error in [
        ("", "users_list_not_supplied"),
        ("U0NONE", "user_not_found"),
        ("U0ERIN", "user_disabled"),
        ("U0BOB,U0ERIN", "user_disabled"),
        ("U0PILOT", "cannot_dm_bot"),
        (",".join(f"U{number}" for number in range(9)), "too_many_users"),
    ]:
        assert await error_of(open_(users=users)) == error
    known = driver.slack.chat_postMessage(channel="D0ERIN", text="x")
    assert await error_of(known) == "user_disabled"
    absent = open_(users="U0BOB,U0ALICE", prevent_creation=True)
    assert await error_of(absent) == "channel_not_found"
    in_channel = open_(channel="C0OPS")
    assert await error_of(in_channel) == "method_not_supported_for_channel_type"


async def test_the_app_leaves_and_joins(driver: Driver) -> None:
    slack = driver.slack
    await slack.conversations_leave(channel="C0SUPPORT")
    again = await slack.conversations_leave(channel="C0SUPPORT")
    assert again["not_in_channel"]
    history = slack.conversations_history(channel="C0SUPPORT")
    assert await error_of(history) == "not_in_channel"
    info = (await slack.conversations_info(channel="C0SUPPORT"))["channel"]
    assert not info["is_member"]
    await slack.conversations_join(channel="C0SUPPORT")
    joined = await slack.conversations_join(channel="C0SUPPORT")
    assert joined["warning"] == "already_in_channel"
    for call in (slack.conversations_leave, slack.conversations_join):
        wrong = call(channel="D0BOB")
        assert await error_of(wrong) == "method_not_supported_for_channel_type"
    await slack.conversations_leave(channel="C0OPS")
    gone = slack.conversations_info(channel="C0OPS")
    assert await error_of(gone) == "channel_not_found"


async def test_an_archived_channel_is_only_read(driver: Driver) -> None:
    slack = driver.slack
    ts = (await slack.chat_postMessage(channel="C0SUPPORT", text="x"))["ts"]
    driver.sandbox.membership.archive(driver.sandbox.workspace.channel("C0SUPPORT"))
    place: dict[str, Any] = {"channel": "C0SUPPORT"}
    stream: dict[str, Any] = {
        "recipient_user_id": "U0BOB",
        "recipient_team_id": "T0PILOT",
        "thread_ts": ts,
    }
    for call, error in [
        (slack.chat_postMessage(**place, text="x"), "is_archived"),
        (slack.chat_postEphemeral(**place, user="U0BOB", text="x"), "is_archived"),
        (slack.chat_update(**place, ts=ts, text="y"), "is_inactive"),
        (slack.chat_startStream(**place, **stream), "is_archived"),
        (slack.reactions_add(**place, timestamp=ts, name="eyes"), "is_archived"),
        (slack.conversations_join(**place), "is_archived"),
        (slack.conversations_leave(**place), "is_archived"),
    ]:
        assert await error_of(call) == error
    assert (await slack.conversations_info(**place))["channel"]["is_archived"]
    assert len((await slack.conversations_history(**place))["messages"]) == 1
    listed = await slack.conversations_list(exclude_archived=True)
    assert [one["id"] for one in listed["channels"]] == ["C0SHARED"]


async def texts(call: Any) -> tuple[list[str], str]:
    page = await call
    cursor = page.get("response_metadata", {}).get("next_cursor", "")
    return [one["text"] for one in page["messages"]], cursor


async def test_pages_stay_where_they_are_while_people_go_on_talking(driver: Driver) -> None:
    slack = driver.slack
    for number in range(5):
        await slack.chat_postMessage(channel="C0OPS", text=str(number))
    history = slack.conversations_history
    page, cursor = await texts(history(channel="C0OPS", limit=2))
    assert page == ["4", "3"]
    await slack.chat_postMessage(channel="C0OPS", text="5")
    page, cursor = await texts(history(channel="C0OPS", limit=2, cursor=cursor))
    assert page == ["2", "1"]
    assert await texts(history(channel="C0OPS", limit=2, cursor=cursor)) == (["0"], "")
    for wrong in ("nonsense", "next:nonsense", "next:1e9", "next:nan", "next:1.2.3"):
        given = wrong if wrong == "nonsense" else base64.b64encode(wrong.encode()).decode()
        for call in (history(channel="C0OPS", cursor=given), slack.users_list(cursor=given)):
            assert await error_of(call) == "invalid_cursor"


async def test_bounds_belong_to_what_is_read_only_if_inclusive(driver: Driver) -> None:
    slack = driver.slack
    ts = [(await slack.chat_postMessage(channel="C0OPS", text=str(n)))["ts"] for n in range(3)]
    history = slack.conversations_history
    bounds: dict[str, Any] = {"channel": "C0OPS", "oldest": ts[0], "latest": ts[2]}
    assert await texts(history(**bounds)) == (["1"], "")
    assert await texts(history(**bounds, inclusive=True)) == (["2", "1", "0"], "")
    wrong = history(channel="C0OPS", latest="yesterday")
    assert await error_of(wrong) == "invalid_ts_latest"
    thread: dict[str, Any] = {"channel": "C0OPS", "ts": ts[0]}
    first = await slack.chat_postMessage(channel="C0OPS", thread_ts=ts[0], text="a")
    await slack.chat_postMessage(channel="C0OPS", thread_ts=ts[0], text="b")
    replies = slack.conversations_replies
    assert await texts(replies(**thread, oldest=first["ts"])) == (["0", "b"], "")
    assert await texts(replies(channel="C0OPS", ts=first["ts"])) == (["a"], "")
    page, cursor = await texts(replies(**thread, limit=2))
    assert page == ["0", "a"]
    assert await texts(replies(**thread, limit=2, cursor=cursor)) == (["b"], "")


async def test_a_reply_is_broadcast_at_once_or_later(driver: Driver) -> None:
    slack = driver.slack
    parent = (await slack.chat_postMessage(channel="C0OPS", text="run"))["ts"]
    place: dict[str, Any] = {"channel": "C0OPS", "thread_ts": parent}
    loud = await slack.chat_postMessage(**place, text="done", reply_broadcast=True)
    assert loud["message"]["subtype"] == "thread_broadcast"
    assert loud["message"]["root"]["ts"] == parent
    quiet = (await slack.chat_postMessage(**place, text="more"))["ts"]
    update = slack.chat_update
    both = update(channel="C0OPS", ts=quiet, text="x", reply_broadcast=True)
    assert await error_of(both) == "no_dual_broadcast_content_update"
    alone: dict[str, Any] = {"channel": "C0OPS", "reply_broadcast": True}
    no_reply = slack.api_call("chat.update", json=alone | {"ts": parent})
    assert await error_of(no_reply) == "cant_broadcast_message"
    await slack.api_call("chat.update", json=alone | {"ts": quiet})
    assert [one["text"] for one in await driver.messages("C0OPS")] == ["run", "done", "more"]
    thread = await driver.messages("C0OPS", parent)
    assert [one["text"] for one in thread] == ["run", "done", "more"]
