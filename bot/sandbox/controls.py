"""What in a message or view can be clicked or filled in, found by id."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterator

from bot.sandbox.wire import Json

_HOLDERS = {"actions", "section", "input", "context_actions"}
_BY_TYPE = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "rich_text_input": ("rich_text_value", "initial_value"),
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


def with_ids(blocks: list[Json]) -> list[Json]:
    """A copy in which each block and each element has an id, as Slack fills them in."""
    filled = copy.deepcopy(blocks)
    for block in filled:
        block["block_id"] = block.get("block_id") or _short_id()
        for element in _elements(block):
            element["action_id"] = element.get("action_id") or _short_id()
        if block["type"] == "container":
            block["child_blocks"] = with_ids(block["child_blocks"])
    return filled


def controls_of(blocks: list[Json]) -> dict[str, Json]:
    """By action id: `{"block_id", "element"}` of everything interactive.

    Inputs often share an action id and differ by their block: of those one is found.
    """
    return {
        element["action_id"]: {"block_id": block_id, "element": element}
        for block_id, element in _every_element(blocks)
    }


def inputs_of(blocks: list[Json]) -> dict[str, Json]:
    """By block id: the input blocks."""
    return {block["block_id"]: block for block in blocks if block["type"] == "input"}


def value_name(element_type: str) -> str:
    """Under which name a view's or message's state holds the value of such an element."""
    return _BY_TYPE.get(element_type, ("value", ""))[0]


def initial_state(blocks: list[Json]) -> dict[str, dict[str, Json]]:
    """`state.values` before anybody has touched anything: block id, action id, value."""
    values: dict[str, dict[str, Json]] = {}
    for block_id, element in _every_element(blocks):
        names = _BY_TYPE.get(element["type"])
        if names is None:
            continue
        empty: object = [] if names[0].endswith("s") else None
        value = {"type": element["type"], names[0]: element.get(names[1], empty)}
        values.setdefault(block_id, {})[element["action_id"]] = value
    return values


def _every_element(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    for block in blocks:
        for element in _elements(block):
            yield block["block_id"], element
        yield from _every_element(block.get("child_blocks", []))


def _elements(block: Json) -> Iterator[Json]:
    if block["type"] not in _HOLDERS:
        return
    for element in [*block.get("elements", []), block.get("accessory"), block.get("element")]:
        if isinstance(element, dict) and element.get("type") != "image":
            yield element


def _short_id() -> str:
    return secrets.token_urlsafe(4)[:5]
