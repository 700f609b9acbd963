"""The events that the app subscribes to: what the manifest asks Slack for, and a sandbox in its place."""

from __future__ import annotations

from typing import Final

SUBSCRIBED: Final = frozenset(
    {
        "app_mention",
        "app_home_opened",
        "message.im",
        "message.channels",
        "message.groups",
        "message.mpim",
        "member_joined_channel",
        "channel_unarchive",
        "group_unarchive",
    }
)
