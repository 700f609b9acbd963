"""What isn't simply said by a person: other apps, Slack's own lines and changes, a reply to all."""

from __future__ import annotations

from typing import Any

from tests.sandbox.hearing import Hearing

OPS = {"channel": "C0OPS"}


def told(app: Hearing) -> list[dict[str, Any]]:
    """The events since they were last asked for, an `app_mention` first."""
    events = [one["event"] for one in app.heard]
    app.heard.clear()
    return sorted(events, key=lambda event: str(event["type"]))


async def test_another_app_mentions_ours_with_and_without_a_user_of_its_own(app: Hearing) -> None:
    for classic, author in (
        (False, {"user": "U0DEPLOY", "bot_id": "B0DEPLOY", "app_id": "A0DEPLOY"}),
        (True, {"bot_id": "B0DEPLOY", "subtype": "bot_message", "username": "Deploybot"}),
    ):
        said = await app.act("bot_message", **OPS, text="@Pilothouse look", classic=classic)
        mention, message = told(app)
        assert (mention["type"], message["type"]) == ("app_mention", "message")
        for event in (mention, message):
            assert author.items() <= event.items()
            assert (event["text"], event["ts"]) == ("<@U0PILOT> look", said["ts"])
            assert ("user" in event) is not classic
    found = await app.driver.slack.users_info(user="U0DEPLOY")
    assert found["user"]["is_bot"]
    reply = await app.act("bot_message", **OPS, text="done", thread_ts=said["ts"])
    (event,) = told(app)
    assert (event["ts"], event["thread_ts"]) == (reply["ts"], said["ts"])


async def test_slack_writes_a_line_of_who_comes_and_goes(app: Hearing) -> None:
    await app.act("join", user="U0DAVE", **OPS)
    joined, line = told(app)
    assert joined["type"] == "member_joined_channel"
    assert (line["subtype"], line["user"]) == ("channel_join", "U0DAVE")
    assert line["text"] == "<@U0DAVE> has joined the channel"
    assert line["team"] == "T0OTHER"
    await app.act("leave", user="U0DAVE", **OPS)
    assert [one.get("subtype") for one in told(app)] == [None, "channel_leave"]
    lines = [one["subtype"] for one in await app.driver.messages("C0OPS")]
    assert lines == ["channel_join", "channel_leave"]


async def test_who_invites_the_app_is_told_to_it_and_its_line_is_no_mention(app: Hearing) -> None:
    app.driver.sandbox.workspace.channels["C0OPS"].members.remove("U0PILOT")
    await app.act("invite", **OPS)
    # Bolt keeps an app's own line from its listeners.
    sent = app.driver.running.deliveries("events_api")
    joined, line = [one["payload"]["event"] for one in sent]
    told(app)
    assert (joined["type"], joined["user"], joined["inviter"]) == (
        "member_joined_channel",
        "U0PILOT",
        "U0BOB",
    )
    assert (line["type"], line["subtype"], line["inviter"]) == ("message", "channel_join", "U0BOB")
    assert (await app.driver.slack.conversations_info(channel="C0OPS"))["channel"]["is_member"]
    await app.act("invite", **OPS, whom="U0CAROL")
    assert told(app)[0]["user"] == "U0CAROL"


async def test_a_reply_is_also_sent_to_the_channel(app: Hearing) -> None:
    parent = (await app.act("message", **OPS, text="run"))["ts"]
    told(app)
    await app.act("message", **OPS, text="@Pilothouse all", thread_ts=parent, broadcast=True)
    mention, message = told(app)
    for event in (mention, message):
        assert (event["subtype"], event["root"]["ts"]) == ("thread_broadcast", parent)
    assert len(await app.driver.messages("C0OPS")) == 2


async def test_what_slack_adds_below_a_link_is_a_change_of_no_words(app: Hearing) -> None:
    text = "@Pilothouse see https://a.example/?a=1&b=2"
    ts = (await app.act("message", **OPS, text=text))["ts"]
    told(app)
    await app.act("unfurl", **OPS, ts=ts)
    (event,) = told(app)
    now, before = event["message"], event["previous_message"]
    assert (event["subtype"], now["text"]) == ("message_changed", before["text"])
    assert now["attachments"][0]["from_url"] == "https://a.example/?a=1&b=2"
    assert not {"edited", "attachments"} & set(before)
    assert "edited" not in now


async def test_each_edit_of_a_mention_is_told_as_a_mention_again(app: Hearing) -> None:
    ts = (await app.act("message", **OPS, text="hello"))["ts"]
    told(app)
    await app.act("edit", **OPS, ts=ts, text="@Pilothouse hello")
    mention, changed = told(app)
    assert (mention["ts"], mention["edited"]["user"]) == (ts, "U0BOB")
    assert mention["event_ts"] == mention["edited"]["ts"]
    assert changed["previous_message"]["text"] == "hello"
    await app.act("edit", **OPS, ts=ts, text="@Pilothouse good day")
    assert [one["type"] for one in told(app)] == ["app_mention", "message"]
    await app.act("edit", **OPS, ts=ts, text="good day")
    assert [one["type"] for one in told(app)] == ["message"]


async def test_the_app_is_told_that_a_channel_is_archived_and_open_again(app: Hearing) -> None:
    membership, place = app.driver.sandbox.membership, app.driver.sandbox.workspace.channel("C0OPS")
    membership.archive(place)
    membership.unarchive(place)
    await app.driver.running.until(lambda: len(app.heard) == 2)
    archived, opened = told(app)
    assert (archived["type"], archived["is_moved"]) == ("group_archive", 0)
    assert opened["type"] == "group_unarchive"
