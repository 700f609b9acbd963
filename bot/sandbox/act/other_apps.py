"""What another app says, and what Slack itself puts below a message with a link."""

from __future__ import annotations

import re

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import outcome, told
from bot.sandbox.act.speaking import writable
from bot.sandbox.act.typing import as_blocks, as_sent
from bot.sandbox.controls import with_ids
from bot.sandbox.escaping import unescape
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal
from bot.sandbox.workspace import (
    OTHER_APP,
    OTHER_BOT,
    OTHER_BOT_NAME,
    OTHER_BOT_USER,
    TEAM,
)

_LINK = re.compile(r"<(https?://[^<>|]+)(?:\|[^<>]*)?>")


async def bot_message(sandbox: Sandbox, asked: Asked) -> Json:
    """As apps post today; `classic`: as an incoming webhook of old, which has no user."""
    channel, thread_ts = writable(sandbox, asked)
    text = as_sent(asked.text("text"), sandbox.workspace)
    blocks = with_ids(as_blocks(text), sandbox.ids)
    author = _CLASSIC if asked.flag("classic") else _TODAY
    message = {"type": "message", "text": text, "bot_id": OTHER_BOT, "blocks": blocks, **author}
    posted, events = sandbox.posting.put(channel, message, thread_ts)
    answer = await sandbox.outbox.publish_and_wait(events)
    return outcome(answer) | {"channel": channel.id, "ts": posted["ts"]}


async def unfurl(sandbox: Sandbox, asked: Asked) -> Json:
    """Slack shows below a message where its link leads: a change, and none of its words."""
    channel, ts = asked.channel(), asked.text("ts")
    if not sandbox.messages.exists(channel.id, ts):
        raise Refusal(f"No message {ts} in {channel.id}.")
    link = _LINK.search(sandbox.messages.read(channel.id, ts)["text"])
    if link is None:
        raise Refusal(f"{ts} has no link.", 400)
    url = unescape(link.group(1))
    shown = {"from_url": url, "original_url": url, "title": url, "fallback": url, "id": 1}
    fields = {"attachments": [shown]}
    return await told(sandbox, channel, *sandbox.posting.changed(channel, ts, fields))


_CLASSIC: Json = {"subtype": "bot_message", "username": OTHER_BOT_NAME}
_TODAY: Json = {
    "user": OTHER_BOT_USER,
    "app_id": OTHER_APP,
    "team": TEAM,
    "bot_profile": {
        "id": OTHER_BOT,
        "app_id": OTHER_APP,
        "user_id": OTHER_BOT_USER,
        "name": OTHER_BOT_NAME,
        "team_id": TEAM,
        "deleted": False,
        "updated": 0,
    },
}
