"""What an event, a command or an interaction is about, in a few words."""

from __future__ import annotations

from bot.sandbox.inspecting.spot import part
from bot.sandbox.inspecting.words import Words
from bot.sandbox.wire import Json


def name_of_delivery(entry: Json) -> str:
    """The event's type, the interaction's, or the command."""
    payload = part(entry, "payload")
    match entry["type"]:
        case "events_api":
            event = part(payload, "event")
            subtype = event.get("subtype")
            return f"{event.get('type')}.{subtype}" if subtype else str(event.get("type"))
        case "slash_commands":
            return str(payload.get("command", ""))
        case _:
            return str(payload.get("type", entry["type"]))


def sense_of_delivery(entry: Json, words: Words) -> str:
    payload = part(entry, "payload")
    match entry["type"]:
        case "events_api":
            return _event(part(payload, "event"), words)
        case "slash_commands":
            who, place = payload.get("user_id"), payload.get("channel_id")
            where = f"by {words.person(who)} in {words.place(place)}"
            return f"{words.quoted(payload.get('text'))} {where}".strip()
        case "interactive":
            return _interaction(payload, words)
        case _:
            return ""


def _event(event: Json, words: Words) -> str:
    about = part(event, "message") or part(event, "previous_message")
    item = part(event, "item")
    who = event.get("user") or about.get("user")
    who_ = part(event, "user").get("id") or who
    channel = event.get("channel") or item.get("channel")
    where = f"in {words.place(channel)}" if channel else ""
    said = words.quoted(event.get("text") or about.get("text"))
    reaction = f":{event['reaction']}:" if event.get("reaction") else ""
    by = f"by {words.person(who_)}" if who_ else ""
    return " ".join(one for one in (reaction, by, where, said) if one)


def _interaction(payload: Json, words: Words) -> str:
    by = f"by {words.person(part(payload, 'user').get('id'))}"
    place = part(payload, "channel").get("id")
    where = f"in {words.place(place)}" if place else ""
    return " ".join(one for one in (_what(payload, words), by, where) if one)


def _what(payload: Json, words: Words) -> str:
    match payload.get("type"):
        case "block_actions":
            return ", ".join(_pressed(one, words) for one in payload.get("actions", []))
        case "view_submission" | "view_closed":
            return words.quoted(part(part(payload, "view"), "title").get("text"))
        case "block_suggestion":
            return words.quoted(payload.get("value")) or "nothing typed yet"
        case _:
            return str(payload.get("callback_id", ""))


def _pressed(action: Json, words: Words) -> str:
    chosen = part(part(action, "selected_option"), "text").get("text")
    label = chosen or part(action, "text").get("text")
    return words.quoted(label) or str(action.get("action_id", ""))
