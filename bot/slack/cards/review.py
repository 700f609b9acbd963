"""The card that asks whether something happened, when nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes
from bot.slack.cards.blocks import (
    Block,
    Room,
    actions,
    button,
    context,
    header,
    mrkdwn,
    plain,
    section,
)
from bot.slack.cards.deciding import (
    call_out,
    call_out_last,
    decided_line,
    decided_text,
    not_decided_words,
    title_in_words,
    title_of,
)
from bot.slack.cards.mentions import those_asked, when
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.outcome import outcome_blocks
from bot.slack.cards.remarks import remark
from bot.slack.cards.shortened import SHORTENED, view_all_button, view_all_row
from bot.slack.cards.text import one_line
from bot.slack.cards.votes import small_print
from bot.slack.ids import REVIEW_CHECK, REVIEW_GIVE_UP, REVIEW_HAPPENED, REVIEW_NOT_HAPPENED

_NOBODY_KNOWS = "This may have happened. We don't know."
_GIVE_UP = "Give up: nobody can tell, and the agent is told so"
#: What was sent is shown to recognise it, and need not be complete; View all shows it in full.
_SENT_ROOM = Room(6_000, 30)


def review_message(approval: Approval, call: Call, state: RunState) -> Message:
    """The card as it is to stand now."""
    if approval.status == "pending":
        return _pending(approval, call, state)
    return _ended(approval, call, state)


def _pending(approval: Approval, call: Call, state: RunState) -> Message:
    approvers = those_asked(approval.approvers, state.requesters)
    text = f"{title_in_words(approval)}: this may have happened, and we don't know."
    heading = header(f"Did this happen? {title_of(approval)}")
    known, is_complete = _what_is_known(approval, call)
    may = context(small_print(approval, state), mrkdwn(_GIVE_UP))
    buttons = settling_buttons(approval, call, is_over=state.is_ended, is_complete=is_complete)
    return Message(
        text=text,
        blocks=(
            heading,
            section(_NOBODY_KNOWS),
            *known,
            may,
            buttons,
        ),
        announce=Announcement(
            call_out_last(approvers, text),
            (
                heading,
                section(call_out(approvers, _NOBODY_KNOWS)),
                *known,
                may,
                buttons,
            ),
        ),
        plain=call_out(
            approvers,
            f"{text} This conversation can't show more; whoever may decide finds it on the command"
            f" line: pilothouse show {state.run_id}, then pilothouse settle {approval.id}.",
        ),
    )


def _what_is_known(approval: Approval, call: Call) -> tuple[Sequence[Block], bool]:
    """And whether that is all that was sent."""
    arguments = describe_arguments(approval.requested.args, call.parameters)
    sent, is_complete = argument_blocks(arguments, room=_SENT_ROOM)
    at = call.started_at
    # Begun once more since, it is another start than the one that was asked about.
    is_this = at is not None and at <= approval.requested_at
    started = [mrkdwn(f"started {when(at)}")] if at is not None and is_this else []
    known = (
        *sent,
        *([] if is_complete else [SHORTENED]),
        *notes(arguments),
        *remark("What is known", call.detail),
        context(*started, plain(f"operation {one_line(call.operation_id, 100)}")),
    )
    return known, is_complete


def settling_buttons(approval: Approval, call: Call, *, is_over: bool, is_complete: bool) -> Block:
    """None is primary: none is the likelier one. An ended run starts nothing any more."""
    title = title_of(approval)
    check = button("Check again", REVIEW_CHECK, approval.id, about=title)
    run_it = button("It did not happen: run it", REVIEW_NOT_HAPPENED, approval.id, about=title)
    return actions(
        *((check,) if call.can_be_checked else ()),
        button("It happened", REVIEW_HAPPENED, approval.id, about=title),
        *(() if is_over else (run_it,)),
        button("Give up", REVIEW_GIVE_UP, approval.id, about=title),
        *(() if is_complete else (view_all_button(approval),)),
    )


def _ended(approval: Approval, call: Call, state: RunState) -> Message:
    mark, words = _what_became(approval, state)
    headline = decided_line(mark, words, approval)
    known, is_complete = _what_is_known(approval, call)
    return Message(
        text=f"{decided_text(mark, words, approval)}{title_in_words(approval)}",
        blocks=(
            header(title_of(approval)),
            section(headline),
            *known,
            *_is_to_be_run(approval, call, state),
            *outcome_blocks(call, approval, state),
            *(() if is_complete else (view_all_row(approval),)),
        ),
    )


def _is_to_be_run(approval: Approval, call: Call, state: RunState) -> list[Block]:
    """What follows from its not having happened, until more is known."""
    is_wanted = approval.decided is not None and approval.decided.outcome == "not_happened"
    goes_on = state.stop is None and not state.is_ended
    if not (is_wanted and goes_on and call.status in ("proposed", "ready", "asking", "started")):
        return []
    return [section("It is run again." if call.status == "started" else "It is to be run again.")]


def _what_became(approval: Approval, state: RunState) -> tuple[str, str]:
    match approval.decided.outcome if approval.decided else None:
        case "happened":
            return "✅", "It happened: confirmed"
        case "not_happened":
            return "↻", "It did not happen: confirmed"
        case "check":
            return "🔎", "Checked again"
        case "give_up":
            return "⏹", "Given up"
        case _:
            return not_decided_words(approval, state)
