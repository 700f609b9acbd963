"""The Home tab: what waits for a person, their runs, and what was decided lately of theirs.

A question stands here in a short form. What that does not show in full is not approved here: it says where the
rest is, and is approved on its card.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import deciding_buttons, not_foreseen
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes, summarize
from bot.slack.cards.blocks import (
    SECTION_LIMIT,
    Block,
    Room,
    bold,
    context,
    divider,
    header,
    mrkdwn,
    plain,
    room_of,
    section,
)
from bot.slack.cards.budget import budget_buttons
from bot.slack.cards.deciding import title_of
from bot.slack.cards.expired import silence_blocks, silence_words
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.modals import View
from bot.slack.cards.numbering import with_number
from bot.slack.cards.question import answer_buttons, asked_blocks, question_of, who_may_answer
from bot.slack.cards.remarks import remark
from bot.slack.cards.review import settling_buttons
from bot.slack.cards.shortened import fitted
from bot.slack.cards.status import how_far_in_words, run_buttons, what_it_waits_for
from bot.slack.cards.text import one_line, quoted
from bot.slack.cards.together import TITLE_LIMIT, VOTES_ROOM, WHY_LIMIT
from bot.slack.cards.votes import name_deciders, small_print, vote_blocks, votes_in_words
from bot.slack.ids import ANSWER

#: Slack takes no more of them in a view.
BLOCKS_LIMIT: Final = 100
#: So many of each are looked for.
WAITING_SHOWN: Final = 10
RUNS_SHOWN: Final = 6
DECIDED_SHOWN: Final = 8
#: Of what is asked, in one question's short form.
_SHOWN_ROOM: Final = Room(1_500, 8)
#: The same of what does not fit in there.
_EXCERPT_ROOM: Final = Room(600, 5)
#: Of all that waits: a view has a hundred blocks and 250,000 bytes, of which a character may take twelve.
_WAITING_ROOM: Final = Room(14_000, 64)
_VALUES_LIMIT: Final = 160
_PROMPT_LIMIT: Final = 120
_DETAIL_LIMIT: Final = 300

_NOTHING_WAITS: Final = "Nothing waits for you."
_NO_RUNS: Final = "You have no runs yet."
_HOW_TO_START: Final = (
    "To start something: mention me in a channel, write to me directly, or use `/agent` with what is to be done."
    " `/agent help` tells more."
)
_MORE_WAITS: Final = "… and {} more: `/agent pending` lists them."
_MORE_RUNS: Final = "… and older ones: `/agent runs` lists more."
_UNREADABLE: Final = "{} of your runs can't be read by the version that runs now."
_NOT_ALL_OF_IT: Final = "⚠️ *This is not all of it, so it can't be approved here.* View all shows more of it; it is approved on its card{}."
_AS_OF: Final = "As of when you opened this tab, or last clicked here."


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that waits, and where this person can look at its card."""

    approval: Approval
    state: RunState
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """A run of theirs, and where its thread is."""

    state: RunState
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """What one person's Home tab is to show."""

    waiting: Sequence[Asked] = ()
    #: So many more wait than were looked for.
    more_waiting: int = 0
    runs: Sequence[Own] = ()
    has_more_runs: bool = False
    unreadable: int = 0
    decided: Sequence[Asked] = ()
    #: What they must know of what they see.
    remarks: Sequence[str] = ()


def home_view(home: Home, notice: str = "") -> View:
    """The whole tab; ``notice`` is what they are told of what they did last: mrkdwn of our own."""
    told = [section(_fits(notice)), divider()] if notice else []
    shown = list(_questions(home))
    more = home.more_waiting + len(home.waiting) - len(shown)
    waiting = [block for one in shown for block in one]
    blocks = [
        *told,
        header("Waiting for you"),
        *(waiting or [section(_NOTHING_WAITS)]),
        *([context(mrkdwn(_MORE_WAITS.format(more)))] if more else []),
        *(context(mrkdwn(one)) for one in home.remarks),
        header("Your runs"),
        *(_runs(home) or [section(_NO_RUNS)]),
        *_lately(home.decided),
        divider(),
        context(mrkdwn(_HOW_TO_START)),
        context(mrkdwn(_AS_OF)),
    ]
    return {"type": "home", "blocks": blocks}


def plain_home(text: str) -> View:
    """A tab that only says something; ``text`` is mrkdwn of our own."""
    return {"type": "home", "blocks": [section(text)]}


def _fits(text: str) -> str:
    return text if len(text) <= SECTION_LIMIT else text[: SECTION_LIMIT - 1] + "…"


def _questions(home: Home) -> Iterator[list[Block]]:
    """As many as there is room for, from the first."""
    left = _WAITING_ROOM
    for number, asked in enumerate(home.waiting, 1):
        blocks = [*(with_number(one, number) for one in _question(asked)), divider()]
        if not left.holds(room_of(blocks)):
            return
        left -= room_of(blocks)
        yield blocks


def _question(asked: Asked) -> list[Block]:
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
    where = f", {_link('which is here', asked.url)}" if asked.url else ""
    rest = [] if is_complete else [section(_NOT_ALL_OF_IT.format(where))]
    shown = shown if is_complete else fitted(shown, _EXCERPT_ROOM)
    because = plain(f"Asked because: {one_line(approval.requested.reason, WHY_LIMIT)}")
    good_for = call.verdict.valid_for if call.verdict else None
    buttons = deciding_buttons(
        approval, call, arguments, is_complete=is_complete, may_approve=is_complete
    )
    return [
        bold(f"{one_line(title_of(approval), TITLE_LIMIT)}?"),
        *_again(approval),
        *shown,
        *notes(arguments, preview),
        *not_foreseen(approval, call),
        *rest,
        *_votes(approval, state),
        context(mrkdwn(_whose(asked)), because, small_print(approval, state, good_for=good_for)),
        buttons,
    ]


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
        *(shown if is_complete else fitted(shown, _EXCERPT_ROOM)),
        *notes(arguments),
        *remark("What is known", call.detail, limit=_DETAIL_LIMIT),
        context(mrkdwn(_whose(asked)), small_print(approval, state)),
        settling_buttons(approval, call, is_over=state.is_ended, is_complete=is_complete),
    ]


def _undecided(asked: Asked) -> list[Block]:
    approval, state = asked.approval, asked.state
    words = f"⏳ {silence_words(approval)}: {quoted(_in_short(approval, state), _VALUES_LIMIT)}"
    about = _in_short(approval, state)
    return [
        section(words),
        context(mrkdwn(_whose(asked))),
        *silence_blocks(approval, state, about=one_line(about, TITLE_LIMIT)),
    ]


def _in_short(approval: Approval, state: RunState) -> str:
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
    return f"{who} · {_link('its card', asked.url)}" if asked.url else who


def _link(words: str, url: str | None) -> str:
    return f"<{url}|{words}>" if url else words


def _runs(home: Home) -> list[Block]:
    rows = [
        block
        for number, own in enumerate(home.runs, 1)
        for block in (_run(own), *(with_number(one, number) for one in run_buttons(own.state)))
    ]
    if home.has_more_runs:
        rows.append(context(mrkdwn(_MORE_RUNS)))
    if home.unreadable:
        rows.append(context(mrkdwn(_UNREADABLE.format(home.unreadable))))
    return rows


def _run(own: Own) -> Block:
    state = own.state
    words = how_far_in_words(state) or what_it_waits_for(state) or "At work"
    how = f"*{words[:1].upper()}{words[1:]}* · started {when(state.started_at)}"
    where = f" · {_link('its thread', own.url)}" if own.url else ""
    return section(f"{quoted(state.prompt, _PROMPT_LIMIT)}\n{how}{where}")


def _lately(decided: Iterable[Asked]) -> list[Block]:
    rows = [section(_decided(one)) for one in decided]
    return [header("Decided lately"), *rows] if rows else []


def _decided(asked: Asked) -> str:
    approval, state = asked.approval, asked.state
    at = approval.decided_at or approval.requested_at
    what = quoted(_in_short(approval, state), _VALUES_LIMIT)
    where = f" · {_link('its card', asked.url)}" if asked.url else ""
    return f"{_what_was_said(approval)} by {name_deciders(approval)} · {when(at)}{where}\n{what}"


def _what_was_said(approval: Approval) -> str:
    decided = approval.decided
    match decided.action if decided else None:
        case "approve":
            return "✅ *Allowed to go on*" if approval.kind == "budget" else "✅ *Approved*"
        case "deny":
            return _DENIED.get(approval.kind, "⛔ *Denied*")
        case "steer":
            return "🛞 *Steered*"
        case "answer":
            return "✅ *Answered*"
        case _:
            return _SETTLED.get((decided and decided.outcome) or "", "*Decided*")


_DENIED: Final = {"budget": "⏹ *Stopped*", "question": "⛔ *Not answered*"}
_SETTLED: Final = {
    "happened": "✅ *It happened: confirmed*",
    "not_happened": "↻ *It did not happen: confirmed*",
    "check": "🔎 *Checked again*",
    "give_up": "⏹ *Given up*",
}
