"""blocks.validate: the limits alone, without posting anything."""

from __future__ import annotations

from bot.sandbox.limits import messages, views
from bot.sandbox.limits.problems import Problems
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import Json, SlackError

KINDS = ("blocks", "message", "view")


def validate(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Exactly one of `blocks`, `message`, `view`. Slack wants no token here; the sandbox does."""
    given = [name for name in KINDS if arguments.text(name)]
    if len(given) != 1:
        what = "must provide exactly one of `blocks`, `view`, or `message`"
        raise SlackError("invalid_arguments", [what])
    (kind,) = given
    value = arguments.parsed(kind)
    if kind == "blocks":
        problems = messages.find_problems(value, "")
    elif not isinstance(value, dict):
        raise SlackError("invalid_arguments", [f"[ERROR] `{kind}` is no JSON object"])
    elif kind == "message":
        # Without `text` nothing is said, though notifications would have no words.
        problems = messages.find_problems(value.get("blocks", []), "/blocks")
    else:
        problems = views.find_problems(value, ("modal", "home"), "")
    return _answer(kind, problems)


def _answer(kind: str, problems: Problems) -> Json:
    if problems.all:
        raise SlackError(f"invalid_{kind}", errors=[one.as_json() for one in problems.all])
    return {}
