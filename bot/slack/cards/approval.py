"""The card that asks whether a call may happen, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agent.rules.state import Approval, Call, RunState
from bot.slack.cards.arguments import (
    SHOWN_LIMIT,
    Argument,
    argument_blocks,
    changed_arguments,
    describe_arguments,
    notes,
    summarize,
)
from bot.slack.cards.blocks import (
    MESSAGE_LIMIT,
    Block,
    actions,
    button,
    context,
    header,
    lines,
    mrkdwn,
    plain,
    section,
    weigh,
)
from bot.slack.cards.deciding import (
    DID_NOT_HAPPEN,
    call_out,
    call_out_last,
    decided_line,
    decided_text,
    outcome_blocks,
    remark,
    title_in_words,
    title_of,
    who_may_decide,
)
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.text import escape, one_line, quoted, shorten
from bot.slack.ids import APPROVE, DENY, STEER

_CHANGES_LIMIT = 20
#: Values up to so many characters are told in a sentence where no block can be shown.
_PLAIN_LIMIT = 600
_SHORTENED = context(mrkdwn("Shortened: too long to be shown in full here."))
_ENDINGS = {
    "finished": "Its run has finished",
    "failed": "Its run has failed",
    "cancelled": "Its run was stopped",
}


def approval_message(approval: Approval, call: Call, state: RunState) -> Message:
    """The card as it is to stand now: with buttons while pending, without them ever after. A steered
    one shows what is done, and what it was before."""
    args = _steered_args(approval) or approval.requested.args
    arguments = describe_arguments(args, call.parameters)
    if approval.status == "pending":
        return _pending(approval, arguments, state)
    return _ended(approval, call, arguments, state)


def can_be_approved(approval: Approval, call: Call) -> bool:
    """Is everything that a yes would be a yes to on the card? Without it there is no Approve, and a
    click that says Approve all the same must be refused."""
    arguments = describe_arguments(approval.requested.args, call.parameters)
    return argument_blocks(arguments, approval.requested.preview)[1]


def _pending(approval: Approval, arguments: Sequence[Argument], state: RunState) -> Message:
    asked, title = approval.requested, title_of(approval)
    shown, is_complete = argument_blocks(arguments, asked.preview)
    wants = f"{name_principal(state.requester)}'s run wants to do this. It has not happened yet."
    above = (
        *shown,
        *notes(arguments, asked.preview),
        *(() if is_complete else (_incomplete(),)),
    )
    buttons = _buttons(approval, title, may_approve=is_complete)
    text = _notification("Approve? ", approval, arguments)
    text += f" · asked for by {name_principal(state.requester)}"
    heading = header(f"{title}?")
    return Message(
        text=text,
        blocks=(heading, section(wants), *above, _small_print(approval, state), buttons),
        announce=Announcement(
            call_out_last(asked.approvers, text),
            (
                heading,
                section(call_out(asked.approvers, wants)),
                *above,
                _small_print(approval, state, is_first=True),
                buttons,
            ),
        ),
        plain=call_out(asked.approvers, _in_plain(approval, arguments, state)),
    )


def _buttons(approval: Approval, title: str, *, may_approve: bool) -> Block:
    approve = button("Approve", APPROVE, approval.id, about=title, style="primary")
    return actions(
        *((approve,) if may_approve else ()),
        button("Deny", DENY, approval.id, about=title, style="danger"),
        button("Steer", STEER, approval.id, about=title),
    )


def _incomplete() -> Block:
    return section(
        "⚠️ *This is too long to be shown in full here, so it can't be approved here.*"
        " It can be denied or steered."
    )


def _small_print(approval: Approval, state: RunState, *, is_first: bool = False) -> Block:
    asked = approval.requested
    until = [mrkdwn(f"until {when(asked.expires_at)}")] if asked.expires_at else []
    return context(
        plain(f"Asked because: {one_line(asked.reason, 500)}"),
        mrkdwn(who_may_decide(asked.approvers, state, is_first=is_first)),
        *until,
        plain(f"Rule: {one_line(asked.rule, 300)}"),
    )


def _ended(
    approval: Approval, call: Call, arguments: Sequence[Argument], state: RunState
) -> Message:
    mark, words, said = _what_became(approval, call, state)
    headline = decided_line(mark, words, approval)
    # What was foreseen is no longer true of a call that was changed.
    preview = None if _steered_args(approval) else approval.requested.preview
    around = (
        header(title_of(approval)),
        section(headline),
        *notes(arguments, preview),
        *said,
        *outcome_blocks(call, approval, state),
    )
    room = min(SHOWN_LIMIT, MESSAGE_LIMIT - weigh(around) - weigh([_SHORTENED]))
    shown, is_complete = argument_blocks(arguments, preview, limit=room, is_over=True)
    text = _notification(decided_text(mark, words, approval), approval, arguments)
    if (after := _steered_args(approval)) is not None:
        text += f" · {_changes_in_words(approval, after, call)}"
    return Message(
        text=text,
        blocks=(*around[:2], *shown, *(() if is_complete else (_SHORTENED,)), *around[2:]),
    )


def _what_became(approval: Approval, call: Call, state: RunState) -> tuple[str, str, list[Block]]:
    """A mark, a word or two, and what else there is to say."""
    decided = approval.decided
    match approval.status:
        case "approved":
            return "✅", "Approved", remark("Note", decided.note if decided else None)
        case "denied":
            reason = remark("Reason", decided.reason if decided else None)
            return "⛔", "Denied", [*reason, section(DID_NOT_HAPPEN)]
        case "steered":
            return "🛞", "Steered", _steered(approval, call)
        case "superseded":
            return (
                "↪︎",
                "Replaced by a newer question below",
                [
                    *_changes(approval, _newer_args(approval, state), call),
                    section(DID_NOT_HAPPEN),
                ],
            )
        case _:
            ending = _ENDINGS.get(state.ending or "", "Its run has ended")
            return "⏹", ending, [section(DID_NOT_HAPPEN)]


def _steered(approval: Approval, call: Call) -> list[Block]:
    if (after := _steered_args(approval)) is not None:
        return _changes(approval, after, call)
    guidance = remark("Guidance", approval.decided.guidance if approval.decided else None)
    return [*guidance, section(DID_NOT_HAPPEN)]


def _steered_args(approval: Approval) -> Mapping[str, JsonValue] | None:
    return approval.decided.args if approval.decided else None


def _changes(approval: Approval, after: Mapping[str, JsonValue], call: Call) -> list[Block]:
    """A row a change: ``Amount: $180.00 → $90.00``."""
    rows = changed_arguments(approval.requested.args, after, call.parameters)[:_CHANGES_LIMIT]
    return [lines([(f"{shorten(title, 60)}: ", change) for title, change in rows])] if rows else []


def _changes_in_words(approval: Approval, after: Mapping[str, JsonValue], call: Call) -> str:
    rows = changed_arguments(approval.requested.args, after, call.parameters)
    return quoted(", ".join(f"{title}: {change}" for title, change in rows), 240)


def _newer_args(approval: Approval, state: RunState) -> Mapping[str, JsonValue]:
    newer = state.approvals.get(approval.superseded_by) if approval.superseded_by else None
    return newer.requested.args if newer else approval.requested.args


def _notification(opening: str, approval: Approval, arguments: Sequence[Argument]) -> str:
    values = escape(summarize(arguments))
    return f"{opening}{title_in_words(approval)}" + (f": {values}" if values else "")


def _in_plain(approval: Approval, arguments: Sequence[Argument], state: RunState) -> str:
    """For where blocks can't be shown: nothing can be approved from what was not seen."""
    asks = f"{title_in_words(approval)}? {name_principal(state.requester)}'s run wants to do this. It has not happened yet."
    values = "; ".join(f"{one.title}: {one.text}" for one in arguments)
    if approval.requested.preview is None and len(values) <= _PLAIN_LIMIT:
        return (
            f"{asks} {quoted(values, 4 * _PLAIN_LIMIT)}. Whoever may decide writes here, as the whole"
            f" message: `@Pilothouse approve {approval.id}` or `@Pilothouse deny {approval.id} reason`."
        )
    return (
        f"{asks} This conversation can't show the question in full; whoever may decide finds it on the"
        f" command line: pilothouse show {state.run_id}, then pilothouse approve {approval.id}, or"
        f" pilothouse deny {approval.id} --reason WHY. To deny it here, write as the whole message:"
        f" `@Pilothouse deny {approval.id} reason`."
    )
