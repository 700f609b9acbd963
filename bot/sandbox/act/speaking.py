"""Messages of people: said, edited, deleted."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.attaching import attach, share, shown_with
from bot.sandbox.act.outcome import outcome, told
from bot.sandbox.act.typing import as_blocks, as_sent
from bot.sandbox.controls import with_ids
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal
from bot.sandbox.workspace import Channel


async def message(sandbox: Sandbox, asked: Asked) -> Json:
    channel, thread_ts = writable(sandbox, asked)
    broadcast = asked.flag("broadcast")
    if broadcast and not thread_ts:
        raise Refusal("Only a reply is also sent to its channel: `thread_ts` is missing.", 400)
    files = attach(sandbox, asked.user, asked.anything("files"))
    typed = (asked.optional("text") or "") if files else asked.text("text")
    text = as_sent(typed, sandbox.workspace)
    blocks = as_blocks(text) if text else []
    more = shown_with(sandbox, files)
    posted, events = sandbox.posting.say(
        asked.user, channel, text, blocks, thread_ts, broadcast=broadcast, **more
    )
    events += share(sandbox, channel, posted, files)
    answer = await sandbox.outbox.publish_and_wait(events)
    return outcome(answer) | {"channel": channel.id, "ts": posted["ts"]}


async def edit(sandbox: Sandbox, asked: Asked) -> Json:
    channel, before = asked.channel(), _own(sandbox, asked)
    text = as_sent(asked.text("text"), sandbox.workspace)
    edited = {"user": asked.user.id, "ts": sandbox.messages.next_ts()}
    blocks = with_ids(as_blocks(text), sandbox.ids)
    fields = {"text": text, "blocks": blocks, "edited": edited}
    return await told(sandbox, channel, *sandbox.posting.changed(channel, before["ts"], fields))


async def delete(sandbox: Sandbox, asked: Asked) -> Json:
    channel, before = asked.channel(), _own(sandbox, asked)
    return await told(sandbox, channel, sandbox.posting.removed(channel, before))


def writable(sandbox: Sandbox, asked: Asked) -> tuple[Channel, str | None]:
    """The channel, and the thread in it if one is named. Raises `Refusal`."""
    channel, thread_ts = asked.channel(), asked.optional("thread_ts")
    if thread_ts and not sandbox.messages.exists(channel.id, thread_ts):
        raise Refusal(f"No message {thread_ts} in {channel.id}.")
    if channel.archived:
        raise Refusal(f"{channel.id} is archived: nobody writes there any more.", 400)
    return channel, thread_ts


def _own(sandbox: Sandbox, asked: Asked) -> Json:
    channel, ts = asked.channel(), asked.text("ts")
    if not sandbox.messages.exists(channel.id, ts):
        raise Refusal(f"No message {ts} in {channel.id}.")
    found = sandbox.messages.read(channel.id, ts, metadata=False)
    if found.get("user") != asked.user.id:
        raise Refusal(f"{asked.user.name} did not write {ts}.", 403)
    return found
