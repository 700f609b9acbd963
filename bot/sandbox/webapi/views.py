"""views.*: modals and App Home."""

from __future__ import annotations

from bot.sandbox.limits.ids import note_duplicates
from bot.sandbox.limits.views import check_view
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import Json, SlackError


def open_view(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = _view(sandbox, arguments, "modal", "views.open")
    user = sandbox.triggers.use(_trigger_id(arguments))
    return {"view": sandbox.views.open(user, view)}


def push(sandbox: Sandbox, arguments: Arguments) -> Json:
    """By whatever the person did last. Whether it must have been in the modal is not verified."""
    view = _view(sandbox, arguments, "modal", "views.push")
    user = sandbox.triggers.use(_trigger_id(arguments))
    return {"view": sandbox.views.push(user, view)}


def update(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = _view(sandbox, arguments, "modal", "views.update")
    view_id = arguments.text("view_id") or arguments.required("external_id")
    return {"view": sandbox.views.update(view_id, view, arguments.text("hash") or None)}


def publish(sandbox: Sandbox, arguments: Arguments) -> Json:
    view = _view(sandbox, arguments, "home", "views.publish")
    user = arguments.required("user_id")
    if user not in sandbox.workspace.users:
        raise SlackError("invalid_arguments", ["invalid `user_id`"])
    if not sandbox.policies.home_tab:
        raise SlackError("not_enabled")
    return {"view": sandbox.views.publish(user, view, arguments.text("hash") or None)}


def _view(sandbox: Sandbox, arguments: Arguments, kind: str, method: str) -> Json:
    view = check_view(arguments.parsed("view"), kinds=(kind,))
    note_duplicates(sandbox.record, view["blocks"], method)
    return view


def _trigger_id(arguments: Arguments) -> str:
    """Slack's newer platform calls it a pointer."""
    return arguments.text("interactivity_pointer") or arguments.required("trigger_id")
