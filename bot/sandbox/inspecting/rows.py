"""An entry of the record in one line: what it is, what it is about, and what came of it."""

from __future__ import annotations

from bot.sandbox.inspecting.again import why_not
from bot.sandbox.inspecting.of_calls import sense_of_call
from bot.sandbox.inspecting.of_deliveries import name_of_delivery, sense_of_delivery
from bot.sandbox.inspecting.spot import spot_of
from bot.sandbox.inspecting.words import Words
from bot.sandbox.wire import Json

#: Of an entry as it is, where it has them.
_KEPT = ("seq", "at", "took_ms", "envelope_id", "event_id", "retry_attempt", "ignored")
#: What a fault does, by its effect, to this method, event or interaction.
FAULTS = {
    "error": "Slack says no to {}",
    "status": "Slack fails {}",
    "ratelimited": "Slack says “slow down” to {}",
    "latency": "Slack is slow with {}",
    "drop_after_commit": "Slack loses its answer to {}",
    "duplicate": "the app is told twice: {}",
    "delay": "the app is told late: {}",
    "lost": "the app is never told: {}",
    "expired_trigger": "the trigger has expired: {}",
    "share_after": "a file comes late",
    "unshared": "a file never comes",
    "disconnect": "Slack asks to connect anew",
    "drop_sockets": "the connections break",
    "half_open": "the connections go silent",
    "revoke_token": "a token ends",
    "delete_message": "somebody deletes a message",
    "archive": "a channel is archived",
    "remove_bot": "the app is removed from a channel",
    "clock_ahead": "Slack's clock is wrong",
}
_GROUPS = {"events_api": "event", "interactive": "interaction", "slash_commands": "interaction"}


def row_of(entry: Json, secret: str, words: Words) -> Json:
    """`group`: `call`, `event`, `interaction`, `acknowledgement`, `violation`, `fault`, `again` or
    `connection`. `repeats`: it can be sent again."""
    row = {name: entry[name] for name in _KEPT if entry.get(name) is not None}
    row |= {"group": _group(entry), "name": _name(entry), "sense": _sense(entry, words)}
    row |= spot_of(entry)
    if problem := _problem(entry):
        row["problem"] = problem
    if why_not(entry, secret) is None:
        row["repeats"] = True
    return row


def _group(entry: Json) -> str:
    match entry["kind"]:
        case "delivery":
            return _GROUPS.get(entry["type"], "event")
        case "connected" | "disconnected":
            return "connection"
        case kind:
            return str(kind)


def _name(entry: Json) -> str:
    match entry["kind"]:
        case "call":
            return str(entry["method"])
        case "delivery":
            return name_of_delivery(entry)
        case "violation":
            return str(entry["rule"])
        case "fault":
            return str(entry["effect"])
        case kind:
            return str(kind)


def _sense(entry: Json, words: Words) -> str:
    match entry["kind"]:
        case "call":
            return sense_of_call(entry, words)
        case "delivery":
            return sense_of_delivery(entry, words)
        case "violation":
            return ": ".join(one for one in (entry.get("what"), entry["detail"]) if one)
        case "fault":
            return FAULTS[entry["effect"]].format(entry.get("what", ""))
        case "again":
            return f"entry {entry['of']}{', as a retry' if entry['as_retry'] else ''}"
        case "acknowledgement":
            answered = entry.get("body") or {}
            action = answered.get("response_action") if isinstance(answered, dict) else None
            return str(action or ("with an answer" if answered else ""))
        case _:
            return str(entry.get("connection", ""))


def _problem(entry: Json) -> str:
    """What went wrong, in Slack's words or plain ones; "" where nothing did."""
    if entry.get("dropped"):
        return "the answer was lost"
    if error := entry.get("error"):
        return str(error)
    if entry.get("status", 200) >= 300:
        return f"HTTP {entry['status']}"
    return ""
