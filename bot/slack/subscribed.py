"""The events that the app subscribes to: what the manifest asks Slack for, and a sandbox in its place."""

from __future__ import annotations

from typing import Final

SUBSCRIBED: Final = frozenset(
    {
        "app_mention",
        "message.im",
        "message.channels",
        "message.groups",
        "message.mpim",
        "app_home_opened",
        "agent_session_stopped",
        "member_joined_channel",
        "channel_unarchive",
        "group_unarchive",
    }
)
