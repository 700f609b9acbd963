"""A Bolt app that knows of no sandbox, over both transports: each kind of round trip."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from bot.sandbox.opened import OpenSandbox
from tests.sandbox import sample_app
from tests.sandbox.driving import client_of
from tests.sandbox.serving import TRANSPORTS, served

#: As its manifest would say.
EVENTS = {
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "member_joined_channel",
    "message.channels",
    "message.im",
    "reaction_added",
}


def make_app(running: OpenSandbox) -> AsyncApp:
    app = AsyncApp(client=client_of(running), signing_secret="sandbox-secret")
    sample_app.register(app)
    return app


@pytest.fixture(params=TRANSPORTS)
async def slack(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OpenSandbox]:
    # The SDK would send even loopback addresses through these.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with served(request.param, make_app, events=EVENTS) as running:
        yield running.driver.running
        running.driver.running.assert_no_violations()


async def says(slack: OpenSandbox, channel: str, text: str, thread_ts: str | None = None) -> Any:
    """The message that has this text, once it is there."""
    return await slack.until(
        lambda: next(
            (one for one in slack.messages(channel, thread_ts) if text in one["text"]), None
        ),
        f"{text!r} in {channel}",
    )


async def reply(slack: OpenSandbox, thread_ts: str) -> str:
    """The ts of the first reply to a message in C0SUPPORT, once there is one."""
    replies = await slack.until(lambda: slack.messages("C0SUPPORT", thread_ts)[1:], "a reply")
    return str(replies[0]["ts"])


async def whispers(slack: OpenSandbox, user: str, text: str) -> Any:
    return await slack.until(
        lambda: next((one for one in slack.ephemerals(user) if text in one["text"]), None),
        f"{text!r} for {user}",
    )


async def modal(slack: OpenSandbox, user: str, title: str) -> Any:
    """The topmost modal, once it has this title."""
    return await slack.until(
        lambda: next(
            (one for one in slack.views(user)[-1:] if one["title"]["text"] == title), None
        ),
        f"the modal {title!r}",
    )


async def new_task(slack: OpenSandbox, title: str) -> dict[str, Any]:
    await slack.act("U0BOB", "command", channel="C0SUPPORT", command="/task", text=title)
    opened = await modal(slack, "U0BOB", "New task")
    place = {"view_id": opened["id"], "action_id": "input", "block_id": "project"}
    suggested = await slack.act("U0BOB", "options", **place, value="ge")
    assert [one["value"] for one in suggested["options"]] == ["gemini"]
    return {"view_id": opened["id"], "values": {"project": "gemini", "assignee": "U0ALICE"}}


async def test_a_task_is_made_in_a_modal(slack: OpenSandbox) -> None:
    form = await new_task(slack, "Water the plants")
    form["values"] |= {"tags": ["urgent"], "due": "2027-01-01", "announce": "C0SUPPORT"}
    assert (await slack.act("U0BOB", "submit", **form))["acknowledged"]
    await says(slack, "D0ALICE", "<@U0BOB>: Water the plants")
    assert slack.views("U0BOB") == []
    payload = slack.deliveries("interactive")[-1]["payload"]
    (response_url,) = payload["response_urls"]
    assert (response_url["channel_id"], response_url["block_id"]) == ("C0SUPPORT", "announce")
    values = payload["view"]["state"]["values"]
    assert values["project"]["input"]["selected_option"]["value"] == "gemini"
    assert values["tags"]["input"]["selected_options"][0]["value"] == "urgent"


async def test_what_the_client_does_not_take_reaches_no_app(slack: OpenSandbox) -> None:
    form = await new_task(slack, "x")
    form["values"] |= {"project": "apollo", "assignee": "U0ERIN", "due": "tomorrow"}
    before = len(slack.deliveries())
    kept = await slack.act("U0BOB", "submit", **form)
    assert set(kept["errors"]) == {"project", "assignee", "due"}
    assert not kept["acknowledged"]
    assert len(slack.deliveries()) == before


async def test_a_submission_is_answered_with_errors_a_push_or_an_update(
    slack: OpenSandbox,
) -> None:
    form = await new_task(slack, "sleep")
    answer = await slack.act("U0BOB", "submit", **form)
    assert answer["errors"] == {"title": "Not at work."}
    form["values"]["title"] = "loop"
    pushed = await slack.act("U0BOB", "submit", **form)
    assert len(slack.views("U0BOB")) == 2
    await slack.act("U0BOB", "close", view_id=pushed["view_id"])
    form["values"]["title"] = "later"
    updated = await slack.act("U0BOB", "submit", **form)
    assert updated["view_id"] == form["view_id"]
    await modal(slack, "U0BOB", "Tasks")
    assert len(slack.views("U0BOB")) == 1


async def test_a_button_in_a_modal_pushes_another(slack: OpenSandbox) -> None:
    form = await new_task(slack, "x")
    await slack.act("U0BOB", "click", view_id=form["view_id"], action_id="help")
    await modal(slack, "U0BOB", "Tasks")
    below, top = slack.views("U0BOB")
    assert top["previous_view_id"] == top["root_view_id"] == below["id"]


async def test_a_closed_modal_is_told(slack: OpenSandbox) -> None:
    form = await new_task(slack, "x")
    assert (await slack.act("U0BOB", "close", view_id=form["view_id"]))["acknowledged"]
    await says(slack, "D0BOB", "Another time, then.")


async def test_a_command_answers_in_its_acknowledgement_and_later(slack: OpenSandbox) -> None:
    place = {"channel": "C0SUPPORT"}
    helped = await slack.act("U0BOB", "command", **place, command="/task", text="help")
    assert helped["response"] == {"text": "Say `/task WHAT`."}
    await slack.act("U0BOB", "command", **place, command="/standup")
    await whispers(slack, "U0BOB", "Only you see this.")
    await says(slack, "C0SUPPORT", "Everybody does.")


async def test_shortcuts_open_a_modal_and_answer_at_a_message(slack: OpenSandbox) -> None:
    assert (await slack.act("U0BOB", "shortcut", callback_id="new_task"))["acknowledged"]
    await modal(slack, "U0BOB", "New task")
    said = await slack.act("U0ALICE", "message", channel="C0SUPPORT", text="The tap drips")
    place = {"channel": "C0SUPPORT", "ts": said["ts"]}
    await slack.act("U0BOB", "shortcut", callback_id="task_of_message", **place)
    await whispers(slack, "U0BOB", "Noted: The tap drips")


async def test_a_choice_is_kept_until_the_button_and_the_message_is_replaced(
    slack: OpenSandbox,
) -> None:
    said = await slack.act("U0ALICE", "message", channel="C0SUPPORT", text="todo sweep")
    place = {"channel": "C0SUPPORT", "ts": await reply(slack, said["ts"])}
    refused = await slack.act("U0BOB", "click", **place, action_id="priority", selected="huge")
    assert set(refused["errors"]) == {"priority"}
    await slack.act("U0BOB", "click", **place, action_id="priority", selected="high")
    await slack.act("U0BOB", "click", **place, action_id="done")
    await says(slack, "C0SUPPORT", "Done (high).", said["ts"])


async def test_an_ephemeral_is_dismissed_by_its_button(slack: OpenSandbox) -> None:
    said = await slack.act("U0ALICE", "message", channel="C0SUPPORT", text="todo sweep")
    ts = await reply(slack, said["ts"])
    await slack.act("U0BOB", "click", channel="C0SUPPORT", ts=ts, action_id="whisper")
    shown = await whispers(slack, "U0BOB", "Psst.")
    assert slack.ephemerals("U0ALICE") == []
    await slack.act("U0BOB", "click", channel="C0SUPPORT", ts=shown["ts"], action_id="dismiss")
    await slack.until(lambda: slack.ephemerals("U0BOB") == [])
    payload = slack.deliveries("interactive")[-1]["payload"]
    assert payload["container"]["is_ephemeral"]
    assert "message" not in payload


async def test_app_home_is_published_when_it_is_opened(slack: OpenSandbox) -> None:
    assert (await slack.act("U0BOB", "home"))["acknowledged"]
    home = await slack.until(lambda: slack.home("U0BOB"))
    await slack.act("U0BOB", "click", view_id=home["id"], action_id="create")
    await modal(slack, "U0BOB", "New task")
    assert (await slack.act("U0CAROL", "home", tab="messages"))["acknowledged"]
    assert slack.home("U0CAROL") is None


async def test_events_of_mentions_reactions_and_joining(slack: OpenSandbox) -> None:
    place = {"channel": "C0SUPPORT"}
    said = await slack.act("U0ALICE", "message", **place, text="@Pilothouse hello")
    await slack.until(lambda: slack.messages("C0SUPPORT")[0].get("reactions"))
    await slack.act("U0BOB", "react", **place, ts=said["ts"], name="tada")
    await says(slack, "C0SUPPORT", "Thanks for :tada:", said["ts"])
    assert (await slack.act("U0BOB", "unreact", **place, ts=said["ts"], name="tada"))["ok"]
    await slack.act("U0DAVE", "join", **place)
    await says(slack, "C0SUPPORT", "Welcome, <@U0DAVE>!")
    await slack.act("U0DAVE", "leave", **place)
    told = [one["payload"]["event"]["type"] for one in slack.deliveries("events_api")]
    assert "member_left_channel" not in told, "not subscribed"


async def test_events_of_edits_and_deletions(slack: OpenSandbox) -> None:
    place = {"channel": "C0SUPPORT"}
    said = await slack.act("U0ALICE", "message", **place, text="todo sweep")
    await slack.act("U0ALICE", "edit", **place, ts=said["ts"], text="todo mop")
    await says(slack, "C0SUPPORT", "todo sweep → todo mop")
    other = await slack.act("U0ALICE", "message", **place, text="todo nothing")
    await slack.act("U0ALICE", "delete", **place, ts=other["ts"])
    await says(slack, "C0SUPPORT", "It is gone.")


async def test_an_agent_streams_its_answer_and_can_be_stopped(slack: OpenSandbox) -> None:
    said = await slack.act("U0BOB", "message", channel="D0BOB", text="hello")
    await says(slack, "D0BOB", "You said: hello", said["ts"])
    for_ever = await slack.act("U0BOB", "message", channel="D0BOB", text="for ever")
    streamed = await says(slack, "D0BOB", "You said: for ever", for_ever["ts"])
    stop = {"channel": "D0BOB", "thread_ts": for_ever["ts"]}
    assert (await slack.act("U0BOB", "stop_session", **stop))["acknowledged"]
    told = [one["payload"]["event"] for one in slack.deliveries("events_api")]
    (event,) = [one for one in told if one["type"] == "agent_session_stopped"]
    assert event["streaming_message_ts"] == [streamed["ts"]]
    await says(slack, "D0BOB", "I stopped.", for_ever["ts"])
