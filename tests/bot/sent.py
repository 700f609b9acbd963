"""Everything that the bot sent in a test, by Slack's rules and by ours that Slack does not have."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from bot.sandbox.opened import OpenSandbox
from tests.bot.cards.checking import check_blocks, check_form_limits, check_view_limits
from tests.slack_types.checking import misfits

_MESSAGES = ("chat.postMessage", "chat.postEphemeral", "chat.update", "response_url")
_VIEWS = ("views.open", "views.push", "views.update")
#: Of a message that answers a command.
_ANSWER = {"text", "blocks", "response_type"}


def check_everything_sent(sandbox: OpenSandbox) -> None:
    """Raises ``AssertionError`` for the first message, modal or answer that is not as it should be."""
    for call in sandbox.calls():
        said = call.get("arguments", {})
        if call.get("method") in _MESSAGES and not said.get("delete_original"):
            _check_message(said)
        elif call.get("method") in _VIEWS:
            check_modal(_read(said.get("view")))
    for entry in sandbox.inside.record.calls():
        if entry["kind"] == "acknowledgement" and entry["body"]:
            check_acknowledgement(entry["body"])


def check_acknowledgement(body: Any) -> None:
    """What was sent with an answer, over either transport: a message, or what becomes of a modal."""
    assert isinstance(body, dict), f"no answer: {body!r}"
    match body.get("response_action"):
        case None if body.keys() == {"options"}:
            # For a select that asks for its choices while somebody types; none of ours does.
            assert body["options"] == [], f"no answer: {body}"
        case None:
            assert body.keys() <= _ANSWER, f"no answer: {body}"
            _check_message(body)
        case "update" | "push":
            assert body.keys() == {"response_action", "view"}, f"no answer: {body}"
            check_modal(body["view"])
        case "errors":
            assert body.keys() == {"response_action", "errors"}, f"no answer: {body}"
            said = body["errors"]
            assert said, f"no errors: {body}"
            assert all(isinstance(one, str) and one.strip() for one in said.values()), said
        case _:
            assert body == {"response_action": "clear"}, f"no answer: {body}"


def _check_message(said: dict[str, Any]) -> None:
    text, blocks = said.get("text"), _read(said.get("blocks"))
    assert isinstance(text, str), f"no text: {said}"
    assert text.strip(), f"no text: {said}"
    if blocks:
        _check_blocks(json.dumps(blocks))


def check_modal(view: Any) -> None:
    """A modal, as it was sent."""
    _check_view(json.dumps(view))


@lru_cache(maxsize=2_000)
def _check_blocks(blocks_json: str) -> None:
    """Most messages are sent again and again."""
    blocks = json.loads(blocks_json)
    check_blocks(blocks)
    check_form_limits(blocks)
    assert misfits(blocks, "message") == []


@lru_cache(maxsize=2_000)
def _check_view(view_json: str) -> None:
    view = json.loads(view_json)
    check_view_limits(view)


def _read(sent: Any) -> Any:
    return json.loads(sent) if isinstance(sent, str) and sent else sent
