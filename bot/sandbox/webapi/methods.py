"""The methods there are, by name, with what a token must have and how often they may be called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bot.sandbox.rates import Tier
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi import (
    agents,
    chat,
    conversations,
    files,
    people,
    reactions,
    streaming,
    validation,
    views,
)
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.scopes import Scopes, for_types, history, managing, opening, reading
from bot.sandbox.wire import Json

Call: TypeAlias = Callable[[Sandbox, Arguments], Json]


@dataclass(frozen=True)
class Method:
    #: Does its work in one go, so that it is done wholly or not at all.
    call: Call
    #: What the token must have; a callable where that depends on the channel's kind.
    scope: Scopes | Callable[[Sandbox, Arguments], Scopes] = ()
    tier: Tier = Tier.NONE


#: Slack calls the limits of these special, and says no more than that they are generous.
GENEROUS = Tier.T5

METHODS: dict[str, Method] = {
    "api.test": Method(people.api_test),
    "auth.test": Method(people.auth_test, (), GENEROUS),
    "apps.connections.open": Method(people.open_connection, "connections:write", Tier.T3),
    "team.info": Method(people.team_info, "team:read", Tier.T3),
    "bots.info": Method(people.bot_info, "users:read", Tier.T3),
    "users.info": Method(people.user_info, "users:read", Tier.T4),
    "users.list": Method(people.list_users, "users:read", Tier.T2),
    "users.lookupByEmail": Method(people.look_up_by_email, "users:read.email", Tier.T3),
    "usergroups.list": Method(people.list_usergroups, "usergroups:read", Tier.T2),
    "usergroups.users.list": Method(people.list_usergroup_members, "usergroups:read", Tier.T2),
    "chat.postMessage": Method(chat.post_message, "chat:write", Tier.SPECIAL),
    "chat.update": Method(chat.update, "chat:write", Tier.T3),
    "chat.delete": Method(chat.delete, "chat:write", Tier.T3),
    "chat.postEphemeral": Method(chat.post_ephemeral, "chat:write", Tier.T4),
    "chat.getPermalink": Method(chat.get_permalink, (), GENEROUS),
    "chat.startStream": Method(streaming.start, "chat:write", Tier.T2),
    "chat.appendStream": Method(streaming.append, "chat:write", Tier.T4),
    "chat.stopStream": Method(streaming.stop, "chat:write", Tier.T2),
    "views.open": Method(views.open_view, (), Tier.T4),
    "views.push": Method(views.push, (), Tier.T4),
    "views.update": Method(views.update, (), Tier.T4),
    "views.publish": Method(views.publish, (), Tier.T4),
    "conversations.open": Method(conversations.open_direct, opening, Tier.T3),
    "conversations.info": Method(conversations.info, reading, Tier.T3),
    "conversations.list": Method(conversations.list_channels, for_types, Tier.T2),
    "conversations.join": Method(conversations.join, "channels:join", Tier.T3),
    "conversations.leave": Method(conversations.leave, managing, Tier.T3),
    "conversations.members": Method(conversations.members, reading, Tier.T4),
    "conversations.history": Method(conversations.history, history, Tier.T3),
    "conversations.replies": Method(conversations.replies, history, Tier.T3),
    "reactions.add": Method(reactions.add, "reactions:write", Tier.T3),
    "reactions.remove": Method(reactions.remove, "reactions:write", Tier.T2),
    "assistant.threads.setStatus": Method(agents.set_thread_status, "chat:write", Tier.T5),
    "assistant.threads.setTitle": Method(agents.set_thread_title, "assistant:write", Tier.T4),
    "assistant.threads.setSuggestedPrompts": Method(
        agents.set_suggested_prompts, "assistant:write", Tier.T4
    ),
    "agents.sessions.setStatus": Method(agents.set_session_status, "chat:write", Tier.T3),
    "agents.sessions.rename": Method(agents.rename_session, "chat:write", Tier.T3),
    "files.getUploadURLExternal": Method(files.get_upload_url, "files:write", Tier.T4),
    files.COMPLETE: Method(files.complete_upload, "files:write", Tier.T4),
    "files.info": Method(files.info, "files:read", Tier.T4),
    "files.delete": Method(files.delete, "files:write", Tier.T3),
    "blocks.validate": Method(validation.validate, (), GENEROUS),
}

WITH_APP_TOKEN = {"apps.connections.open"}
WITHOUT_TOKEN = {"api.test"}
