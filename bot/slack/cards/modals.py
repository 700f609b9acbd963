"""Modals as views, and what people put into them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.counted import counted
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, plain, section
from bot.slack.cards.inputs import Input, inputs_of, written
from bot.slack.cards.question import asked_blocks
from bot.slack.cards.text import shorten
from bot.slack.ids import (
    ANSWER_BLOCK,
    ANSWER_MODAL,
    ARGUMENT_BLOCK,
    GUIDANCE_BLOCK,
    INPUT_ACTION,
    STEER_MODAL,
)

View = dict[str, Any]
#: ``view["state"]["values"]``: block id → action id → what stands there.
StateValues = Mapping[str, Mapping[str, Mapping[str, Any]]]

_TITLE_LIMIT = 24
_ERROR_LIMIT = 300


def steer_modal(approval: Approval, call: Call, state: RunState) -> View:
    """The modal in which a call's arguments are changed, or guidance is given instead; guidance alone where
    the call may have happened as it is."""
    inputs = _inputs(call, approval)
    more = len(call.parameters.get("properties", {})) - len(inputs)
    is_open = not call.may_have_happened
    stays = "stays as it is" if more == 1 else "stay as they are"
    told = [section(f"{counted(more, 'more argument')} {stays}.")]
    left = told if is_open and more > 0 else []
    blocks = [
        section(_CHANGE if is_open else _AS_IT_WAS),
        *(block for one in inputs for block in one.blocks()),
        *left,
        written(GUIDANCE_BLOCK, "Guidance (instead of doing it)", is_optional=True),
    ]
    return modal_about(approval, STEER_MODAL, "Steer", blocks, submit="Send")


_CHANGE = (
    "Change what will be done, or tell the agent what to do instead. With other values Send counts as your yes: where"
    " nothing is to be asked anew, it is done at once."
)
_AS_IT_WAS = (
    "This was begun and may have happened as it was, so that it can't be changed any more."
    " Tell the agent what to do instead."
)


def _inputs(call: Call, approval: Approval) -> tuple[Input, ...]:
    """What can still be changed of the call."""
    return () if call.may_have_happened else inputs_of(call, approval.requested.args)


def answer_modal(approval: Approval, call: Call, state: RunState) -> View:
    """The modal in which a question of the agent's is answered in one's own words."""
    blocks = [*asked_blocks(approval), written(ANSWER_BLOCK, "Your answer", is_optional=False)]
    return modal_about(approval, ANSWER_MODAL, "Answer", blocks, submit="Send")


def modal_about(
    approval: Approval, callback_id: str, title: str, blocks: Iterable[Block], *, submit: str
) -> View:
    """A form about an approval, of which it holds the id alone."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": json.dumps({"approval": approval.id}),
        "title": plain(title),
        "submit": plain(submit),
        "close": plain("Cancel"),
        "blocks": list(blocks),
    }


def read_answer(values: StateValues) -> str:
    """What they wrote; empty for nothing but blanks."""
    return read_words(values, ANSWER_BLOCK)


def read_words(values: StateValues, block_id: str) -> str:
    """What they wrote into an input for whole sentences; empty for nothing but blanks."""
    said = values.get(block_id, {}).get(INPUT_ACTION, {}).get("value")
    return said.strip() if isinstance(said, str) else ""


def approval_of(private_metadata: str) -> str | None:
    """The approval that a modal is about; None for what we never wrote."""
    try:
        named = json.loads(private_metadata)
    except ValueError:
        return None
    approval_id = named.get("approval") if isinstance(named, dict) else None
    return approval_id if isinstance(approval_id, str) else None


def from_home(view: View) -> View:
    """The same form, which says that it was opened in the Home tab; what holds nothing stays as it is."""
    if not (held := view.get("private_metadata")):
        return view
    return {**view, "private_metadata": json.dumps({**json.loads(held), "home": True})}


def is_from_home(private_metadata: str) -> bool:
    """Does it say so?"""
    try:
        held = json.loads(private_metadata)
    except (ValueError, RecursionError):
        return False
    return isinstance(held, dict) and held.get("home") is True


def read_steer(
    values: StateValues, call: Call, approval: Approval | None = None
) -> tuple[dict[str, JsonValue] | None, str | None, dict[str, str]]:
    """The arguments that were changed, the guidance, and errors by block id.

    What the modal was filled with is compared with ``approval``'s arguments, or the call's own."""
    changed: dict[str, JsonValue] = {}
    errors: dict[str, str] = {}
    for one in inputs_of(call, approval.requested.args if approval else call.args):
        element = values.get(one.block_id, {}).get(INPUT_ACTION)
        if element is None:
            continue
        try:
            new = one.read(element)
        except ValueError as error:
            errors[one.block_id] = shorten(str(error), _ERROR_LIMIT)
        else:
            changed.update({one.field.name: new[0]} if new else {})
    return changed or None, read_words(values, GUIDANCE_BLOCK) or None, errors


def steer_errors(errors: Mapping[str, str], call: Call) -> dict[str, str]:
    """What the arguments' check said, by the block id of the input that it stands at. What belongs
    to no input stands at the guidance."""
    known = {one.field.name for one in inputs_of(call, call.args)}
    by_block: dict[str, list[str]] = {}
    for field, message in errors.items():
        name = field if field in known else field.split(".")[0]
        is_input, is_guidance = name in known, field == GUIDANCE_BLOCK
        block_id = ARGUMENT_BLOCK + name if is_input else GUIDANCE_BLOCK
        told = message if is_input or is_guidance else f"{field}: {message}"
        by_block.setdefault(block_id, []).append(told)
    return {block: shorten(" ".join(told), _ERROR_LIMIT) for block, told in by_block.items()}


def notice_modal(title: str, text: str) -> View:
    """A modal that only says something; ``text`` is mrkdwn of our own."""
    return {
        "type": "modal",
        "title": plain(title, _TITLE_LIMIT),
        "close": plain("Close"),
        "blocks": [section(text)],
    }
