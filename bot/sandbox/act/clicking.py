"""Clicks and choices: on messages, ephemerals, modals and App Home."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import not_delivered, open_view_ids, outcome, with_new_view
from bot.sandbox.act.refused import NotTaken
from bot.sandbox.act.spot import Spot, find_spot
from bot.sandbox.controls import State, initial_name, value_name
from bot.sandbox.delivery import interactive
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

#: What an element itself brings into `actions[0]`, beside the value.
_OF_A_BUTTON = ("text", "value", "style", "url", "confirm")
_OF_A_CHOICE = ("placeholder", "confirm")
_PRESSED = ("button", "icon_button", "workflow_button")


async def click(sandbox: Sandbox, asked: Asked) -> Json:
    before = open_view_ids(sandbox, asked.user.id)
    spot = find_spot(sandbox, asked)
    action_id = asked.text("action_id")
    control = spot.control(action_id, asked.optional("block_id"))
    try:
        action = _action(sandbox, asked, spot, control)
    except NotTaken as error:
        return not_delivered(errors={action_id: str(error)})
    # What else is filled in goes along; whether all of it is right is asked when it is submitted.
    values, _ = spot.form.filled(asked.values())
    answer = await sandbox.outbox.interact(
        "interactive", _payload(sandbox, asked, spot, action, values)
    )
    return with_new_view(sandbox, asked.user.id, before, outcome(answer))


def _payload(sandbox: Sandbox, asked: Asked, spot: Spot, action: Json, values: State) -> Json:
    user, where = asked.user, spot.where(values)
    if spot.origin is None:
        trigger_id = sandbox.triggers.issue(user.id)
        return interactive.view_click(user, where, action, trigger_id=trigger_id)
    return interactive.message_click(
        user,
        where,
        action,
        trigger_id=sandbox.triggers.issue(user.id),
        response_url=sandbox.base_url + sandbox.response_urls.issue(spot.origin),
        values=values,
    )


def _action(sandbox: Sandbox, asked: Asked, spot: Spot, control: Json) -> Json:
    """The `actions[0]` of the payload. Raises `NotTaken`."""
    element, block_id = control["element"], control["block_id"]
    action: Json = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block_id,
        "action_ts": sandbox.messages.next_ts(),
    }
    if element["type"] in _PRESSED:
        return action | _pressed(element, asked.optional("value"))
    selected = asked.anything("selected")
    if selected is None:
        raise Refusal(f"`selected` is missing: what to choose in this {element['type']}.", 400)
    if element["type"] == "feedback_buttons":
        return action | _rated(element, str(selected))
    if control.get("waits"):
        raise NotTaken("The app is told of this field only when the form is submitted.")
    value = spot.form.value(element, selected)
    if element["type"] != "overflow":
        spot.form.choose(block_id, element, value)
    first = initial_name(element["type"])
    kept = {name: element[name] for name in (*_OF_A_CHOICE, first) if name in element}
    return action | kept | {value_name(element["type"]): value}


def _pressed(button: Json, forged_value: str | None) -> Json:
    kept: Json = {name: button[name] for name in _OF_A_BUTTON if name in button}
    return kept if forged_value is None else kept | {"value": forged_value}


def _rated(element: Json, selected: str) -> Json:
    """The value of one of the two buttons. How Slack names it in the payload is a guess."""
    values = [element[name]["value"] for name in ("positive_button", "negative_button")]
    if selected not in values:
        raise NotTaken(f"Please choose one of: {', '.join(values)}.")
    return {"value": selected}
