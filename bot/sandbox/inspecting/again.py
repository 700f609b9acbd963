"""What was sent once is sent again, exactly as it was."""

from __future__ import annotations

import json
from typing import cast

from aiohttp import web

from bot.sandbox.act.outcome import outcome
from bot.sandbox.delivery.transport import Kind
from bot.sandbox.interactions.response_urls import RESPONSE_URL
from bot.sandbox.response_endpoint import take_response
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.methods import METHODS, WITHOUT_TOKEN
from bot.sandbox.webapi.server import call_method
from bot.sandbox.wire import Json, Refusal, copied

#: More often Slack repeats no event.
RETRIES = 3


async def send_again(sandbox: Sandbox, body: Json) -> Json:
    """`seq`: the entry of the record; `as_retry`: an event as Slack's own next delivery of it.

    Raises `Refusal` for what isn't kept, and for what can't be sent again.
    """
    seq, as_retry = body.get("seq"), body.get("as_retry", False)
    if unknown := sorted(set(body) - {"seq", "as_retry"}):
        raise Refusal(f"Unknown: {', '.join(unknown)}. Known: seq, as_retry.", 400)
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise Refusal("`seq` is the number of an entry of the record.", 400)
    if not isinstance(as_retry, bool):
        raise Refusal("`as_retry` is true or false.", 400)
    entry = sandbox.record.find(seq)
    if as_retry and entry.get("type") != "events_api":
        raise Refusal("Only an event comes as a retry: Slack repeats nothing else.", 400)
    if (reason := why_not(entry, sandbox.record.secret_of(seq))) is not None:
        raise Refusal(reason, 400)
    secret = sandbox.record.secret_of(seq)
    mark = sandbox.record.note("again", of=seq, as_retry=as_retry)["seq"]
    sent = copied(entry["arguments" if entry["kind"] == "call" else "payload"])
    if entry["kind"] == "call":
        answer = await _call(sandbox, entry["method"], sent, secret)
    else:
        answer = await _deliver(sandbox, entry, sent, as_retry)
    return answer | _entry_of(sandbox, sent, mark)


def why_not(entry: Json, secret: str) -> str | None:
    """Why this entry can't be sent again; None where it can."""
    match entry["kind"], entry.get("type"):
        case "call", _:
            if entry["method"] not in (*METHODS, RESPONSE_URL):
                return "The bytes of a file, and of a method that there isn't, are not kept."
            if secret or entry["method"] in WITHOUT_TOKEN:
                return None
            return "It came without a token of this sandbox, and none is kept."
        case "delivery", "events_api" | "interactive" | "slash_commands":
            return None
        case "delivery", _:
            return "The act `verify_urls` asks a URL anew, with another challenge."
        case _:
            return "Only calls and deliveries can be sent again."


async def _deliver(sandbox: Sandbox, entry: Json, payload: Json, as_retry: bool) -> Json:
    if entry["type"] == "events_api":
        retry = min(entry["retry_attempt"] + 1, RETRIES) if as_retry else 0
        return outcome(await sandbox.outbox.repeat(payload, retry))
    # What the acknowledgement says is shown to nobody: no person waits for it.
    return outcome(await sandbox.outbox.interact(cast(Kind, entry["type"]), payload))


async def _call(sandbox: Sandbox, method: str, given: Json, secret: str) -> Json:
    lost: list[bool] = []

    def cut() -> None:
        lost.append(True)

    if method == RESPONSE_URL:
        response = await take_response(sandbox, secret, given, cut)
    else:
        response = await call_method(sandbox, method, given, secret, cut)
    if lost:
        return {"ok": True, "lost": True}
    return {"ok": True, "status": response.status, "answer": _said(response)}


def _entry_of(sandbox: Sandbox, sent: Json, mark: int) -> Json:
    """The first entry that it made, if any did: a fault may have kept it from the app."""
    for entry in sandbox.record.calls(mark):
        if entry.get("arguments") is sent or entry.get("payload") is sent:
            return {"seq": entry["seq"]}
    return {}


def _said(response: web.Response) -> object:
    text = response.text or ""
    return json.loads(text) if response.content_type == "application/json" else text
