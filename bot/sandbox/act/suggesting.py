"""Type-ahead in an external select: what was typed goes to the app, which answers with options."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import not_delivered, outcome, refused
from bot.sandbox.act.spot import find_spot
from bot.sandbox.delivery import interactive
from bot.sandbox.delivery.transport import Reply
from bot.sandbox.limits.elements import check_element
from bot.sandbox.limits.problems import Problems
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError

#: So much must be typed before the client asks, unless the select says otherwise.
MIN_QUERY_LENGTH = 3
LISTS = ("options", "option_groups")


async def options(sandbox: Sandbox, asked: Asked) -> Json:
    spot, typed = find_spot(sandbox, asked), asked.optional("value") or ""
    control = spot.control(asked.text("action_id"), asked.optional("block_id"))
    element, action_id = control["element"], control["element"]["action_id"]
    if not element["type"].endswith("external_select"):
        raise Refusal(f"{action_id} is a {element['type']}, which asks the app for nothing.", 400)
    asked_for = element.get("min_query_length")
    least = MIN_QUERY_LENGTH if asked_for is None else asked_for
    if len(typed) < least:
        return not_delivered(errors={action_id: f"Type at least {least} characters."})
    values, _ = spot.form.filled(asked.values())
    payload = interactive.suggestion(
        asked.user,
        spot.where(values),
        block_id=control["block_id"],
        action_id=action_id,
        value=typed,
    )
    answer = await sandbox.outbox.interact("interactive", payload)
    if not answer.reply.acknowledged:
        return outcome(answer)
    try:
        shown = _checked(answer.reply)
    except SlackError as error:
        return outcome(answer) | refused(sandbox, f"options for {action_id}", error)
    sandbox.suggestions.remember(asked.user.id, spot.place, action_id, _flat(shown))
    return outcome(answer) | shown


def _checked(reply: Reply) -> Json:
    """`options` or `option_groups`, either as Slack takes them in a select."""
    given: Json = {name: reply.body[name] for name in LISTS if name in reply.body}
    if len(given) != 1:
        raise SlackError("invalid_arguments", ["[ERROR] give either options or option_groups"])
    (found,) = given.values()
    if found != []:
        problems = Problems()
        check_element(problems, {"type": "static_select", **given}, "", ("static_select",))
        if problems.all:
            raise SlackError("invalid_arguments", problems.found)
    return given


def _flat(shown: Json) -> list[Json]:
    groups = shown.get("option_groups", [])
    return [*shown.get("options", []), *(one for group in groups for one in group["options"])]
