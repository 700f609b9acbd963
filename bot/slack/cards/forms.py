"""The modals in which a decision is given with words: a reason, a note, a grant. And what was put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final, cast

from agent.errors import InvalidArgs
from agent.rules.calls import Call
from agent.rules.decisions import Approve, Deny
from agent.rules.durations import show_duration
from agent.rules.explaining import granting_of
from agent.rules.grants import GrantWish
from agent.rules.parts import Granting, GrantScope
from agent.rules.state import Approval
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes
from bot.slack.cards.blocks import Block, plain, plain_section, section
from bot.slack.cards.deciding import title_of
from bot.slack.cards.inputs import written
from bot.slack.cards.modals import StateValues, View, modal_about, read_words
from bot.slack.cards.pickers import option
from bot.slack.ids import (
    APPROVE_MODAL,
    DENY_MODAL,
    GRANT_MODAL,
    INPUT_ACTION,
    LASTS_BLOCK,
    NOTE_BLOCK,
    REASON_BLOCK,
    SCOPE_BLOCK,
    VALUES_BLOCK,
)

_SCOPES: Final[Mapping[GrantScope, str]] = {"run": "In this run", "thread": "In this thread"}
_LENGTHS: Final = tuple(
    timedelta(minutes=minutes) for minutes in (15, 60, 240, 480, 1440, 3 * 1440, 7 * 1440)
)
_EXACTLY, _ANY = "exactly", "any"
_VALUES: Final = {
    _EXACTLY: "Exactly the values that stand above",
    _ANY: "Whatever the values are",
}
_NOT_ALL: Final = section("⚠️ *This is not all of it.* View all on the card shows more.")
#: The parts of a decision that are written.
_WORDS: Final = frozenset({"note", "reason"})
_ERROR_LIMIT: Final = 300
_NO_GRANTS = "Its rule lets nothing be allowed beforehand."
_NO_CHOICE = "Choose one of these."
_NO_REASON = "Write a reason."


def deny_modal(approval: Approval, call: Call) -> View:
    """Deny, with what the agent is told."""
    reason = written(REASON_BLOCK, "Reason (the agent is told)", is_optional=False)
    return _form(DENY_MODAL, approval, "Deny", [*_about(approval, call), reason])


def approve_modal(approval: Approval, call: Call) -> View:
    """Approve, with a note."""
    note = written(NOTE_BLOCK, "Note", is_optional=False)
    return _form(APPROVE_MODAL, approval, "Approve", [*_about(approval, call), note])


def grant_modal(approval: Approval, call: Call, scope: GrantScope) -> View:
    """Approve, and allow the same beforehand for a while. Raises ``InvalidArgs`` where its rule allows no such
    thing."""
    granting = granting_of(call)
    if granting is None or scope not in granting.scopes:
        raise InvalidArgs(approval.id, {"grant": _NO_GRANTS})
    lengths = _lengths(granting)
    chosen = next((one for one in lengths if one >= timedelta(hours=1)), lengths[-1])
    inputs = [
        section("*Approve this, and don't ask about it again:*"),
        _choice(SCOPE_BLOCK, "Where", [(one, _SCOPES[one]) for one in granting.scopes], scope),
        _choice(
            LASTS_BLOCK,
            "For how long",
            [(_seconds(one), show_duration(one)) for one in lengths],
            _seconds(chosen),
        ),
        _choice(VALUES_BLOCK, "With which values", _VALUES.items(), _EXACTLY),
        written(NOTE_BLOCK, "Note", is_optional=True),
    ]
    return _form(GRANT_MODAL, approval, "Allow beforehand", [*_about(approval, call), *inputs])


def read_deny(values: StateValues) -> Deny | dict[str, str]:
    """What was sent off, or errors by block id."""
    reason = read_words(values, REASON_BLOCK)
    return Deny(reason) if reason else {REASON_BLOCK: _NO_REASON}


def read_approve(values: StateValues) -> Approve | dict[str, str]:
    """The same; a yes needs no words."""
    return Approve(read_words(values, NOTE_BLOCK) or None)


def read_grant(values: StateValues) -> Approve | dict[str, str]:
    """The same. What the rule allows is not looked at here, but where the decision is made."""
    scope, lasts, which = (_chosen(values, one) for one in (SCOPE_BLOCK, LASTS_BLOCK, VALUES_BLOCK))
    errors = {SCOPE_BLOCK: _NO_CHOICE} if scope not in _SCOPES else {}
    if not lasts.isascii() or not lasts.isdecimal() or len(lasts) > 9:
        errors[LASTS_BLOCK] = _NO_CHOICE
    if which not in _VALUES:
        errors[VALUES_BLOCK] = _NO_CHOICE
    if errors:
        return errors
    length = timedelta(seconds=int(lasts))
    wish = GrantWish(cast(GrantScope, scope), length, any_arguments=which == _ANY)
    return Approve(read_words(values, NOTE_BLOCK) or None, grant=wish)


def form_errors(errors: Mapping[str, str], words_block: str, other_block: str) -> dict[str, str]:
    """What the decision's check said: of its words at their input, of all else at ``other_block``."""
    by_block: dict[str, list[str]] = {}
    for part, message in errors.items():
        block_id = words_block if part in _WORDS else other_block
        by_block.setdefault(block_id, []).append(message)
    return {block_id: " ".join(told)[:_ERROR_LIMIT] for block_id, told in by_block.items()}


def _about(approval: Approval, call: Call) -> list[Block]:
    """What is decided, as its card shows it."""
    asked = approval.requested
    arguments = describe_arguments(asked.args, call.parameters)
    shown, is_complete = argument_blocks(arguments, asked.preview)
    return [
        plain_section(f"{title_of(approval)}?"),
        *shown,
        *notes(arguments, asked.preview),
        *(() if is_complete else (_NOT_ALL,)),
    ]


def _form(callback_id: str, approval: Approval, title: str, blocks: Iterable[Block]) -> View:
    submit = "Deny" if callback_id == DENY_MODAL else "Approve"
    return modal_about(approval, callback_id, title, blocks, submit=submit)


def _lengths(granting: Granting) -> tuple[timedelta, ...]:
    """Of which one may be chosen: none is longer than the rule allows, and the longest is among them."""
    longest = granting.longest or _LENGTHS[-1]
    shorter = tuple(one for one in _LENGTHS if one < longest)
    whole = timedelta(seconds=int(longest.total_seconds()) or 1)
    return (*shorter, whole)


def _seconds(length: timedelta) -> str:
    return str(int(length.total_seconds()))


def _choice(block_id: str, label: str, choices: Iterable[tuple[str, str]], chosen: str) -> Block:
    options = {sent: option(sent, words) for sent, words in choices}
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(label),
        "element": {
            "type": "radio_buttons",
            "action_id": INPUT_ACTION,
            "options": list(options.values()),
            "initial_option": options[chosen],
        },
    }


def _chosen(values: StateValues, block_id: str) -> str:
    """Empty for nothing, and for what no choice is."""
    selected: Any = values.get(block_id, {}).get(INPUT_ACTION, {}).get("selected_option")
    sent = selected.get("value") if isinstance(selected, Mapping) else None
    return sent if isinstance(sent, str) else ""
