"""A form as one person's client shows it: what was filled in, and what isn't taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.sandbox.act import picked_values, typed_values
from bot.sandbox.act.picked_values import Lists
from bot.sandbox.act.refused import NotTaken
from bot.sandbox.controls import State, empty_value, initial_state, inputs_of, value_name
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal

REQUIRED = "Please complete this required field."


class Form:
    """The inputs of a view or message at `place`: a view's id, or `CHANNEL/TS`."""

    def __init__(self, sandbox: Sandbox, user: str, place: str, blocks: list[Json]) -> None:
        self._sandbox = sandbox
        self._user = user
        self._place = place
        self._blocks = blocks

    def filled(self, given: Mapping[str, Any]) -> tuple[State, dict[str, str]]:
        """`state.values`, and by block id an error for each field that isn't taken."""
        drawn = initial_state(self._blocks)
        values = self._sandbox.chosen.over(self._user, self._place, drawn)
        inputs = inputs_of(self._blocks)
        if unknown := sorted(set(given) - set(inputs)):
            known = ", ".join(inputs) or "none"
            raise Refusal(
                f"No input has the block id {', '.join(unknown)}. There are: {known}.", 400
            )
        errors: dict[str, str] = {}
        for block_id, block in inputs.items():
            element = block["element"]
            state = values[block_id][element["action_id"]]
            name = value_name(element["type"])
            try:
                if block_id in given:
                    state[name] = self.value(element, given[block_id])
                if not block.get("optional") and state[name] in (None, "", []):
                    raise NotTaken(REQUIRED)
            except NotTaken as error:
                errors[block_id] = str(error)
        return values, errors

    def value(self, element: Json, given: Any) -> Any:
        """What Slack would send for that. Raises `NotTaken`."""
        suggestions = self._sandbox.suggestions.to(
            self._user, self._place, element.get("action_id", "")
        )
        sandbox = self._sandbox
        lists = Lists(sandbox.workspace, self._user, sandbox.files, tuple(suggestions))
        return as_value(element, given, lists)

    def choose(self, block_id: str, element: Json, value: Any) -> None:
        """Keep it, as the client does: it is in the state of whatever is sent from here later."""
        state = {"type": element["type"], value_name(element["type"]): value}
        self._sandbox.chosen.remember(
            self._user, self._place, block_id, element["action_id"], state
        )


def as_value(element: Json, given: Any, lists: Lists) -> Any:
    """What Slack would send for that. Raises `NotTaken`."""
    kind = element["type"]
    if given is None or given == "" or given == []:
        return empty_value(kind)
    if kind in _TYPED:
        return _TYPED[kind](element, given)
    return _PICKED[kind](element, given, lists)


_TYPED: dict[str, Callable[[Json, Any], Any]] = {
    "plain_text_input": typed_values.text,
    "rich_text_input": typed_values.rich_text,
    "number_input": typed_values.number,
    "email_text_input": typed_values.email,
    "url_text_input": typed_values.url,
    "datepicker": typed_values.day,
    "timepicker": typed_values.time_of_day,
    "datetimepicker": typed_values.moment,
}
_PICKED: dict[str, picked_values.Reader] = {
    "static_select": picked_values.option,
    "external_select": picked_values.option,
    "overflow": picked_values.option,
    "radio_buttons": picked_values.option,
    "checkboxes": picked_values.several(picked_values.option),
    "multi_static_select": picked_values.several(picked_values.option),
    "multi_external_select": picked_values.several(picked_values.option),
    "users_select": picked_values.user,
    "multi_users_select": picked_values.several(picked_values.user),
    "channels_select": picked_values.channel,
    "multi_channels_select": picked_values.several(picked_values.channel),
    "file_input": picked_values.several(picked_values.file),
    "conversations_select": picked_values.conversation,
    "multi_conversations_select": picked_values.several(picked_values.conversation),
}
