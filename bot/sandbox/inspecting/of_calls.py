"""What a call of the app is about, in a few words."""

from __future__ import annotations

from typing import Any

from bot.sandbox.inspecting.spot import part
from bot.sandbox.inspecting.words import Words
from bot.sandbox.interactions.response_urls import RESPONSE_URL
from bot.sandbox.wire import Json, parse_json


def sense_of_call(entry: Json, words: Words) -> str:
    arguments = part(entry, "arguments")
    method = str(entry["method"])
    if method == RESPONSE_URL:
        return _response(arguments, words)
    family, _, _ = method.partition(".")
    match family:
        case "chat":
            return _message(arguments, words)
        case "views":
            return _view(arguments, words)
        case "reactions":
            return f":{arguments.get('name', '')}: {_where(arguments, words)}".strip()
        case "users":
            return words.person(arguments["user"]) if arguments.get("user") else ""
        case "assistant" | "agents":
            said = arguments.get("status") or arguments.get("title") or ""
            return _joined(words.quoted(said), _where(arguments, words))
        case "files":
            return str(arguments.get("filename") or arguments.get("file") or "")
        case "upload":
            return str(entry.get("file", ""))
        case _:
            return _where(arguments, words)


def _response(body: Json, words: Words) -> str:
    if body.get("delete_original"):
        return "deletes the message"
    does = "replaces the message" if body.get("replace_original") else "answers"
    seen = "for all" if body.get("response_type") == "in_channel" else "for one person"
    where = "" if body.get("replace_original") else seen
    return _joined(does, where, _blocks(body), words.quoted(body.get("text")))


def _message(arguments: Json, words: Words) -> str:
    said = words.quoted(arguments.get("text") or arguments.get("markdown_text"))
    whom = f"for {words.person(arguments['user'])}" if arguments.get("user") else ""
    return _joined(_blocks(arguments), _where(arguments, words), whom, said)


def _view(arguments: Json, words: Words) -> str:
    view = _parsed(arguments.get("view"))
    view = view if isinstance(view, dict) else {}
    if view.get("type") == "home":
        whose = words.person(arguments.get("user_id"))
        return _joined("Home of", whose, _blocks(view))
    return _joined(words.quoted(part(view, "title").get("text")), _blocks(view))


def _blocks(said: Json) -> str:
    blocks = _parsed(said.get("blocks"))
    if not isinstance(blocks, list) or not blocks:
        return ""
    return "1 block" if len(blocks) == 1 else f"{len(blocks)} blocks"


def _parsed(given: Any) -> Any:
    """A structure, also where it came as a string of JSON."""
    if not isinstance(given, str):
        return given
    try:
        return parse_json(given)
    except ValueError:
        return None


def _where(arguments: Json, words: Words) -> str:
    channel = arguments.get("channel") or arguments.get("channel_id")
    if not channel:
        return ""
    inside = "a thread of " if arguments.get("thread_ts") else ""
    return f"in {inside}{words.place(channel)}"


def _joined(*parts: str) -> str:
    return " ".join(one for one in parts if one)
