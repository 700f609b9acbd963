"""Submitting and closing a modal."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.inputs import fill
from bot.sandbox.act.outcome import not_delivered, open_view_ids, outcome, with_new_view
from bot.sandbox.controls import inputs_of
from bot.sandbox.delivery import interactive
from bot.sandbox.interactions.views import OpenView
from bot.sandbox.limits.views import check_view
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError


async def submit(sandbox: Sandbox, asked: Asked) -> Json:
    opened = _opened(sandbox, asked)
    values, errors = fill(opened.view["blocks"], asked.values())
    if errors:
        sandbox.views.refuse(opened, errors)
        return not_delivered(errors=errors, view_id=opened.view["id"])
    before = open_view_ids(sandbox, asked.user.id)
    view = {**opened.view, "state": {"values": values}}
    trigger_id = sandbox.triggers.issue(asked.user.id, view["id"])
    payload = interactive.view_submission(asked.user, view, trigger_id=trigger_id)
    answer = await sandbox.outbox.interact("interactive", payload)
    body = outcome(answer)
    if answer.reply.acknowledged:
        body |= _follow(sandbox, opened, answer.reply.body)
    return with_new_view(sandbox, asked.user.id, before, body)


async def close(sandbox: Sandbox, asked: Asked) -> Json:
    opened = _opened(sandbox, asked)
    sandbox.views.close(opened)
    if not opened.view["notify_on_close"]:
        return {"ok": True, "acknowledged": True, "elapsed_ms": 0}
    payload = interactive.view_closed(asked.user, opened.view, is_cleared=False)
    return outcome(await sandbox.outbox.interact("interactive", payload))


def _opened(sandbox: Sandbox, asked: Asked) -> OpenView:
    view_id = asked.text("view_id")
    opened = sandbox.views.find(view_id)
    if opened is None or opened.user != asked.user.id:
        raise Refusal(f"{asked.user.name} has no view {view_id} open.")
    return opened


def _follow(sandbox: Sandbox, opened: OpenView, answer: Json) -> Json:
    """Do what the acknowledgement of a submission says; without a word the modal closes."""
    action = answer.get("response_action")
    try:
        match action:
            case "errors":
                return _refuse(sandbox, opened, answer.get("errors") or {})
            case "update":
                view = check_view(answer.get("view"), kinds=("modal",))
                return {"view_id": sandbox.views.update(opened.view["id"], view)["id"]}
            case "push":
                view = check_view(answer.get("view"), kinds=("modal",))
                return {"view_id": sandbox.views.push(opened.user, view)["id"]}
            case "clear":
                sandbox.views.clear(opened.user)
            case None:
                sandbox.views.close(opened)
            case other:
                raise SlackError("invalid_arguments", [f"response_action: {other}"])
    except SlackError as error:
        detail = f"response_action {action}: {error.code} {' '.join(error.messages)}"
        sandbox.record.violation("limit", detail)
        return {"error": error.code}
    return {}


def _refuse(sandbox: Sandbox, opened: OpenView, errors: dict[str, str]) -> Json:
    strange = sorted(set(errors) - set(inputs_of(opened.view["blocks"])))
    if strange or not errors:
        raise SlackError("invalid_arguments", [f"errors name no input block: {strange}"])
    sandbox.views.refuse(opened, errors)
    return {"errors": errors, "view_id": opened.view["id"]}
