"""Clicks: on messages, ephemerals, modals and App Home."""

from __future__ import annotations

from typing import Any

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.inputs import NotTaken, as_value, fill
from bot.sandbox.act.outcome import not_delivered, open_view_ids, outcome, with_new_view
from bot.sandbox.controls import controls_of, value_name
from bot.sandbox.delivery import interactive
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal


async def click(sandbox: Sandbox, asked: Asked) -> Json:
    before = open_view_ids(sandbox, asked.user.id)
    try:
        if asked.optional("view_id"):
            payload = _in_view(sandbox, asked)
        else:
            payload = _on_message(sandbox, asked)
    except NotTaken as error:
        return not_delivered(errors={asked.text("action_id"): str(error)})
    answer = await sandbox.outbox.interact("interactive", payload)
    return with_new_view(sandbox, asked.user.id, before, outcome(answer))


def _on_message(sandbox: Sandbox, asked: Asked) -> Json:
    channel, ts, user = asked.channel(), asked.text("ts"), asked.user
    message = _visible_message(sandbox, channel.id, ts, user.id)
    # One that was there before is clicked by someone with an old picture.
    known = sandbox.messages.controls(channel.id, ts)
    action = _action(sandbox, asked, known, f"message {ts}")
    is_ephemeral = bool(message.get("is_ephemeral"))
    origin = Origin(user.id, channel.id, ts, is_ephemeral, message.get("thread_ts"))
    blocks = message.get("blocks", []) if message.get("bot_id") else []
    values, _ = fill(blocks, asked.values())
    return interactive.message_click(
        user,
        channel,
        {name: value for name, value in message.items() if name != "metadata"},
        action,
        trigger_id=sandbox.triggers.issue(user.id),
        response_url=sandbox.base_url + sandbox.response_urls.issue(origin),
        values=values,
    )


def _in_view(sandbox: Sandbox, asked: Asked) -> Json:
    user, view_id = asked.user, asked.text("view_id")
    home = sandbox.views.homes.get(user.id)
    opened = sandbox.views.find(view_id)
    if home is not None and home["id"] == view_id:
        view = home
    elif opened is not None and opened.user == user.id:
        view = opened.view
    else:
        raise Refusal(f"{user.name} has no view {view_id} open.")
    action = _action(sandbox, asked, controls_of(view["blocks"]), f"view {view_id}")
    values, _ = fill(view["blocks"], asked.values())
    trigger_id = sandbox.triggers.issue(user.id, view_id)
    shown = {**view, "state": {"values": values}}
    return interactive.view_click(user, shown, action, trigger_id=trigger_id)


def _visible_message(sandbox: Sandbox, channel: str, ts: str, user: str) -> Json:
    ephemeral = sandbox.messages.ephemeral(channel, ts)
    if ephemeral is not None and ephemeral["user_seeing"] == user:
        return {name: value for name, value in ephemeral.items() if name != "user_seeing"}
    if not sandbox.messages.exists(channel, ts):
        raise Refusal(f"No message {ts} in {channel}.")
    return sandbox.messages.read(channel, ts)


def _action(sandbox: Sandbox, asked: Asked, known: dict[str, Json], place: str) -> Json:
    """The `actions[0]` of the payload."""
    action_id = asked.text("action_id")
    control = known.get(action_id)
    if control is None:
        there = ", ".join(sorted(known)) or "none"
        raise Refusal(f"No {action_id} on {place}. There are: {there}.")
    element = control["element"]
    action: Json = {
        "type": element["type"],
        "action_id": action_id,
        "block_id": control["block_id"],
        "action_ts": sandbox.messages.next_ts(),
    }
    if element["type"] == "button":
        return action | _pressed(element, asked.optional("value"))
    return action | {value_name(element["type"]): _selected(element, asked.anything("selected"))}


def _pressed(button: Json, forged_value: str | None) -> Json:
    kept: Json = {name: button[name] for name in ("text", "value", "style") if name in button}
    return kept if forged_value is None else kept | {"value": forged_value}


def _selected(element: Json, selected: Any) -> Any:
    if selected is None:
        raise Refusal(f"`selected` is missing: what to choose in this {element['type']}.", 400)
    return as_value(element, selected)
