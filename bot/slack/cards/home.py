"""The Home tab: what waits for a person, their runs, and what was decided lately of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agent.engine.in_force import FileStanding
from agent.rules.standing import Switch
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import (
    SECTION_LIMIT,
    Block,
    Room,
    context,
    divider,
    header,
    mrkdwn,
    room_of,
    section,
)
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.home_asked import VALUES_LIMIT, Asked, in_short, link, question_in_short
from bot.slack.cards.mentions import when
from bot.slack.cards.modals import View
from bot.slack.cards.numbering import with_number
from bot.slack.cards.policy_file import policy_file_blocks
from bot.slack.cards.status import how_far_in_words, run_buttons, what_it_waits_for
from bot.slack.cards.switches import switches_blocks
from bot.slack.cards.text import quoted
from bot.slack.cards.votes import name_deciders

#: So many of each are looked for.
WAITING_SHOWN: Final = 10
RUNS_SHOWN: Final = 6
DECIDED_SHOWN: Final = 8
#: Of all that waits: a view has a hundred blocks and 250,000 bytes, of which a character may take twelve.
_WAITING_ROOM: Final = Room(14_000, 58)
_PROMPT_LIMIT: Final = 120
_NAME_LIMIT: Final = 40
_ANSWER_LIMIT: Final = 120

_NOTHING_WAITS: Final = "Nothing waits for you."
_NO_RUNS: Final = "You have no runs yet."
_HOW_TO_START: Final = (
    "To start something: mention me in a channel, write to me directly, or use `/agent` with what is to be done."
    " `/agent help` tells more."
)
_MORE_WAITS: Final = "… and {} more: `/agent pending` lists them."
_MORE_RUNS: Final = "… and older ones: `/agent runs` lists more."
_UNREADABLE: Final = "{} of your runs can't be read by the version that runs now."
_AS_OF: Final = "As of when you opened this tab, or last clicked here."


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
    #: Are there several agents, so that each run says which one's it is?
    names_agents: bool = False
    unreadable: int = 0
    decided: Sequence[Asked] = ()
    #: The kill switches that are on; None for whoever may not turn them.
    switches: Sequence[Switch] | None = None
    #: What they must know of what they see.
    remarks: Sequence[str] = ()
    #: For those who own an agent.
    policy_file: FileStanding | None = None


def home_view(home: Home, notice: str = "") -> View:
    """The whole tab; ``notice`` is what they are told of what they did last: mrkdwn of our own."""
    told = [section(_fits(notice)), divider()] if notice else []
    shown = list(_questions(home))
    more = home.more_waiting + len(home.waiting) - len(shown)
    waiting = [block for one in shown for block in one]
    is_nothing = not (waiting or more or home.remarks)
    blocks = [
        *told,
        *policy_file_blocks(home.policy_file),
        header("Waiting for you"),
        *([section(_NOTHING_WAITS)] if is_nothing else waiting),
        *([context(mrkdwn(_MORE_WAITS.format(more)))] if more else []),
        *(context(mrkdwn(one)) for one in home.remarks),
        header("Your runs"),
        *(_runs(home) or [section(_NO_RUNS)]),
        *_lately(home.decided),
        *([] if home.switches is None else switches_blocks(home.switches)),
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
        blocks = [*(with_number(one, number) for one in question_in_short(asked)), divider()]
        if not left.holds(room_of(blocks)):
            return
        left -= room_of(blocks)
        yield blocks


def _runs(home: Home) -> list[Block]:
    rows = list[Block]()
    for number, own in enumerate(home.runs, 1):
        # The buttons of one must not seem to be those of the next.
        rows += [divider()] if rows else []
        run = _run(own, names_agent=home.names_agents)
        rows += [run, *(with_number(one, number) for one in run_buttons(own.state))]
    if home.has_more_runs:
        rows.append(context(mrkdwn(_MORE_RUNS)))
    if home.unreadable:
        rows.append(context(mrkdwn(_UNREADABLE.format(home.unreadable))))
    return rows


def _run(own: Own, *, names_agent: bool) -> Block:
    state = own.state
    words = how_far_in_words(state) or what_it_waits_for(state) or "At work"
    who = f" · {quoted(state.agent, _NAME_LIMIT)}" if names_agent else ""
    dry = f"{DRY_RUN_IN_PLAIN} · " if state.is_dry_run else ""
    how = f"{dry}*{words[:1].upper()}{words[1:]}*{who} · started {when(state.started_at)}"
    where = f" · {link('its thread', own.url)}" if own.url else ""
    return section(f"{quoted(state.prompt, _PROMPT_LIMIT)}\n{how}{where}")


def _lately(decided: Iterable[Asked]) -> list[Block]:
    rows = [section(_decided(one)) for one in decided]
    return [header("Decided lately"), *rows] if rows else []


def _decided(asked: Asked) -> str:
    approval, state = asked.approval, asked.state
    at = approval.decided_at or approval.requested_at
    what = quoted(in_short(approval, state), VALUES_LIMIT)
    where = f" · {link('its card', asked.url)}" if asked.url else ""
    return f"{_what_was_said(approval)} by {name_deciders(approval)} · {when(at)}{where}\n{what}{_answer(approval)}"


def _answer(approval: Approval) -> str:
    decided = approval.decided
    if decided is None or decided.action != "answer" or not decided.text:
        return ""
    return f"\n→ {quoted(decided.text, _ANSWER_LIMIT)}"


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
