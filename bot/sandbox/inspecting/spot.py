"""Where in the workspace an entry of the record belongs, so that a page can go there."""

from __future__ import annotations

from typing import Any

from bot.sandbox.wire import Json

SPOT = ("channel", "ts", "thread_ts")


def spot_of(entry: Json) -> Json:
    """Some of `channel`, `ts`, `thread_ts`; whatever the app or a person wrote there."""
    match entry["kind"]:
        case "call":
            found = _of_call(part(entry, "arguments"), part(entry, "answer"))
        case "delivery":
            found = _of_delivery(entry["type"], part(entry, "payload"))
        case _:
            found = {}
    return {name: str(found[name]) for name in SPOT if found.get(name)}


def part(whole: Any, name: str) -> Json:
    """An object in an object; an empty one where there is none."""
    inner = whole.get(name) if isinstance(whole, dict) else None
    return inner if isinstance(inner, dict) else {}


def _of_call(arguments: Json, answer: Json) -> Json:
    ts = arguments.get("ts") or arguments.get("timestamp") or answer.get("ts")
    thread_ts = arguments.get("thread_ts") or part(answer, "message").get("thread_ts")
    channel = answer.get("channel")
    place = channel if isinstance(channel, str) else arguments.get("channel")
    return {"channel": place, "ts": ts, "thread_ts": thread_ts}


def _of_delivery(kind: str, payload: Json) -> Json:
    if kind == "slash_commands":
        return {"channel": payload.get("channel_id")}
    if kind == "interactive":
        container = part(payload, "container")
        message = part(payload, "message")
        return {
            "channel": part(payload, "channel").get("id"),
            "ts": container.get("message_ts") or message.get("ts"),
            "thread_ts": container.get("thread_ts") or message.get("thread_ts"),
        }
    event = part(payload, "event")
    about = part(event, "message") or part(event, "previous_message") or part(event, "item")
    about = about or event
    return {
        "channel": event.get("channel") or about.get("channel"),
        "ts": about.get("ts"),
        "thread_ts": about.get("thread_ts"),
    }
