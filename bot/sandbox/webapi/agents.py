"""assistant.threads.* and agents.sessions.*: what an agent says of itself in a thread."""

from __future__ import annotations

from typing import Any

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.places import exact, thread
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import Channel

LOADING_MESSAGES = 10
PROMPTS = 4
TITLE = 200


def set_thread_status(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _thread(sandbox, arguments)
    loading = arguments.parsed("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > LOADING_MESSAGES:
        raise _too_many("loading_messages", LOADING_MESSAGES)
    sandbox.sessions.say(channel.id, ts, arguments.text("status"), [str(one) for one in loading])
    return {}


def set_thread_title(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _thread(sandbox, arguments)
    sandbox.sessions.entitle(channel.id, ts, arguments.required("title"))
    return {}


def set_suggested_prompts(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _agents_channel(sandbox, arguments)
    ts = arguments.text("thread_ts")
    if ts:
        ts = thread(sandbox, channel, ts, "invalid_thread_ts")
    prompts = arguments.parsed("prompts")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= PROMPTS:
        raise _too_many("prompts", PROMPTS)
    if not all(_is_prompt(one) for one in prompts):
        raise SlackError("invalid_arguments", ["[ERROR] a prompt has a title and a message"])
    said = {"title": arguments.text("title"), "prompts": prompts}
    sandbox.sessions.suggest(channel.id, ts, said)
    return {}


def set_session_status(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _session(sandbox, arguments)
    status = arguments.required("status")
    title = _title(arguments)
    initiator = arguments.text("initiator_user_id")
    if initiator and initiator not in channel.members:
        raise SlackError("user_not_found")
    session = sandbox.sessions.set_status(channel.id, ts, status, title, initiator)
    said: Json = {"status": session.status, "agent_status": session.status}
    said |= {"title": session.title} if session.title else {}
    is_told = sandbox.subscriptions.include("agent_session_stopped")
    if session.status == "processing" and not is_told:
        warning = "missing_agent_session_stopped_event_subscription"
        said |= {"warning": warning, "response_metadata": {"warnings": [warning]}}
    return said


def rename_session(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _session(sandbox, arguments)
    arguments.required("title")
    session = sandbox.sessions.session(channel.id, ts)
    if session is None:
        raise SlackError("session_not_found")
    session.title = _title(arguments)
    return {"title": session.title}


def _thread(sandbox: Sandbox, arguments: Arguments) -> tuple[Channel, str]:
    channel = _agents_channel(sandbox, arguments)
    ts = arguments.required("thread_ts", "invalid_thread_ts")
    return channel, thread(sandbox, channel, ts, "invalid_thread_ts")


def _agents_channel(sandbox: Sandbox, arguments: Arguments) -> Channel:
    channel = exact(sandbox, arguments, "channel_id")
    if not channel.has_bot:
        raise SlackError("channel_not_found")
    return channel


def _session(sandbox: Sandbox, arguments: Arguments) -> tuple[Channel, str]:
    """Sessions here are threads; the channels that are one session each aren't there."""
    if not sandbox.policies.agent_sessions:
        raise SlackError("feature_disabled")
    channel = exact(sandbox, arguments, "channel_id")
    if not channel.has_bot:
        raise SlackError("not_authorized")
    ts = arguments.required("thread_ts", "thread_ts_required")
    # What is said of a thread that isn't there is not verified.
    return channel, thread(sandbox, channel, ts, "thread_ts_required")


def _title(arguments: Arguments) -> str:
    title = arguments.text("title")
    if len(title) > TITLE:
        what = f"must be less than {TITLE + 1} characters"
        raise SlackError("invalid_arguments", [f"[ERROR] {what} [json-pointer:/title]"])
    return title


def _is_prompt(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    return all(isinstance(given.get(name), str) for name in ("title", "message"))


def _too_many(name: str, most: int) -> SlackError:
    what = f"an array of up to {most} items"
    return SlackError("invalid_arguments", [f"[ERROR] must be {what} [json-pointer:/{name}]"])
