"""What an app answers to a command or click: in the acknowledgement or through a response URL."""

from __future__ import annotations

from bot.sandbox.content import Content
from bot.sandbox.controls import controls_of
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.limits.ids import note_duplicates
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, SlackError


def respond(sandbox: Sandbox, origin: Origin, body: Json) -> None:
    """Post, replace or delete, as the body asks. Raises Slack's errors."""
    if body.get("delete_original"):
        # A command has no original: nothing is deleted. That Slack says no word is a guess.
        if origin.message_ts:
            _delete(sandbox, origin, origin.message_ts)
        return
    content = Content.parse(body, sandbox.ids, sandbox.guesses)
    note_duplicates(sandbox.record, content.blocks, "a response")
    # A command's response can't replace an earlier one: there is no original to it.
    if body.get("replace_original") and origin.message_ts:
        _replace(sandbox, origin, origin.message_ts, content)
        return
    channel = sandbox.workspace.channels[origin.channel]
    thread_ts = str(body.get("thread_ts") or "") or None
    if body.get("response_type") == "in_channel":
        sandbox.posting.post(channel, content, thread_ts)
    else:
        sandbox.posting.post_ephemeral(origin.user, channel, content, thread_ts)


def _delete(sandbox: Sandbox, origin: Origin, ts: str) -> None:
    if not origin.is_ephemeral:
        sandbox.posting.delete(sandbox.workspace.channels[origin.channel], ts)
        return
    sandbox.messages.remove_ephemeral(origin.channel, ts)


def _replace(sandbox: Sandbox, origin: Origin, ts: str, content: Content) -> None:
    if not origin.is_ephemeral:
        sandbox.posting.update(sandbox.workspace.channels[origin.channel], ts, content)
        return
    if sandbox.messages.ephemeral(origin.channel, ts) is None:
        raise SlackError("message_not_found")
    sandbox.messages.change_ephemeral(origin.channel, ts, {"blocks": [], **content.fields()})
    sandbox.messages.remember_controls(origin.channel, ts, controls_of(content.blocks))
