"""The card of several calls of one reply: a section a call, each with its own buttons until it is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.ids import ApprovalId
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import deciding_buttons, not_foreseen
from bot.slack.cards.arguments import (
    argument_blocks,
    describe_arguments,
    is_summary_whole,
    notes,
    summarize,
)
from bot.slack.cards.blocks import (
    Block,
    actions,
    bold,
    button,
    context,
    divider,
    header,
    mrkdwn,
    plain,
    plain_section,
    room_of,
    section,
)
from bot.slack.cards.deciding import (
    call_out,
    call_out_last,
    decided_line,
    decided_text,
    title_of,
)
from bot.slack.cards.dry_run import as_dry_run
from bot.slack.cards.ended import are_changes_shortened, what_became
from bot.slack.cards.in_full import NOT_THERE, FileStanding, in_the_file
from bot.slack.cards.in_words import how_to_decide, values_of_all
from bot.slack.cards.limits import limit_lines
from bot.slack.cards.mentions import name_principal, those_asked
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.numbering import with_number
from bot.slack.cards.outcome import outcome_blocks
from bot.slack.cards.shortened import SHORTENED, fitted, view_all_row
from bot.slack.cards.tainted import tainted_blocks
from bot.slack.cards.text import one_line, plainly, quoted, shorten
from bot.slack.cards.together import TITLE_LIMIT, VOTES_ROOM, WHY_LIMIT, SharedCard, ended_room
from bot.slack.cards.votes import small_print, vote_blocks, votes_in_words
from bot.slack.ids import APPROVE_ALL, DENY_ALL

_VALUES_LIMIT: Final = 240
_NOT_HERE: Final = "it can't be shown in full here."
_ELSEWHERE: Final = (
    "What can't be shown here can be denied here, and is approved on the command line: pilothouse show {}, then"
    " pilothouse approve ID."
)
#: Of the notification, of which a telephone shows a line or two.
_TEXT_LIMIT: Final = 600


def group_message(
    shared: SharedCard,
    state: RunState,
    *,
    is_blocked: bool = False,
    files: Mapping[ApprovalId, FileStanding] | None = None,
) -> Message:
    """The card as it is to stand now. ``is_blocked``: nobody takes the run on; ``files``: what is known of those with
    all of a question, which are needed where this stands in text alone."""
    return as_dry_run(
        _of_all(shared, state, files or {}, is_blocked=is_blocked), shared.members, state
    )


def _of_all(
    shared: SharedCard,
    state: RunState,
    files: Mapping[ApprovalId, FileStanding],
    *,
    is_blocked: bool,
) -> Message:
    below = tuple(_sections(shared, state, is_blocked=is_blocked))
    heading, intro = header(_heading(shared)), _intro(shared, state)
    text = _text(shared, state)
    now = Message(text=text, blocks=(heading, section(intro), *below))
    if not shared.pending:
        return now
    asked = _everybody(shared.pending, state)
    return Message(
        text=text,
        blocks=now.blocks,
        announce=Announcement(
            call_out_last(asked, text), (heading, section(call_out(asked, intro)), *below)
        ),
        plain=call_out(asked, _in_plain(shared, state, files)),
    )


def _heading(shared: SharedCard) -> str:
    every, waiting = len(shared.members), len(shared.pending)
    which = f" · card {shared.number} of {shared.of}" if shared.of > 1 else ""
    if not waiting:
        return f"{every} actions, none left to decide{which}"
    some = f"{waiting} of {every}" if waiting < every else f"{every}"
    return f"{some} actions to decide{which}"


def _intro(shared: SharedCard, state: RunState) -> str:
    who = name_principal(state.requester)
    if not shared.pending:
        return f"{who}'s run wanted to do these."
    if len(shared.pending) < len(shared.members):
        return f"{who}'s run wants to do these. What has buttons has not happened yet."
    return f"{who}'s run wants to do these. None of them has happened yet."


def _text(shared: SharedCard, state: RunState) -> str:
    """What waits, or else what was decided."""
    waiting = shared.pending
    if not waiting:
        ends = [_ended_in_words(one, state) for one in shared.members]
        return _as_many_as_fit(ends)
    told = [_told(one, state.call(one.requested.of_call)) for one in waiting]
    head = f"Approve {len(waiting)} actions?" if len(waiting) > 1 else "Approve?"
    asked_for = f" · asked for by {name_principal(state.requester)}"
    return f"{head} {_as_many_as_fit(told)}{asked_for}"


def _as_many_as_fit(told: Iterable[str]) -> str:
    every, text = list(told), ""
    for number, one in enumerate(every):
        more = f"; and {len(every) - number} more"
        if number and len(text) + len(one) + len(more) > _TEXT_LIMIT:
            return text + more
        text += f"; {one}" if text else one
    return text


def _ended_in_words(approval: Approval, state: RunState) -> str:
    call = state.call(approval.requested.of_call)
    mark, words, _ = what_became(approval, call, state)
    steered_to = approval.decided.args if approval.decided else None
    is_over = approval.status == "steered" and steered_to is None
    told = plainly(_title_and_values(approval, call, steered_to))
    return f"{decided_text(mark, words, approval)}{told}{' · not done' if is_over else ''}"


def _told(approval: Approval, call: Call) -> str:
    return plainly(_title_and_values(approval, call))


def _title_and_values(
    approval: Approval, call: Call, args: Mapping[str, JsonValue] | None = None
) -> str:
    """``args``: what it became, where that is not what was asked."""
    arguments = describe_arguments(args or approval.requested.args, call.parameters)
    values = summarize(arguments)
    title = one_line(title_of(approval), TITLE_LIMIT)
    return shorten(f"{title}: {values}" if values else title, _VALUES_LIMIT)


def _everybody(waiting: Iterable[Approval], state: RunState) -> Approvers:
    """All who may decide any of them, each once."""
    asked = [those_asked(one.approvers, state.requesters) for one in waiting]
    return Approvers(
        users=tuple(dict.fromkeys(user for one in asked for user in one.users)),
        groups=tuple(dict.fromkeys(group for one in asked for group in one.all_groups)),
    )


def _sections(shared: SharedCard, state: RunState, *, is_blocked: bool) -> Iterator[Block]:
    for number, approval in enumerate(shared.members, 1):
        call = state.call(approval.requested.of_call)
        yield divider()
        if approval.status == "pending":
            blocks = _pending(number, approval, call, state)
        else:
            blocks = _ended(number, approval, call, state, is_blocked=is_blocked)
        yield from (with_number(block, number) for block in blocks)
    if len(shared.pending) > 1:
        yield divider()
        yield _all_of_them(shared)


def _all_of_them(shared: SharedCard) -> Block:
    """Each opens a modal that lists what it is about."""
    group, count = shared.members[0].requested.group, len(shared.pending)
    about = "a list of them comes first"
    buttons = actions(
        button(f"Approve all {count}", APPROVE_ALL, group, about=about),
        button(f"Deny all {count}", DENY_ALL, group, about=about, style="danger"),
    )
    return {**buttons, "block_id": shared.name}


def _pending(number: int, approval: Approval, call: Call, state: RunState) -> list[Block]:
    asked = approval.requested
    arguments = describe_arguments(asked.args, call.parameters)
    # A card takes no more calls than it shows in full.
    shown, is_complete = argument_blocks(arguments, asked.preview)
    return [
        bold(f"{number}. {one_line(title_of(approval), TITLE_LIMIT)}?"),
        *shown,
        *notes(arguments, asked.preview),
        *not_foreseen(approval, call),
        *tainted_blocks(call),
        *_votes(approval, state),
        _small_print(approval, call, state),
        deciding_buttons(
            approval, call, arguments, is_complete=is_complete, may_approve=is_complete
        ),
    ]


def _votes(approval: Approval, state: RunState) -> list[Block]:
    """Who has said yes so far; of very many only how many."""
    told = vote_blocks(approval, state)
    if VOTES_ROOM.holds(room_of(told)):
        return told
    return [context(mrkdwn(votes_in_words(approval, state)))]


def _small_print(approval: Approval, call: Call, state: RunState) -> Block:
    asked = approval.requested
    return context(
        plain(f"Asked because: {one_line(asked.reason, WHY_LIMIT)}", WHY_LIMIT + 20),
        *limit_lines(approval, call, state),
        small_print(approval, state, good_for=call.verdict.valid_for if call.verdict else None),
    )


def _ended(
    number: int, approval: Approval, call: Call, state: RunState, *, is_blocked: bool
) -> list[Block]:
    """What it was and what became of it; what people and tools said of it is cut where that is too long."""
    mark, words, said = what_became(approval, call, state)
    line = [
        plain_section(f"{number}. {_title_and_values(approval, call)}"),
        section(decided_line(mark, words, approval)),
    ]
    outcome = outcome_blocks(call, approval, state, is_blocked=is_blocked)
    has_more = not _is_all_told(approval, call) or are_changes_shortened(approval, call, state)
    more = [view_all_row(approval)] if has_more else []
    # One of them is the line above it.
    room = ended_room(approval, state) - room_of([divider()])
    everything = [*line, *said, *outcome, *more]
    if room.holds(room_of(everything)):
        return everything
    besides = [*line, SHORTENED, view_all_row(approval)]
    return [*line, *fitted([*said, *outcome], room - room_of(besides)), *besides[-2:]]


def _is_all_told(approval: Approval, call: Call) -> bool:
    """Does its one line say all that was asked?"""
    asked = approval.requested
    arguments = describe_arguments(asked.args, call.parameters)
    return asked.preview is None and is_summary_whole(arguments, _VALUES_LIMIT - TITLE_LIMIT - 2)


def _in_plain(shared: SharedCard, state: RunState, files: Mapping[ApprovalId, FileStanding]) -> str:
    """For where blocks can't be shown: nothing can be approved from what was not seen."""
    values = values_of_all(shared, state)
    told, is_all_told = [], True
    for number, one in enumerate(shared.members, 1):
        if one.status != "pending":
            continue
        said = values.get(one.id)
        if said is None and files.get(one.id, NOT_THERE).is_there:
            said = f"all of it is {in_the_file(one)}."
        is_all_told = is_all_told and said is not None
        told.append(f"{number}. {_told_shortly(one)} ({one.id}): {said or _NOT_HERE}".strip())
    elsewhere = f" {_ELSEWHERE.format(state.run_id)}"
    return (
        f"{name_principal(state.requester)}'s run wants to do these. None of them has happened yet."
        f" {' '.join(told)} {how_to_decide('ID')}{'' if is_all_told else elsewhere}"
    )


def _told_shortly(approval: Approval) -> str:
    return quoted(title_of(approval), 60)
