"""Faults that happen at once; what can be mended again, `DELETE /sandbox/faults` mends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from bot.sandbox.faults.fault import is_number, seconds, words, yes
from bot.sandbox.reading import channel
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError
from bot.sandbox.workspace import Channel

DISCONNECTS = ("warning", "refresh_requested", "link_disabled")

Strike = Callable[[Sandbox, Any], Awaitable[Json]]


async def strike(sandbox: Sandbox, body: Json) -> Json:
    """Do what the body names, and say what came of it. Raises `Refusal`."""
    kind = next(name for name in AT_ONCE if name in body)
    beside = {"error"} if kind == "revoke_token" else set()
    if strange := sorted(set(body) - {kind} - beside):
        raise Refusal(f"`{kind}` happens at once and goes without {', '.join(strange)}.", 400)
    given = body if kind == "revoke_token" else body[kind]
    came_of_it = await AT_ONCE[kind](sandbox, given)
    sandbox.record.note("fault", effect=kind, **came_of_it)
    return {"ok": True, **came_of_it}


async def _disconnect(sandbox: Sandbox, reason: Any) -> Json:
    if reason not in DISCONNECTS:
        raise Refusal(f"`disconnect` is one of {', '.join(DISCONNECTS)}.", 400)
    return {"connections": await sandbox.socket.disconnect(reason)}


async def _drop_sockets(sandbox: Sandbox, given: Any) -> Json:
    yes("drop_sockets", given)
    return {"connections": sandbox.socket.drop()}


async def _half_open(sandbox: Sandbox, given: Any) -> Json:
    length = seconds("half_open", given)
    connections = sandbox.socket.freeze(length)
    until = sandbox.clock() + length
    sandbox.faults.on_healing("sockets", {"half_open": length}, sandbox.socket.thaw, until)
    return {"connections": connections}


async def _revoke(sandbox: Sandbox, body: Any) -> Json:
    token = words("revoke_token", body["revoke_token"])
    error = words("error", body.get("error", "token_revoked"))
    sandbox.tokens.revoke(token, error)
    what = {"revoke_token": token, "error": error}
    sandbox.faults.on_healing(f"token {token}", what, lambda: sandbox.tokens.restore(token))
    return {}


async def _delete_message(sandbox: Sandbox, given: Any) -> Json:
    if not isinstance(given, dict) or set(given) != {"channel", "ts"}:
        raise Refusal("`delete_message` is {channel, ts}.", 400)
    place = channel(sandbox, words("channel", given["channel"]))
    try:
        sandbox.posting.delete_by_person(place, words("ts", given["ts"]))
    except SlackError as error:
        raise Refusal(f"No message {given['ts']} in {place.id}.") from error
    return {}


async def _archive(sandbox: Sandbox, given: Any) -> Json:
    place = _channel(sandbox, words("archive", given))
    sandbox.membership.archive(place)
    sandbox.faults.on_healing(
        f"archived {place.id}", {"archive": place.id}, lambda: sandbox.membership.unarchive(place)
    )
    return {}


async def _remove_bot(sandbox: Sandbox, given: Any) -> Json:
    place = _channel(sandbox, words("remove_bot", given))
    if sandbox.membership.leave(place):
        sandbox.faults.on_healing(
            f"bot in {place.id}", {"remove_bot": place.id}, lambda: sandbox.membership.join(place)
        )
    return {}


def _channel(sandbox: Sandbox, channel_id: str) -> Channel:
    place = channel(sandbox, channel_id)
    if place.is_direct:
        raise Refusal(
            f"{channel_id} is a conversation of people: nobody archives or leaves it.", 400
        )
    return place


async def _clock_ahead(sandbox: Sandbox, given: Any) -> Json:
    if not is_number(given):
        raise Refusal("`clock_ahead` is a number of seconds, negative for a clock behind.", 400)
    before = sandbox.clock.ahead
    if sandbox.clock() - before + given < 0:
        raise Refusal("`clock_ahead` leads to a time before 1970, which no `ts` can say.", 400)
    sandbox.clock.ahead = float(given)

    def mend() -> None:
        sandbox.clock.ahead = before

    sandbox.faults.on_healing("clock", {"clock_ahead": given}, mend)
    return {"now": sandbox.clock()}


AT_ONCE: dict[str, Strike] = {
    "disconnect": _disconnect,
    "drop_sockets": _drop_sockets,
    "half_open": _half_open,
    "revoke_token": _revoke,
    "delete_message": _delete_message,
    "archive": _archive,
    "remove_bot": _remove_bot,
    "clock_ahead": _clock_ahead,
}
