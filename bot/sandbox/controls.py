"""What in a message or view can be clicked or filled in, found by id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from bot.sandbox.ids import Ids
from bot.sandbox.wire import Json, Refusal, copied

#: `state.values`: by block id and action id, the type and value of each control.
State: TypeAlias = dict[str, dict[str, Json]]

#: Under which name a state holds the value of an element, and which field fills it at first.
_BY_TYPE = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "rich_text_input": ("rich_text_value", "initial_value"),
    "file_input": ("files", ""),
    "static_select": ("selected_option", "initial_option"),
    "external_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "multi_external_select": ("selected_options", "initial_options"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "channels_select": ("selected_channel", "initial_channel"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
}


def with_ids(blocks: list[Json], ids: Ids) -> list[Json]:
    """A copy in which each block and each element has an id, as Slack fills them in."""
    filled = copied(blocks)
    for block in filled:
        _name(block, ids)
    return filled


def controls_of(blocks: list[Json]) -> dict[str, Json]:
    """By action id: `{"block_id", "element", "waits"}` of everything interactive.

    `waits`: it stands in an input block that tells the app only when the form is submitted. Inputs
    often share an action id and differ by their block: of those one is found.
    """
    return {one["element"]["action_id"]: one for one in _every_control(blocks)}


def control_in(blocks: list[Json], action_id: str, block_id: str | None) -> Json | None:
    """As in `controls_of`, in that block where one is named. A `Refusal` where one has to be."""
    found = [
        one
        for one in _every_control(blocks)
        if one["element"]["action_id"] == action_id and block_id in (None, one["block_id"])
    ]
    if len(found) > 1:
        there = ", ".join(one["block_id"] for one in found)
        raise Refusal(f"{action_id} is there {len(found)} times: say `block_id`, of {there}.", 400)
    return found[0] if found else None


def inputs_of(blocks: list[Json]) -> dict[str, Json]:
    """By block id: the input blocks."""
    return {block["block_id"]: block for block in blocks if block["type"] == "input"}


def value_name(element_type: str) -> str:
    """Under which name a view's or message's state holds the value of such an element."""
    return "selected_option" if element_type == "overflow" else _BY_TYPE[element_type][0]


def initial_name(element_type: str) -> str:
    """Under which name such an element holds its first value; "" where it has none."""
    return _BY_TYPE.get(element_type, ("", ""))[1]


def empty_value(element_type: str) -> list[Json] | None:
    """What stands where nothing was filled in."""
    return [] if value_name(element_type).endswith("s") else None


def initial_state(blocks: list[Json]) -> State:
    """`state.values` before anybody has touched anything."""
    values: State = {}
    for control in _every_control(blocks):
        element = control["element"]
        kind = element["type"]
        if kind in _BY_TYPE:
            first = element.get(initial_name(kind), empty_value(kind))
            value = {"type": kind, value_name(kind): first}
            values.setdefault(control["block_id"], {})[element["action_id"]] = value
    return values


def _name(block: Json, ids: Ids) -> None:
    block["block_id"] = block.get("block_id") or ids.token(5)
    for element in _elements(block):
        element["action_id"] = element.get("action_id") or ids.token(5)
    for inner in _inner(block):
        _name(inner, ids)


def _every_control(blocks: list[Json]) -> Iterator[Json]:
    for block in blocks:
        waits = block["type"] == "input" and not block.get("dispatch_action")
        for element in _elements(block):
            yield {"block_id": block["block_id"], "element": element, "waits": waits}
        yield from _every_control(_inner(block))


def _inner(block: Json) -> list[Json]:
    """The blocks in a block."""
    match block["type"]:
        case "carousel":
            return list(block["elements"])
        case "container":
            return list(block["child_blocks"])
        case _:
            return []


def _elements(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "actions" | "context_actions":
            found = block.get("elements", [])
        case "section":
            found = [block.get("accessory")]
        case "input":
            found = [block.get("element")]
        case "card":
            found = block.get("actions") or []
        case _:
            found = []
    for element in found:
        if isinstance(element, dict) and element.get("type") != "image":
            yield element
