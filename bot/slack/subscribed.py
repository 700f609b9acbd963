"""The events that the app subscribes to, and what it puts into the menu of a message: what the manifest asks Slack
for, and a sandbox in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.slack.ids import ASK_MODAL

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

#: By their callback ids, as people read them.
SHORTCUTS: Final[Mapping[str, str]] = {ASK_MODAL: "Ask about this"}
