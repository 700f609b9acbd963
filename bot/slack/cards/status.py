"""The thread's first message: what was asked, how far it is, what it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from agent.rules.ids import ApprovalId
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from agent.rules.usage import is_all_counted
from agent.rules.waiting import paused, waited_for
from bot.slack.cards.blocks import (
    BUTTON_LIMIT,
    Block,
    actions,
    button,
    context,
    lines,
    mrkdwn,
    plain_section,
    section,
)
from bot.slack.cards.calls import BELOW, call_rows
from bot.slack.cards.dry_run import DRY_RUN, DRY_RUN_IN_PLAIN
from bot.slack.cards.durations import duration
from bot.slack.cards.halted import halt_blocks, halted_in_short
from bot.slack.cards.interrupted import paused_words, stopped_words
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.question import whom_it_asks
from bot.slack.cards.remarks import remark
from bot.slack.cards.running import running, running_words
from bot.slack.cards.text import beginning, one_line, quoted, shorten, show
from bot.slack.cards.votes import who_may_decide
from bot.slack.ids import RUN_HOLD, RUN_RESUME, RUN_RETRY, RUN_STOP

_PROMPT_LIMIT = 300
_NAME_LIMIT = 40
_A_CENT = Decimal("0.01")


def status_message(
    state: RunState,
    blocked: Mapping[str, str] | None = None,
    cards_at: Mapping[ApprovalId, str] | None = None,
    *,
    names_agent: bool = False,
) -> Message:
    """The status as it is to stand now. ``blocked`` says why nobody takes the run on (``message`` and
    ``fix``), where that is so; ``cards_at`` where those cards are that are not below; with ``names_agent`` it says
    whose run it is. Its first form names nobody who would be rung by it: their cards do that, and they are named once
    it stands there."""
    mark, words = ("!", "Can't go on") if blocked else _how_far(state)
    who = f"for {name_principal(state.requester)}"
    who = f"{quoted(state.agent, _NAME_LIMIT)} · {who}" if names_agent else who
    dry = f"{DRY_RUN_IN_PLAIN} · " if state.is_dry_run else ""
    text = f"{mark} {dry}{quoted(state.prompt, _PROMPT_LIMIT)} · {who}"
    text += f" · {words}" if words else ""
    rows = [
        *call_rows(state, cards_at or {}, is_blocked=blocked is not None),
        *_budget_row(state, cards_at or {}),
        *_summary_row(state),
    ]
    heading = _heading(state, mark, who)
    whole = (*heading, *_blocks(state, blocked, words, rows, names_deciders=True))
    first = (*heading, *_blocks(state, blocked, words, rows, names_deciders=False))
    return Message(text, whole, Announcement(text, first, is_complete=first == whole))


def _budget_row(state: RunState, cards_at: Mapping[ApprovalId, str]) -> list[tuple[str, str]]:
    """It is no call's, and people look for its card all the same."""
    asked = [one for one in state.open_approvals if one.kind == "budget"]
    places = [cards_at.get(one.id, BELOW) for one in asked]
    return [("", f"⏸ Go on? · {where}" if where else "⏸ Go on?") for where in places]


def _heading(state: RunState, mark: str, who: str) -> tuple[Block, ...]:
    prompt = shorten(show(beginning(state.prompt, 40_000)).text, _PROMPT_LIMIT)
    return (
        plain_section(f"{mark} {prompt}"),
        context(mrkdwn(f"{who} · started {when(state.started_at)}")),
        *([section(DRY_RUN)] if state.is_dry_run else []),
    )


def _summary_row(state: RunState) -> list[tuple[str, str]]:
    """It is no call's either, and takes as long as an answer of the model."""
    is_due = state.summing is not None and not state.is_ended and state.stop is None
    return [("", f"▶︎ {SUMMING_UP}")] if is_due else []


SUMMING_UP = "Summing up the conversation so far"


def _blocks(
    state: RunState,
    blocked: Mapping[str, str] | None,
    words: str,
    rows: Sequence[tuple[str, str]],
    *,
    names_deciders: bool,
) -> tuple[Block, ...]:
    return (
        *((lines(rows),) if rows else ()),
        *_why_blocked(blocked),
        *(_waited_for(state) if names_deciders else ()),
        *halt_blocks(state),
        *_foot(state, words),
        *_running_on(state),
        *_reason(state),
        *run_buttons(state),
    )


def _why_blocked(blocked: Mapping[str, str] | None) -> list[Block]:
    """What stands in the way, and how it is mended."""
    if blocked is None:
        return []
    return [plain_section(f"Can't go on: {blocked['message']} {blocked['fix']}")]


def _how_far(state: RunState) -> tuple[str, str]:
    match state.ending:
        case "finished":
            return ("⏹", "Ended: nothing was done") if _did_nothing(state) else ("✓", "Done")
        case "failed":
            return "✗", "Failed"
        case "cancelled":
            return "⏹", stopped_words(state.stop) if state.stop else "Stopped"
        case None if state.stop is not None:
            words = stopped_words(state.stop)
            return "⏹", f"{words}; what had begun is waited for" if running(state) else words
        case None if state.held is not None:
            return "⏸", paused_words(state.held)
        case None:
            if any(not halt.call_ids for halt in state.halts):
                return "⏸", halted_in_short(state)
            if any(call.status == "started" for call in state.open_calls):
                return "▶︎", ""
            waits = what_it_waits_for(state) or (halted_in_short(state) if state.halts else "")
            return ("⏸", waits) if waits else ("▶︎", "")


def how_far_in_words(state: RunState) -> str:
    """``Done``, ``Paused by @Bob``; empty while it is at work."""
    _, words = _how_far(state)
    return words


def what_it_waits_for(state: RunState) -> str:
    """What of people, in words; empty where it waits for nobody."""
    kinds = {approval.kind for approval in state.open_approvals}
    if not kinds:
        is_silent = any(is_to_be_asked_again(state, one) for one in state.approvals.values())
        return "nobody decided in time" if is_silent else ""
    return "waiting for an answer" if kinds == {"question"} else "waiting for a decision"


def _did_nothing(state: RunState) -> bool:
    """Was everything that would have had an effect refused or denied?"""
    wanted = [
        call.result.outcome
        for call in state.calls.values()
        if call.effect != "read" and not call.is_question and call.result
    ]
    return bool(wanted) and set(wanted) <= {"denied", "guided", "refused", "expired", "dry_run"}


def _foot(state: RunState, words: str) -> list[Block]:
    parts = []
    if state.ended_at is not None:
        parts.append(f"*{words}* · {when(state.ended_at)}")
    elif state.stop is not None or state.held is not None:
        parts.append(f"*{words}*")
    elif state.model_error is not None and state.too_long_in_a_row:
        parts.append("this was too long for the model; it is shortened and tried again")
    elif state.model_error is not None:
        parts.append("the model could not be asked; it is tried again")
    # As of the newest event: a message has no clock.
    parts += _waits(state, state.ended_at or state.updated_at)
    if state.reopened:
        parts.append("taken on again after it had failed")
    if state.summary is not None:
        parts.append("what was before is told to the model in short")
    elif state.cuts:
        parts.append("long results are told to the model in short")
    if state.unpriced:
        parts.append("what it cost is not known")
    elif state.cost_usd:
        parts.append(f"${state.cost_usd:.2f}" if state.cost_usd >= _A_CENT else "under $0.01")
    if state.model_calls:
        parts.append(f"{state.model_calls} model call{'s' if state.model_calls > 1 else ''}")
    if tokens := state.input_tokens + state.output_tokens:
        parts.append(_tokens(tokens))
    if not is_all_counted(state):
        parts.append("what a model request without a reply used is not known")
    parts += _messages(state)
    return [context(mrkdwn(" · ".join(parts)))] if parts else []


def _running_on(state: RunState) -> list[Block]:
    """What neither a pause nor a stop cuts off."""
    is_interrupted = state.held is not None or state.stop is not None
    words = running_words(state) if is_interrupted else ""
    return [context(mrkdwn(f"still {words}"))] if words else []


def _waited_for(state: RunState) -> list[Block]:
    """Who may decide or answer what is open, once for all that wait for the same."""
    if state.stop is not None:
        return []
    who = dict.fromkeys(_for_whom_it_waits(one, state) for one in state.open_approvals)
    return [context(mrkdwn(f"waiting for {'; and for '.join(list(who)[:3])}"))] if who else []


def _for_whom_it_waits(approval: Approval, state: RunState) -> str:
    if approval.kind != "question":
        return who_may_decide(approval.approvers, state)
    return whom_it_asks(approval.approvers, state)


def _tokens(count: int) -> str:
    return f"{count:,} tokens" if count < 10_000 else f"{round(count / 1000):,}k tokens"


def _messages(state: RunState) -> list[str]:
    """How many of the messages to it the agent has heard."""
    unheard = len(state.unseen)
    heard = len(state.said) - unheard
    told = f"{heard} message{'s' if heard > 1 else ''} heard"
    # Nothing hears them any more once it has ended.
    waits = _UNHEARD if state.is_ended else "to be heard next"
    return ([told] if heard else []) + ([f"{unheard} {waits}"] if unheard else [])


_UNHEARD = "not heard: the next run in this conversation is told"


def _reason(state: RunState) -> list[Block]:
    """Why it is paused, in the words of whoever paused it."""
    return remark("Reason", state.held.reason) if state.held and not state.stop else []


def run_buttons(state: RunState) -> list[Block]:
    """None for what is about to end, or has; but what failed can go on."""
    about = one_line(state.prompt, BUTTON_LIMIT)
    if state.ending == "failed":
        return [actions(button("Retry", RUN_RETRY, state.run_id, about=about))]
    if state.is_ended or state.stop is not None:
        return []
    pause = button("Pause", RUN_HOLD, state.run_id, about=about)
    resume = button("Resume", RUN_RESUME, state.run_id, about=about)
    return [
        actions(
            resume if state.held else pause, button("Stop", RUN_STOP, state.run_id, about=about)
        )
    ]


def _waits(state: RunState, until: datetime) -> list[str]:
    """For whom it waited and how long, apart from what nobody decided and from the time in which it was
    paused: neither is the waiting of whoever decided the rest. Of what is still going on: since when."""
    asked = state.approvals.values()
    open_ones = [one for one in asked if _is_waited_for(one, state)]
    decided = [one for one in asked if one.decided is not None]
    open_ids = {one.id for one in open_ones}
    undecided = [one for one in asked if one.decided is None and one.id not in open_ids]
    waits = [
        ("waited", waited_for(state, decided, until), _for_whom(decided)),
        ("waited", waited_for(state, undecided, until), _in_vain(undecided)),
    ]
    if state.held is None:
        waits.append(("paused for", paused(state, until), ""))
    said = [
        f"{how} {duration(long)}{whom}" for how, long, whom in waits if long >= timedelta(seconds=1)
    ]
    if open_ones:
        said.append(f"waiting since {when(min(one.requested_at for one in open_ones))}")
    if state.held is not None and not state.is_ended:
        said.append(f"paused since {when(state.held.at)}")
    return said


def _is_waited_for(approval: Approval, state: RunState) -> bool:
    is_open = approval.status == "pending" and not state.is_ended and state.stop is None
    return is_open or is_to_be_asked_again(state, approval)


def _in_vain(undecided: Iterable[Approval]) -> str:
    is_half = any(approval.votes for approval in undecided)
    return " while too few said yes" if is_half else " while nobody decided"


def _for_whom(decided: Iterable[Approval]) -> str:
    names = {
        name_principal(word.by): None
        for approval in decided
        for word in (*(vote.voted for vote in approval.votes), approval.decided)
        if word is not None
    }
    return f" for {join_words(list(names)[:5])}" if names else ""
