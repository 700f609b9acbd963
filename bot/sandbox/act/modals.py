"""Submitting and closing a modal."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.inputs import Form
from bot.sandbox.act.outcome import not_delivered, open_view_ids, outcome, refused, with_new_view
from bot.sandbox.controls import State, inputs_of
from bot.sandbox.delivery import interactive
from bot.sandbox.delivery.outbox import Answer
from bot.sandbox.delivery.transport import Reply
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.interactions.views import OpenView
from bot.sandbox.limits.ids import note_duplicates
from bot.sandbox.limits.views import check_view
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError


async def submit(sandbox: Sandbox, asked: Asked) -> Json:
    opened = _opened(sandbox, asked)
    view = opened.view
    values, errors = Form(sandbox, asked.user.id, view["id"], view["blocks"]).filled(asked.values())
    if errors:
        sandbox.views.refuse(opened, errors)
        return not_delivered(errors=errors, view_id=view["id"])
    before = open_view_ids(sandbox, asked.user.id)
    payload = interactive.view_submission(
        asked.user,
        {**view, "state": {"values": values}},
        trigger_id=sandbox.triggers.issue(asked.user.id),
        response_urls=_response_urls(sandbox, asked, values, view["blocks"]),
    )
    answer = await sandbox.outbox.interact("interactive", payload)
    body = outcome(answer)
    if answer.reply.acknowledged:
        body |= _follow(sandbox, opened, answer.reply)
    return with_new_view(sandbox, asked.user.id, before, body)


async def close(sandbox: Sandbox, asked: Asked) -> Json:
    """This view, so that the one below shows; with `all`, or `clear_on_close`, the whole stack."""
    opened = _opened(sandbox, asked)
    is_cleared = asked.anything("all") is True or opened.view["clear_on_close"]
    closed = [opened]
    if is_cleared:
        closed = list(reversed(sandbox.views.stack(asked.user.id)))
        sandbox.views.clear(asked.user.id)
    else:
        sandbox.views.close(opened)
    if not sandbox.guesses.each_cleared_view_is_told:
        closed = [opened]
    answers = [
        await sandbox.outbox.interact(
            "interactive", interactive.view_closed(asked.user, one.view, is_cleared=is_cleared)
        )
        for one in closed
        if one.view["notify_on_close"]
    ]
    unanswered = next((one for one in answers if not one.reply.acknowledged), None)
    return outcome(unanswered or (answers[0] if answers else Answer(Reply(True))))


def _opened(sandbox: Sandbox, asked: Asked) -> OpenView:
    view_id = asked.text("view_id")
    opened = sandbox.views.find(view_id)
    if opened is None or opened.user != asked.user.id:
        raise Refusal(f"{asked.user.name} has no view {view_id} open.")
    return opened


def _response_urls(sandbox: Sandbox, asked: Asked, values: State, blocks: list[Json]) -> list[Json]:
    """One for each channel that was chosen in an input with `response_url_enabled`."""
    urls = []
    for block_id, block in inputs_of(blocks).items():
        element = block["element"]
        state = values[block_id][element["action_id"]]
        channel = state.get("selected_conversation") or state.get("selected_channel")
        if channel and element.get("response_url_enabled"):
            path = sandbox.response_urls.issue(Origin(asked.user.id, channel))
            place = {"block_id": block_id, "action_id": element["action_id"]}
            urls.append({**place, "channel_id": channel, "response_url": sandbox.base_url + path})
    return urls


def _follow(sandbox: Sandbox, opened: OpenView, reply: Reply) -> Json:
    """Do what the acknowledgement of a submission says; without a word the modal closes."""
    action = reply.body.get("response_action")
    try:
        match action:
            case "errors":
                return _refuse(sandbox, opened, reply.body.get("errors"))
            case "update":
                view = _view(sandbox, reply)
                return {"view_id": sandbox.views.update(opened.view["id"], view)["id"]}
            case "push":
                view = _view(sandbox, reply)
                return {"view_id": sandbox.views.push(opened.user, view)["id"]}
            case "clear":
                # Whether Slack tells of the views that an app cleared is not verified: here not.
                sandbox.views.clear(opened.user)
            case None if not reply.body and not reply.text:
                sandbox.views.close(opened)
            case other:
                raise SlackError("invalid_arguments", [f"[ERROR] response_action: {other}"])
    except SlackError as error:
        return refused(sandbox, f"response_action {action}", error)
    return {}


def _view(sandbox: Sandbox, reply: Reply) -> Json:
    view = check_view(reply.body.get("view"), kinds=("modal",))
    note_duplicates(sandbox.record, view["blocks"], "view_submission")
    return view


def _refuse(sandbox: Sandbox, opened: OpenView, errors: object) -> Json:
    if not isinstance(errors, dict) or not errors:
        raise SlackError("invalid_arguments", ["[ERROR] errors maps block ids to texts"])
    if not all(isinstance(text, str) and text for text in errors.values()):
        raise SlackError("invalid_arguments", ["[ERROR] each of errors is a text"])
    if strange := sorted(set(errors) - set(inputs_of(opened.view["blocks"]))):
        raise SlackError("invalid_arguments", [f"[ERROR] errors name no input block: {strange}"])
    sandbox.views.refuse(opened, errors)
    return {"errors": errors, "view_id": opened.view["id"]}
