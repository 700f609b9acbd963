"""The sandbox's answer to an act."""

from __future__ import annotations

from bot.sandbox.delivery.outbox import Answer
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import Channel


def outcome(answer: Answer) -> Json:
    body: Json = {
        "ok": True,
        "acknowledged": answer.reply.acknowledged,
        "elapsed_ms": answer.elapsed_ms,
    }
    if said := said_in(answer):
        body["response"] = said
    if answer.reply.why:
        body["why"] = answer.reply.why
    return body


async def told(sandbox: Sandbox, channel: Channel, *events: Json) -> Json:
    """The outcome of what the app is told of only where it is a member."""
    return outcome(await sandbox.outbox.publish_and_wait(events if channel.has_bot else []))


def said_in(answer: Answer) -> Json:
    """What the acknowledgement said; plain text is the text of a message."""
    reply = answer.reply
    return reply.body or ({"text": reply.text} if reply.text else {})


def not_delivered(**facts: object) -> Json:
    """Nothing went to the app: the client kept it, or nobody was to be told."""
    return {"ok": True, "acknowledged": False, "elapsed_ms": 0, **facts}


def refused(sandbox: Sandbox, what: str, error: SlackError) -> Json:
    """Slack would not take what the acknowledgement says, and show the person an error."""
    detail = " ".join([f"{what}: {error.code}", *error.messages])
    sandbox.record.violation("refused_acknowledgement", detail)
    return {"error": error.code, "messages": error.messages}


def open_view_ids(sandbox: Sandbox, user: str) -> set[str]:
    return {opened.view["id"] for opened in sandbox.views.stack(user)}


def with_new_view(sandbox: Sandbox, user: str, before: set[str], body: Json) -> Json:
    """Name the modal that came up since `before`, if one did."""
    for opened in reversed(sandbox.views.stack(user)):
        if opened.view["id"] not in before:
            return body | {"view_id": opened.view["id"]}
    return body
