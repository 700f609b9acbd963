"""The card of a call when there is nothing left to decide: who decided what, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import (
    argument_blocks,
    changed_arguments,
    describe_arguments,
    notes,
    summarize,
)
from bot.slack.cards.blocks import (
    CARD_ROOM,
    Block,
    context,
    header,
    lines,
    plain,
    room_of,
    section,
)
from bot.slack.cards.deciding import (
    decided_line,
    decided_text,
    is_known_meanwhile,
    not_decided_words,
    title_in_words,
    title_of,
)
from bot.slack.cards.expired import silence_blocks
from bot.slack.cards.message import Message
from bot.slack.cards.outcome import DID_NOT_HAPPEN, not_done, outcome_blocks
from bot.slack.cards.remarks import remark
from bot.slack.cards.shortened import SHORTENED, view_all_row
from bot.slack.cards.text import SHORTENED as CUT
from bot.slack.cards.text import one_line, plainly, quoted, shorten
from bot.slack.cards.votes import noted, vote_blocks

_CHANGES_LIMIT = 20
_UNTIL_THEN = "It had not happened until then."


def ended_message(
    approval: Approval, call: Call, state: RunState, *, is_blocked: bool = False
) -> Message:
    """The card without buttons. A steered one shows what is done, and what it was before."""
    steered_to = _steered_args(approval)
    arguments = describe_arguments(steered_to or approval.requested.args, call.parameters)
    mark, words, said = what_became(approval, call, state)
    # What was foreseen is no longer true of a call that was changed.
    preview = None if steered_to else approval.requested.preview
    around = (
        header(title_of(approval)),
        section(decided_line(mark, words, approval)),
        *notes(arguments, preview, is_over=True),
        *said,
        *outcome_blocks(call, approval, state, is_blocked=is_blocked),
    )
    room = CARD_ROOM - room_of((*around, SHORTENED, view_all_row(approval)))
    shown, is_complete = argument_blocks(arguments, preview, room=room, is_over=True)
    has_more = not is_complete or are_changes_shortened(approval, call, state)
    text = f"{decided_text(mark, words, approval)}{title_in_words(approval)}"
    text += f": {values}" if (values := plainly(summarize(arguments))) else ""
    if steered_to is not None:
        text += f" · {_changes_in_words(approval, steered_to, call)}"
    elif approval.status == "steered":
        text += " · not done"
    return Message(
        text=text,
        blocks=(
            *around[:2],
            *shown,
            *(() if is_complete else (SHORTENED,)),
            *around[2:],
            *((view_all_row(approval),) if has_more else ()),
        ),
    )


def what_became(approval: Approval, call: Call, state: RunState) -> tuple[str, str, list[Block]]:
    """A mark, a word or two, and what else there is to say."""
    decided = approval.decided
    match approval.status:
        case "approved":
            said = [*noted(approval), *_granted(approval), *_asked_again(approval, state)]
            return "✅", "Approved", said
        case "denied":
            reason = remark("Reason", decided.reason if decided else None)
            return "⛔", "Denied", [*reason, not_done(call)]
        case "steered":
            return "🛞", "Steered", _steered(approval, call)
        case _:
            said = [*vote_blocks(approval, state), *_not_decided(approval, call, state)]
            return *not_decided_words(approval, state), said


def _not_decided(approval: Approval, call: Call, state: RunState) -> list[Block]:
    if is_known_meanwhile(approval, state):
        return []
    if approval.status == "expired":
        # Asked again it may happen yet, and that says nothing of this question.
        until_then = section(_UNTIL_THEN) if approval.superseded_by else not_done(call)
        return [until_then, *silence_blocks(approval, state, about=title_of(approval))]
    if approval.superseded_by is None:
        return [not_done(call)]
    changes = _changes(approval, _newer_args(approval, state), call)
    # What is asked again below may happen yet.
    words = DID_NOT_HAPPEN if changes else _UNTIL_THEN
    return [*changes, section(words)]


def _granted(approval: Approval) -> list[Block]:
    """Whoever reads the thread later is to know why nobody is asked any more."""
    grant = approval.decided.grant if approval.decided else None
    if grant is None:
        return []
    return [context(plain(f"Others like it need no asking for a while: {one_line(grant, 100)}"))]


def _asked_again(approval: Approval, state: RunState) -> list[Block]:
    """A yes that was not enough in the end is not left to look as if it had been."""
    newer = state.approvals.get(approval.superseded_by) if approval.superseded_by else None
    if newer is None or newer.kind != approval.kind:
        return []
    because = newer.requested.again_because
    why = f", because: {one_line(because, 300)}" if because else "."
    return [context(plain(f"Asked again below{why}"))]


def _steered(approval: Approval, call: Call) -> list[Block]:
    if (after := _steered_args(approval)) is not None:
        return _changes(approval, after, call)
    guidance = remark("Guidance", approval.decided.guidance if approval.decided else None)
    return [*guidance, not_done(call)]


def _steered_args(approval: Approval) -> Mapping[str, JsonValue] | None:
    return approval.decided.args if approval.decided else None


def _changes(approval: Approval, after: Mapping[str, JsonValue], call: Call) -> list[Block]:
    """A row a change: ``Amount: $180.00 → $90.00``."""
    rows = changed_arguments(approval.requested.args, after, call.parameters)
    told = [(f"{shorten(title, 60)}: ", change) for title, change in rows[:_CHANGES_LIMIT]]
    if (more := len(rows) - len(told)) > 0:
        told.append(("", f"and {more} more"))
    return [lines(told)] if told else []


def are_changes_shortened(approval: Approval, call: Call, state: RunState) -> bool:
    """Is there more to a change than the card says of it?"""
    after = _steered_args(approval)
    if after is None and approval.status == "superseded":
        after = _newer_args(approval, state)
    if after is None:
        return False
    rows = changed_arguments(approval.requested.args, after, call.parameters)
    return len(rows) > _CHANGES_LIMIT or any(CUT in change for _, change in rows)


def _changes_in_words(approval: Approval, after: Mapping[str, JsonValue], call: Call) -> str:
    rows = changed_arguments(approval.requested.args, after, call.parameters)
    return quoted(", ".join(f"{title}: {change}" for title, change in rows), 240)


def _newer_args(approval: Approval, state: RunState) -> Mapping[str, JsonValue]:
    newer = state.approvals.get(approval.superseded_by) if approval.superseded_by else None
    return newer.requested.args if newer else approval.requested.args
