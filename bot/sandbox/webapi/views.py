"""views.*: modals and App Home."""

from __future__ import annotations

from bot.sandbox.limits.views import check_view
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import Json, SlackError


def open_view(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = check_view(arguments.parsed("view"), kinds=("modal",))
    trigger = sandbox.triggers.use(_trigger_id(arguments))
    return {"view": sandbox.views.open(trigger.user, view)}


def push(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = check_view(arguments.parsed("view"), kinds=("modal",))
    trigger = sandbox.triggers.use(_trigger_id(arguments))
    return {"view": sandbox.views.push(trigger.user, view)}


def update(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = check_view(arguments.parsed("view"), kinds=("modal",))
    view_id = arguments.text("view_id") or arguments.required("external_id")
    return {"view": sandbox.views.update(view_id, view, arguments.text("hash") or None)}


def publish(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = check_view(arguments.parsed("view"), kinds=("home",))
    user = arguments.required("user_id")
    if user not in sandbox.workspace.users:
        raise SlackError("user_not_found")
    return {"view": sandbox.views.publish(user, view, arguments.text("hash") or None)}


def _trigger_id(arguments: Arguments) -> str:
    return arguments.required("trigger_id")
