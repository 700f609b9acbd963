"""A Bolt app in the style of Slack's public samples, which knows of no sandbox and nothing of ours.

It keeps tasks: one of every kind of listener that Bolt has.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import (
    AsyncAck,
    AsyncApp,
    AsyncRespond,
    AsyncSay,
    AsyncSayStream,
    AsyncSetStatus,
)
from slack_sdk.web.async_client import AsyncWebClient

Json = dict[str, Any]
PROJECTS = ("apollo", "gemini", "mercury")


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def button(action_id: str, text: str, value: str = "-") -> Json:
    return {"type": "button", "action_id": action_id, "text": plain(text), "value": value}


def field(block_id: str, kind: str, **element: Any) -> Json:
    given = {"type": kind, "action_id": "input", **element}
    return {"type": "input", "block_id": block_id, "label": plain(block_id), "element": given}


def task_modal(title: str = "") -> Json:
    tag = {"text": plain("Urgent"), "value": "urgent"}
    return {
        "type": "modal",
        "callback_id": "task",
        "notify_on_close": True,
        "title": plain("New task"),
        "submit": plain("Create"),
        "blocks": [
            field("title", "plain_text_input", initial_value=title, min_length=1),
            field("project", "external_select", min_query_length=1),
            field("assignee", "users_select"),
            field("due", "datepicker") | {"optional": True},
            field("tags", "checkboxes", options=[tag]) | {"optional": True},
            field("announce", "conversations_select", response_url_enabled=True)
            | {"optional": True},
            {"type": "actions", "elements": [button("help", "Help")]},
        ],
    }


def page(text: str) -> Json:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return {"type": "modal", "title": plain("Tasks"), "blocks": [section]}


def register(app: AsyncApp) -> None:
    for listen in (_commands, _shortcuts, _views, _actions, _messages, _events, _agent):
        listen(app)


def _commands(app: AsyncApp) -> None:
    @app.command("/task")
    async def task(ack: AsyncAck, command: Json, client: AsyncWebClient) -> None:
        if command["text"] == "help":
            await ack("Say `/task WHAT`.")
            return
        await ack()
        await client.views_open(trigger_id=command["trigger_id"], view=task_modal(command["text"]))

    @app.command("/standup")
    async def standup(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond("Only you see this.")
        await respond("Everybody does.", response_type="in_channel")


def _shortcuts(app: AsyncApp) -> None:
    @app.shortcut("new_task")
    async def new_task(ack: AsyncAck, shortcut: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view=task_modal())

    @app.shortcut({"type": "message_action", "callback_id": "task_of_message"})
    async def of_message(ack: AsyncAck, shortcut: Json, respond: AsyncRespond) -> None:
        await ack()
        await respond(f"Noted: {shortcut['message']['text']}")


def _views(app: AsyncApp) -> None:
    @app.options("input")
    async def projects(ack: AsyncAck, payload: Json) -> None:
        found = [name for name in PROJECTS if name.startswith(payload["value"])]
        await ack(options=[{"text": plain(name), "value": name} for name in found])

    @app.view("task")
    async def submitted(ack: AsyncAck, view: Json, body: Json, client: AsyncWebClient) -> None:
        values = {
            name: one["input"] for name, one in view["state"]["values"].items() if "input" in one
        }
        title = values["title"]["value"]
        if title == "sleep":
            await ack(response_action="errors", errors={"title": "Not at work."})
        elif title == "loop":
            await ack(response_action="push", view=page("A task about tasks?"))
        elif title == "later":
            await ack(response_action="update", view=page("Let us talk tomorrow."))
        else:
            await ack()
            assignee = values["assignee"]["selected_user"]
            opened = await client.conversations_open(users=assignee)
            await client.chat_postMessage(
                channel=opened["channel"]["id"], text=f"<@{body['user']['id']}>: {title}"
            )

    @app.view_closed("task")
    async def closed(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.chat_postMessage(channel=body["user"]["id"], text="Another time, then.")


def _actions(app: AsyncApp) -> None:
    @app.action("help")
    async def help(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_push(trigger_id=body["trigger_id"], view=page("A title will do."))

    @app.action("create")
    async def create(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=task_modal())

    @app.action("priority")
    async def priority(ack: AsyncAck) -> None:
        await ack()

    @app.action("done")
    async def done(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
        await ack()
        chosen = body["state"]["values"]["task"]["priority"]["selected_option"]
        await respond(f"Done ({chosen['value']}).", replace_original=True)

    @app.action("whisper")
    async def whisper(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        elements = [button("dismiss", "Dismiss")]
        await respond("Psst.", blocks=[{"type": "actions", "elements": elements}])

    @app.action("dismiss")
    async def dismiss(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond(delete_original=True)


def _messages(app: AsyncApp) -> None:
    @app.message(re.compile("^todo "))
    async def todo(message: Json, say: AsyncSay) -> None:
        options = [{"text": plain(name), "value": name} for name in ("high", "low")]
        priority = {"type": "static_select", "action_id": "priority", "options": options}
        elements = [priority, button("done", "Done"), button("whisper", "Why?")]
        text = message["text"].removeprefix("todo ")
        await say(
            text=text,
            blocks=[
                {"type": "section", "text": {"type": "mrkdwn", "text": text}},
                {"type": "actions", "block_id": "task", "elements": elements},
            ],
            thread_ts=message["ts"],
        )

    @app.event({"type": "message", "subtype": "message_changed"})
    async def changed(event: Json, client: AsyncWebClient) -> None:
        before, after = event["previous_message"]["text"], event["message"]["text"]
        await client.chat_postMessage(channel=event["channel"], text=f"{before} → {after}")

    @app.event({"type": "message", "subtype": "message_deleted"})
    async def deleted(event: Json, client: AsyncWebClient) -> None:
        await client.chat_postMessage(channel=event["channel"], text="It is gone.")


def _events(app: AsyncApp) -> None:
    @app.event("app_home_opened")
    async def home(event: Json, client: AsyncWebClient) -> None:
        if event["tab"] == "home":
            blocks = [{"type": "actions", "elements": [button("create", "New task")]}]
            view = {"type": "home", "blocks": blocks}
            await client.views_publish(user_id=event["user"], view=view)

    @app.event("app_mention")
    async def mention(event: Json, client: AsyncWebClient) -> None:
        place = {"channel": event["channel"], "timestamp": event["ts"]}
        await client.reactions_add(name="eyes", **place)

    @app.event("reaction_added")
    async def reacted(event: Json, say: AsyncSay) -> None:
        await say(f"Thanks for :{event['reaction']}:", thread_ts=event["item"]["ts"])

    @app.event("member_joined_channel")
    async def joined(event: Json, say: AsyncSay) -> None:
        await say(f"Welcome, <@{event['user']}>!")


def _agent(app: AsyncApp) -> None:
    @app.event("message")
    async def answer(event: Json, set_status: AsyncSetStatus, say_stream: AsyncSayStream) -> None:
        if event.get("channel_type") != "im" or event.get("subtype"):
            return
        await set_status("is thinking …")
        stream = await say_stream(buffer_size=1)
        for word in ("You ", "said: ", event["text"]):
            await stream.append(markdown_text=word)
        if event["text"] != "for ever":
            await stream.stop()

    @app.event("agent_session_stopped")
    async def stopped(event: Json, client: AsyncWebClient) -> None:
        place = {"channel": event["channel"], "thread_ts": event["thread_ts"]}
        await client.chat_postMessage(text="I stopped.", **place)
