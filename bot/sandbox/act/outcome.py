"""The sandbox's answer to an act."""

from __future__ import annotations

from bot.sandbox.delivery.outbox import Answer
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json


def outcome(answer: Answer) -> Json:
    body: Json = {
        "ok": True,
        "acknowledged": answer.reply.acknowledged,
        "elapsed_ms": answer.elapsed_ms,
    }
    if answer.reply.body:
        body["response"] = answer.reply.body
    return body


def not_delivered(**facts: object) -> Json:
    """Nothing went to the app: the client kept it, or nobody was to be told."""
    return {"ok": True, "acknowledged": False, "elapsed_ms": 0, **facts}


def open_view_ids(sandbox: Sandbox, user: str) -> set[str]:
    return {opened.view["id"] for opened in sandbox.views.stack(user)}


def with_new_view(sandbox: Sandbox, user: str, before: set[str], body: Json) -> Json:
    """Name the modal that came up since `before`, if one did."""
    for opened in reversed(sandbox.views.stack(user)):
        if opened.view["id"] not in before:
            return body | {"view_id": opened.view["id"]}
    return body
