"""The card that asks whether a call may happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import (
    Argument,
    argument_blocks,
    describe_arguments,
    notes,
    summarize,
)
from bot.slack.cards.blocks import (
    CARD_ROOM,
    Block,
    actions,
    button,
    confirmation,
    context,
    header,
    plain,
    room_of,
    section,
)
from bot.slack.cards.deciding import call_out, call_out_last, title_in_words, title_of
from bot.slack.cards.ended import ended_message
from bot.slack.cards.in_full import (
    NOT_THERE,
    FileStanding,
    fits_in_a_file,
    fits_in_slack,
    in_the_file,
    why_no_file,
)
from bot.slack.cards.in_words import how_to_decide, values_in_words
from bot.slack.cards.limits import limit_lines
from bot.slack.cards.mentions import name_principal, those_asked
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.more import more_menu
from bot.slack.cards.pages import fits_in_pages
from bot.slack.cards.shortened import view_all_button
from bot.slack.cards.tainted import tainted_blocks, tainted_in_words
from bot.slack.cards.text import one_line, plainly
from bot.slack.cards.votes import small_print, vote_blocks
from bot.slack.ids import APPROVE, DENY, STEER

_WHY_LIMIT = 200
_IS_ATTACHED = "a file with all of it is being attached"
_NOT_HERE = "so it can't be approved here"


def approval_message(
    approval: Approval,
    call: Call,
    state: RunState,
    *,
    is_blocked: bool = False,
    file: FileStanding = NOT_THERE,
) -> Message:
    """The card as it is to stand now: with what can be done while pending, without it ever after. ``file``: what
    is known of the one with all of it, where one is needed."""
    if approval.status == "pending":
        return _pending(approval, call, state, file)
    return ended_message(approval, call, state, is_blocked=is_blocked)


def can_be_steered_to(approval: Approval, call: Call, args: Mapping[str, JsonValue]) -> bool:
    """Can all be seen that would be done after this change: also what is left as it was?"""
    after = {**approval.requested.args, **args}
    return fits_in_slack(describe_arguments(after, call.parameters))


def _pending(approval: Approval, call: Call, state: RunState, file: FileStanding) -> Message:
    asked, title = approval.requested, title_of(approval)
    approvers = those_asked(approval.approvers, state.requesters)
    arguments = describe_arguments(asked.args, call.parameters)
    wants = f"{name_principal(state.requester)}'s run wants to do this. It has not happened yet."
    heading, called = header(f"{title}?"), section(call_out(approvers, wants))
    again, why = _again(approval), _small_print(approval, call, state)
    foreseen = (*notes(arguments, asked.preview), *not_foreseen(approval, call))
    to_know = (*foreseen, *tainted_blocks(call))
    votes = vote_blocks(approval, state)
    # The button that leads to the rest, and what says so, are needed only where there is not room for all.
    rest = _where_the_rest_is(approval, file, is_paged=False)
    most = deciding_buttons(approval, call, arguments, is_complete=False, may_approve=True)
    around = (heading, called, *again, *to_know, rest, *votes, why, most)
    room = CARD_ROOM - room_of(around)
    shown, is_complete = argument_blocks(arguments, asked.preview, room=room)
    is_paged = is_complete or fits_in_pages(arguments, asked.preview)
    may_approve = is_paged or file.is_there
    buttons = deciding_buttons(
        approval, call, arguments, is_complete=is_complete, may_approve=may_approve
    )
    below = (
        *again,
        *shown,
        *to_know,
        *(() if is_complete else (_where_the_rest_is(approval, file, is_paged=is_paged),)),
        *votes,
        why,
        buttons,
    )
    text = f"Approve? {title_in_words(approval)}"
    text += f": {values}" if (values := plainly(summarize(arguments))) else ""
    text += f" · asked for by {name_principal(state.requester)}"
    return Message(
        text=text,
        blocks=(heading, section(wants), *below),
        announce=Announcement(call_out_last(approvers, text), (heading, called, *below)),
        plain=call_out(approvers, _in_plain(approval, call, state, file)),
    )


def _again(approval: Approval) -> list[Block]:
    """It was asked before: whoever remembers their yes is told why it is not enough."""
    why = approval.requested.again_because
    return [context(plain(f"Asked again because: {one_line(why, _WHY_LIMIT)}"))] if why else []


def not_foreseen(approval: Approval, call: Call) -> list[Block]:
    """Whoever decides must know that the tool would have said what happens, and could not."""
    if approval.requested.preview is not None or approval.id != call.approval_id:
        return []
    if (why := call.preview_error) is None:
        return []
    return [context(plain(f"What will happen could not be said: {one_line(why, _WHY_LIMIT)}"))]


def deciding_buttons(
    approval: Approval,
    call: Call,
    arguments: Sequence[Argument],
    *,
    is_complete: bool,
    may_approve: bool,
) -> Block:
    """What can be done about it: View all where the card does not show it in full, Approve only where something
    does."""
    title, confirm = title_of(approval), None
    if call.verdict is not None and call.verdict.confirm:
        confirm = confirmation("Approve this?", f"{title}: {summarize(arguments)}", "Approve")
    approve = button("Approve", APPROVE, approval.id, about=title, style="primary", confirm=confirm)
    return actions(
        *((approve,) if may_approve else ()),
        button("Deny", DENY, approval.id, about=title, style="danger"),
        button("Steer", STEER, approval.id, about=title),
        *(() if is_complete else (view_all_button(approval),)),
        more_menu(approval, call, may_approve=may_approve),
    )


def _where_the_rest_is(approval: Approval, file: FileStanding, *, is_paged: bool) -> Block:
    """What the card has no room for: whoever decides must know where it is, and may not say yes where it is not."""
    if is_paged:
        return section("⚠️ *This is not all of it.* View all shows it in full.")
    if file.is_there:
        return section(f"⚠️ *This is not all of it.* All of it is {in_the_file(approval)}.")
    view = "It can be denied or steered; View all shows as much as there is room for."
    if not fits_in_a_file(approval):
        return section(f"⚠️ *This is too long to be shown in full here, {_NOT_HERE}.* {view}")
    if file.refused is None:
        return section(f"⚠️ *This is not all of it, {_NOT_HERE} yet:* {_IS_ATTACHED}. {view}")
    return section(f"⚠️ *This is not all of it, {_NOT_HERE}:* {why_no_file(file.refused)} {view}")


def _small_print(approval: Approval, call: Call, state: RunState) -> Block:
    asked = approval.requested
    rule = gist_of(asked.rule)
    return context(
        plain(f"Asked because: {one_line(asked.reason, 400)}"),
        *limit_lines(approval, call, state),
        small_print(approval, state, good_for=call.verdict.valid_for if call.verdict else None),
        # Without a reason of its own a rule is its reason.
        *([plain(f"Rule: {one_line(rule, 200)}")] if rule not in asked.reason else []),
    )


def gist_of(rule: str) -> str:
    """What it is about, of all that it demands; the menu's explanation has the rest."""
    return rule.partition("; ")[0]


def _in_plain(approval: Approval, call: Call, state: RunState, file: FileStanding) -> str:
    """For where blocks can't be shown: nothing can be approved from what was not seen."""
    asks = f"{title_in_words(approval)}? {name_principal(state.requester)}'s run wants to do this. It has not happened yet."
    if tainted := tainted_in_words(call):
        asks = f"{asks} {tainted}"
    if (values := values_in_words(approval, call)) is not None:
        return " ".join(part for part in (asks, values, how_to_decide(approval.id)) if part)
    if file.is_there:
        where = f"All of it is {in_the_file(approval)}."
        return f"{asks} {where} {how_to_decide(approval.id)}"
    return (
        f"{asks} This conversation can't show the question in full; whoever may decide finds it on the"
        f" command line: pilothouse show {state.run_id}, then pilothouse approve {approval.id}, or"
        f" pilothouse deny {approval.id} --reason WHY. To deny it here, write as the whole message"
        f" a mention of me and `deny {approval.id} reason`."
    )
