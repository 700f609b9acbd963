"""Open modals, stacked a person, and what App Home shows to each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.controls import with_ids
from bot.sandbox.ids import Ids
from bot.sandbox.wire import Json, SlackError, copied
from bot.sandbox.workspace import APP, BOT, TEAM

#: Long known of Slack, and not verified here; so is that an `external_id` names one view.
STACK = 3
_EMPTY: Json = {
    "private_metadata": "",
    "callback_id": "",
    "title": None,
    "submit": None,
    "close": None,
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
}


@dataclass
class OpenView:
    user: str
    view: Json
    #: Field errors of the last submission, for whoever draws the modal.
    errors: dict[str, str] = field(default_factory=dict)


class Views:
    """Raises Slack's errors: `not_found`, `hash_conflict`, `push_limit_reached` …"""

    def __init__(self, touch: Callable[[], int], ids: Ids) -> None:
        self._touch = touch
        self._ids = ids
        self._stacks: dict[str, list[OpenView]] = {}
        self.homes: dict[str, Json] = {}

    def stack(self, user: str) -> list[OpenView]:
        """What lies on that person's screen, the topmost last."""
        return list(self._stacks.get(user, []))

    def find(self, view_id: str) -> OpenView | None:
        for stack in self._stacks.values():
            for opened in stack:
                if view_id in (opened.view["id"], opened.view["external_id"] or None):
                    return opened
        return None

    def open(self, user: str, definition: Json) -> Json:
        """A modal in place of whatever the person had open.

        Slack does so too, and promises nothing: apps are told to update or to push instead.
        """
        self._claim_external_id(definition)
        view = _fresh(definition, self._ids)
        view["root_view_id"] = view["id"]
        self._stacks[user] = [OpenView(user, view)]
        self._touch()
        return copied(view)

    def push(self, user: str, definition: Json) -> Json:
        stack = self._stacks.get(user)
        if not stack:
            raise SlackError("not_found")
        if len(stack) >= STACK:
            raise SlackError("push_limit_reached")
        self._claim_external_id(definition)
        view = _fresh(definition, self._ids)
        view["root_view_id"] = stack[0].view["id"]
        view["previous_view_id"] = stack[-1].view["id"]
        stack.append(OpenView(user, view))
        self._touch()
        return copied(view)

    def update(self, view_id: str, definition: Json, expected_hash: str | None = None) -> Json:
        opened = self.find(view_id)
        if opened is None:
            raise SlackError("not_found")
        _check_hash(opened.view, expected_hash)
        if definition.get("external_id") != opened.view["external_id"]:
            self._claim_external_id(definition)
        kept = ("id", "root_view_id", "previous_view_id")
        opened.view = _fresh(definition, self._ids) | {name: opened.view[name] for name in kept}
        opened.errors = {}
        self._touch()
        return copied(opened.view)

    def publish(self, user: str, definition: Json, expected_hash: str | None = None) -> Json:
        shown = self.homes.get(user)
        if shown is not None:
            _check_hash(shown, expected_hash)
        view = _fresh(definition, self._ids)
        view["id"] = view["root_view_id"] = shown["id"] if shown else view["id"]
        self.homes[user] = view
        self._touch()
        return copied(view)

    def close(self, opened: OpenView) -> None:
        """Take one modal away; the one below shows again."""
        stack = self._stacks.get(opened.user, [])
        if opened in stack:
            stack.remove(opened)
        self._touch()

    def clear(self, user: str) -> None:
        self._stacks.pop(user, None)
        self._touch()

    def refuse(self, opened: OpenView, errors: dict[str, str]) -> None:
        """Show these errors at their fields."""
        opened.errors = errors
        self._touch()

    def _claim_external_id(self, definition: Json) -> None:
        external_id = definition.get("external_id")
        if external_id and self.find(external_id) is not None:
            raise SlackError("duplicate_external_id")


def _fresh(definition: Json, ids: Ids) -> Json:
    given = {name: value for name, value in definition.items() if name in {*_EMPTY, "type"}}
    fixed: dict[str, Any] = {
        "id": ids.new("V"),
        "team_id": TEAM,
        "blocks": with_ids(definition["blocks"], ids),
        "state": {"values": {}},
        "hash": f"{ids.number(10)}.{ids.token(8)}",
        "root_view_id": None,
        "previous_view_id": None,
        "app_id": APP,
        "app_installed_team_id": TEAM,
        "bot_id": BOT,
    }
    return _EMPTY | copied(given) | fixed


def _check_hash(view: Json, expected: str | None) -> None:
    if expected is not None and expected != view["hash"]:
        raise SlackError("hash_conflict")
