"""auth, apps, team, bots, users, usergroups."""

from __future__ import annotations

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, page_of
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import APP, BOT, BOT_USER, TEAM


def auth_test(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {
        "url": f"{sandbox.base_url}/",
        "team": "Pilothouse sandbox",
        "user": "pilothouse",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "is_enterprise_install": False,
    }


def open_connection(sandbox: Sandbox, arguments: Arguments) -> Json:
    base = sandbox.base_url.replace("http", "ws", 1)
    return {"url": f"{base}/socket?ticket={sandbox.socket.ticket()}&app_id={APP}"}


def team_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    team = {"id": TEAM, "name": "Pilothouse sandbox", "domain": "pilothouse-sandbox"}
    return {"team": team | {"email_domain": "", "icon": {"image_default": True}}}


def bot_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    if arguments.text("bot", BOT) != BOT:
        raise SlackError("bot_not_found")
    bot = {"id": BOT, "deleted": False, "name": "Pilothouse", "app_id": APP, "user_id": BOT_USER}
    return {"bot": bot | {"updated": 0, "icons": {}}}


def user_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {"user": sandbox.workspace.user(arguments.required("user")).as_slack()}


def list_users(sandbox: Sandbox, arguments: Arguments) -> Json:
    every = [user.as_slack() for user in sandbox.workspace.users.values()]
    page, cursor = page_of(every, arguments, 1000)
    now = int(sandbox.clock())
    return {"members": page, "cache_ts": now, "response_metadata": {"next_cursor": cursor}}


def list_usergroups(sandbox: Sandbox, arguments: Arguments) -> Json:
    groups = []
    for group in sandbox.workspace.groups.values():
        shown = group.as_slack()
        if arguments.flag("include_users"):
            shown["users"] = list(group.members)
        groups.append(shown)
    return {"usergroups": groups}


def list_usergroup_members(sandbox: Sandbox, arguments: Arguments) -> Json:
    group = sandbox.workspace.groups.get(arguments.required("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.members)}
