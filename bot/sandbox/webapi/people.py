"""auth, apps, team, bots, users, usergroups."""

from __future__ import annotations

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, page_of
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import (
    APP,
    BOT,
    BOT_NAME,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    TEAM_NAME,
    User,
)


def api_test(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Says what it was asked; an `error` comes back as one."""
    if error := arguments.text("error"):
        raise SlackError(error, args=arguments.given)
    return {"args": arguments.given} if arguments.given else {}


def auth_test(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {
        "url": f"{sandbox.base_url}/",
        "team": TEAM_NAME,
        "user": sandbox.workspace.user(BOT_USER).handle,
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "is_enterprise_install": False,
    }


def open_connection(sandbox: Sandbox, arguments: Arguments) -> Json:
    base = sandbox.base_url.replace("http", "ws", 1)
    return {"url": f"{base}/socket?ticket={sandbox.socket.ticket()}&app_id={APP}"}


def team_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    team = {"id": TEAM, "name": TEAM_NAME, "domain": TEAM_DOMAIN}
    return {"team": team | {"email_domain": "", "icon": {"image_default": True}}}


def bot_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    if arguments.text("bot", BOT) != BOT:
        raise SlackError("bot_not_found")
    bot = {"id": BOT, "deleted": False, "name": BOT_NAME, "app_id": APP, "user_id": BOT_USER}
    return {"bot": bot | {"updated": 0, "icons": {}}}


def user_info(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {"user": _shown(sandbox, sandbox.workspace.user(arguments.required("user")), arguments)}


def list_users(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Those of this workspace: people of others, met in shared channels, aren't among them."""
    users = sandbox.workspace.users.values()
    every = [_shown(sandbox, user, arguments) for user in users if user.team_id == TEAM]
    page, cursor = page_of(every, arguments, 1000)
    now = int(sandbox.clock())
    return {"members": page, "cache_ts": now, "response_metadata": {"next_cursor": cursor}}


def look_up_by_email(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Of the deactivated Slack finds none."""
    email = arguments.required("email").lower()
    for user in sandbox.workspace.users.values():
        if user.email == email and user.team_id == TEAM and not user.deleted:
            return {"user": _shown(sandbox, user, arguments)}
    raise SlackError("users_not_found")


def list_usergroups(sandbox: Sandbox, arguments: Arguments) -> Json:
    _check_plan(sandbox)
    groups = []
    for group in sandbox.workspace.groups.values():
        if group.disabled and not arguments.flag("include_disabled"):
            continue
        shown = group.as_slack()
        if arguments.flag("include_users"):
            shown["users"] = list(group.members)
        groups.append(shown)
    return {"usergroups": groups}


def list_usergroup_members(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Slack's page names an error for a bad cursor, and no cursor among the arguments."""
    _check_plan(sandbox)
    group = sandbox.workspace.groups.get(arguments.required("usergroup"))
    # That a disabled group is none unless asked for is how people read the page.
    if group is None or (group.disabled and not arguments.flag("include_disabled")):
        raise SlackError("no_such_subteam")
    members, cursor = page_of(list(group.members), arguments, 1000)
    more = {"response_metadata": {"next_cursor": cursor}} if cursor else {}
    return {"users": members, **more}


def _shown(sandbox: Sandbox, user: User, arguments: Arguments) -> Json:
    with_email = "users:read.email" in arguments.scopes
    shown = user.as_slack(sandbox.base_url, with_email=with_email)
    return shown | ({"locale": "en-US"} if arguments.flag("include_locale") else {})


def _check_plan(sandbox: Sandbox) -> None:
    if not sandbox.policies.user_groups:
        raise SlackError("plan_upgrade_required")
