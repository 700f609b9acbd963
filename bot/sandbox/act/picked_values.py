"""Values that a person picks from a list: of options, people, channels or conversations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.sandbox.act.refused import NotTaken
from bot.sandbox.controls import initial_name
from bot.sandbox.files import Files
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import Channel, Workspace


@dataclass(frozen=True)
class Lists:
    """What this person's client has to pick from."""

    workspace: Workspace
    user: str
    files: Files
    #: What the app suggested last for this element, where it is an external select.
    suggested: tuple[Json, ...] = ()


Reader = Callable[[Json, Any, Lists], Any]


def option(element: Json, given: Any, lists: Lists) -> Json:
    """By its value."""
    options = _suggested(element, lists) if _asks_the_app(element) else _listed(element)
    for one in options:
        if one.get("value") == str(given):
            return dict(one)
    values = ", ".join(str(one.get("value")) for one in options) or "nothing yet"
    raise NotTaken(f"Please choose one of: {values}.")


def _asks_the_app(element: Json) -> bool:
    return str(element["type"]).endswith("external_select")


def _suggested(element: Json, lists: Lists) -> list[Json]:
    first = element.get(initial_name(element["type"])) or []
    return [*lists.suggested, *(first if isinstance(first, list) else [first])]


def _listed(element: Json) -> list[Json]:
    groups = element.get("option_groups", [])
    return [*element.get("options", []), *(one for group in groups for one in group["options"])]


def user(element: Json, given: Any, lists: Lists) -> str:
    found = lists.workspace.users.get(str(given))
    if found is None or found.deleted:
        raise NotTaken("Please choose a person.")
    return found.id


def channel(element: Json, given: Any, lists: Lists) -> str:
    found = lists.workspace.channels.get(str(given))
    if found is None or found.kind != "public" or found.archived:
        raise NotTaken("Please choose a public channel.")
    return found.id


def conversation(element: Json, given: Any, lists: Lists) -> str:
    found = lists.workspace.channels.get(str(given))
    if found is None or not _is_offered(found, element.get("filter") or {}, lists):
        raise NotTaken("Please choose a conversation from the list.")
    return found.id


def file(element: Json, given: Any, lists: Lists) -> Json:
    """One that was uploaded to the sandbox, by its id."""
    try:
        found = lists.files.get(str(given))
    except SlackError:
        raise NotTaken("Please choose a file.") from None
    if (kinds := element.get("filetypes")) and found.kind not in kinds:
        raise NotTaken(f"Please choose a file of these kinds: {', '.join(kinds)}.")
    return lists.files.as_slack(found, "")


def several(read: Reader) -> Reader:
    """Any number of them, each once."""

    def read_all(element: Json, given: Any, lists: Lists) -> list[Any]:
        chosen = given if isinstance(given, list) else [given]
        is_of_files = element["type"] == "file_input"
        most = element.get("max_files" if is_of_files else "max_selected_items")
        if most is not None and len(chosen) > most:
            raise NotTaken(f"Please choose at most {most}.")
        return [read(element, one, lists) for one in dict.fromkeys(map(str, chosen))]

    return read_all


def _is_offered(found: Channel, wanted: Json, lists: Lists) -> bool:
    """Does the client list it: can this person see it, and does the app want such ones?"""
    if found.archived or (found.kind != "public" and lists.user not in found.members):
        return False
    if found.shared and wanted.get("exclude_external_shared_channels"):
        return False
    # Each direct message of this workspace is one with the app's bot.
    if found.kind == "im" and wanted.get("exclude_bot_users"):
        return False
    return found.kind in wanted.get("include", [found.kind])
