"""A question as it stands in somebody's Home tab: in a short form.

What that does not show in full is not approved there: it says where the rest is, and is approved on its card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from agent.rules.dry_run import is_of_a_dry_run
from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import deciding_buttons, not_foreseen
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes, summarize
from bot.slack.cards.blocks import Block, Room, bold, context, mrkdwn, plain, room_of, section
from bot.slack.cards.budget import budget_buttons
from bot.slack.cards.deciding import title_of
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.expired import silence_blocks, silence_words
from bot.slack.cards.limits import limit_lines
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.question import answer_buttons, asked_blocks, question_of, who_may_answer
from bot.slack.cards.remarks import remark
from bot.slack.cards.review import settling_buttons
from bot.slack.cards.said_since import said_since_blocks
from bot.slack.cards.shortened import fitted
from bot.slack.cards.tainted import tainted_blocks
from bot.slack.cards.text import one_line, quoted
from bot.slack.cards.together import TITLE_LIMIT, VOTES_ROOM, WHY_LIMIT
from bot.slack.cards.votes import small_print, vote_blocks, votes_in_words
from bot.slack.ids import ANSWER

#: Of what is asked, in one question's short form.
_SHOWN_ROOM: Final = Room(1_500, 8)
#: The same of what does not fit in there.
_EXCERPT_ROOM: Final = Room(600, 5)
VALUES_LIMIT: Final = 160
_DETAIL_LIMIT: Final = 300
_NOT_ALL_OF_IT: Final = "⚠️ *This is not all of it, so it can't be approved here.* View all shows more of it; it is approved on its card{}."


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that waits, and where this person can look at its card."""

    approval: Approval
    state: RunState
    url: str | None = None
    #: Links to what people wrote in its run's thread, by its refs.
    words_at: Mapping[str, str] = field(default_factory=dict)


def question_in_short(asked: Asked) -> list[Block]:
    """With the buttons of its card."""
    approval, state = asked.approval, asked.state
    if approval.status != "pending":
        return _undecided(asked)
    match approval.kind:
        case "call":
            return _call(asked)
        case "question":
            return _agents_question(asked)
        case "review":
            return _review(asked)
        case "budget":
            return [
                bold("Go on?"),
                section(quoted(approval.requested.reason, WHY_LIMIT)),
                *_said(asked),
                context(mrkdwn(_whose(asked)), small_print(approval, state)),
                budget_buttons(approval),
            ]
        case _:
            assert_never(approval.kind)


def _call(asked: Asked) -> list[Block]:
    approval, state = asked.approval, asked.state
    call = state.call(approval.requested.of_call)
    arguments = describe_arguments(approval.requested.args, call.parameters)
    preview = approval.requested.preview
    shown, is_complete = argument_blocks(arguments, preview, room=_SHOWN_ROOM)
    where = f", {link('which is here', asked.url)}" if asked.url else ""
    rest = [] if is_complete else [section(_NOT_ALL_OF_IT.format(where))]
    shown = shown if is_complete else fitted(shown, _EXCERPT_ROOM)
    because = plain(f"Asked because: {one_line(approval.requested.reason, WHY_LIMIT)}")
    good_for = call.verdict.valid_for if call.verdict else None
    buttons = deciding_buttons(
        approval, call, arguments, is_complete=is_complete, may_approve=is_complete
    )
    return [
        bold(f"{one_line(title_of(approval), TITLE_LIMIT)}?"),
        *_said(asked),
        *_again(approval),
        *shown,
        *notes(arguments, preview),
        *not_foreseen(approval, call),
        *tainted_blocks(call),
        *rest,
        *_votes(approval, state),
        context(
            mrkdwn(_whose(asked)),
            because,
            *limit_lines(approval, call, state),
            small_print(approval, state, good_for=good_for),
        ),
        buttons,
    ]


def _said(asked: Asked) -> list[Block]:
    # A Home tab is nobody's conversation.
    return said_since_blocks([asked.approval], asked.state, asked.words_at, with_words=False)


def _again(approval: Approval) -> list[Block]:
    why = approval.requested.again_because
    return [context(plain(f"Asked again because: {one_line(why, WHY_LIMIT)}"))] if why else []


def _votes(approval: Approval, state: RunState) -> list[Block]:
    told = vote_blocks(approval, state)
    if not told or VOTES_ROOM.holds(room_of(told)):
        return told
    return [context(mrkdwn(votes_in_words(approval, state)))]


def _agents_question(asked: Asked) -> list[Block]:
    approval, state = asked.approval, asked.state
    buttons = answer_buttons(approval)
    for one in buttons:
        # Option 0 is to write an answer: what is numbered otherwise is an option.
        if one["action_id"] == ANSWER:
            one["action_id"] = f"{ANSWER}:0"
    return [
        bold(f"{_plain_name(state)} asks:"),
        *asked_blocks(approval),
        *_said(asked),
        context(mrkdwn(_whose(asked)), *who_may_answer(approval, state)),
        {"type": "actions", "elements": buttons},
    ]


def _plain_name(state: RunState) -> str:
    return f"A run of {state.agent}"


def _review(asked: Asked) -> list[Block]:
    approval, state = asked.approval, asked.state
    call = state.call(approval.requested.of_call)
    arguments = describe_arguments(approval.requested.args, call.parameters)
    shown, is_complete = argument_blocks(arguments, room=_SHOWN_ROOM)
    return [
        bold(f"Did this happen? {one_line(title_of(approval), TITLE_LIMIT)}"),
        *_said(asked),
        *(shown if is_complete else fitted(shown, _EXCERPT_ROOM)),
        *notes(arguments),
        *remark("What is known", call.detail, limit=_DETAIL_LIMIT),
        context(mrkdwn(_whose(asked)), small_print(approval, state)),
        settling_buttons(approval, call, is_over=state.is_ended, is_complete=is_complete),
    ]


def _undecided(asked: Asked) -> list[Block]:
    approval, state = asked.approval, asked.state
    words = f"⏳ {silence_words(approval)}: {quoted(in_short(approval, state), VALUES_LIMIT)}"
    about = in_short(approval, state)
    return [
        section(words),
        context(mrkdwn(_whose(asked))),
        *silence_blocks(approval, state, about=one_line(about, TITLE_LIMIT)),
    ]


def in_short(approval: Approval, state: RunState) -> str:
    """What was asked, as data on one line."""
    asked = approval.requested
    if approval.kind == "question":
        return question_of(approval)
    if asked.call_id is None:
        return asked.reason
    arguments = describe_arguments(asked.args, state.call(asked.call_id).parameters)
    values = summarize(arguments)
    return f"{title_of(approval)}: {values}" if values else title_of(approval)


def _whose(asked: Asked) -> str:
    who = f"for {name_principal(asked.state.requester)} · {when(asked.approval.requested_at)}"
    who = f"{DRY_RUN_IN_PLAIN} · {who}" if is_of_a_dry_run(asked.approval, asked.state) else who
    return f"{who} · {link('its card', asked.url)}" if asked.url else who


def link(words: str, url: str | None) -> str:
    """The words alone, where it is not known where they lead."""
    return f"<{url}|{words}>" if url else words
