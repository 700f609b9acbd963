"""The methods there are, by name."""

from __future__ import annotations

from collections.abc import Callable

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi import chat, conversations, people, views
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import Json

#: A method does its work in one go, so that it is done wholly or not at all.
Method = Callable[[Sandbox, Arguments], Json]

METHODS: dict[str, Method] = {
    "auth.test": people.auth_test,
    "apps.connections.open": people.open_connection,
    "team.info": people.team_info,
    "bots.info": people.bot_info,
    "users.info": people.user_info,
    "users.list": people.list_users,
    "usergroups.list": people.list_usergroups,
    "usergroups.users.list": people.list_usergroup_members,
    "chat.postMessage": chat.post_message,
    "chat.update": chat.update,
    "chat.delete": chat.delete,
    "chat.postEphemeral": chat.post_ephemeral,
    "chat.getPermalink": chat.get_permalink,
    "views.open": views.open_view,
    "views.push": views.push,
    "views.update": views.update,
    "views.publish": views.publish,
    "conversations.open": conversations.open_direct,
    "conversations.info": conversations.info,
    "conversations.list": conversations.list_channels,
    "conversations.join": conversations.join,
    "conversations.members": conversations.members,
    "conversations.history": conversations.history,
    "conversations.replies": conversations.replies,
    "reactions.add": conversations.add_reaction,
}

WITH_APP_TOKEN = {"apps.connections.open"}
