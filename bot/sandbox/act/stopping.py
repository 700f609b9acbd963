"""The Stop button that Slack shows while an agent is at work that asked to be told."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import outcome
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal


async def stop_session(sandbox: Sandbox, asked: Asked) -> Json:
    channel, thread_ts = asked.channel(), asked.text("thread_ts")
    session = sandbox.sessions.session(channel.id, thread_ts)
    is_shown = sandbox.subscriptions.include("agent_session_stopped")
    if not is_shown or session is None or session.status != "processing":
        raise Refusal(f"{thread_ts} in {channel.id} has no Stop button: no agent is at work.", 400)
    streaming = sandbox.streams.stop_by_person(channel, thread_ts)
    payload = sandbox.events.session_stopped(asked.user.id, channel, thread_ts, streaming)
    return outcome(await sandbox.outbox.publish_and_wait([payload]))
