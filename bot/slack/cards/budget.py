"""The card that asks whether a run that has used what it may is to go on."""

from __future__ import annotations

from decimal import Decimal

from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, actions, button, context, header, mrkdwn, plain, section
from bot.slack.cards.deciding import (
    call_out,
    call_out_last,
    decided_line,
    decided_text,
    not_decided_words,
)
from bot.slack.cards.expired import silence_blocks
from bot.slack.cards.mentions import name_principal, those_asked
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import one_line, quoted
from bot.slack.cards.votes import noted, small_print, vote_blocks
from bot.slack.ids import BUDGET_CONTINUE, BUDGET_STOP

_WHY_LIMIT = 200


def budget_message(approval: Approval, state: RunState) -> Message:
    """The card as it is to stand now: with buttons while it is open."""
    if approval.status == "pending":
        return _pending(approval, state)
    return _ended(approval, state)


def more_in_words(approval: Approval) -> str:
    """What the run may use beyond its budget if somebody lets it go on: ``20 model calls``. Of a decided
    one, as much as was allowed."""
    decided, asked = approval.decided, approval.requested.args
    args = decided.args if decided is not None and decided.args else asked
    amount = Decimal(str(args.get("more", asked["more"])))
    match asked["budget"]:
        case "cost_usd":
            is_exact = amount == round(amount, 2)
            return f"${amount:,.2f}" if is_exact else f"${amount:f}"
        case "tokens":
            return f"{amount:,f} tokens"
        case "minutes":
            return f"{amount:f} min of work"
        case _:
            return f"{amount:f} model call{'s' if amount != 1 else ''}"


def _pending(approval: Approval, state: RunState) -> Message:
    approvers = those_asked(approval.approvers, state.requesters)
    used = quoted(approval.requested.reason, _WHY_LIMIT)
    text = f"Go on? {used} · {name_principal(state.requester)}'s run"
    buttons = budget_buttons(approval)
    return Message(
        text=text,
        blocks=(
            header("Go on?"),
            section(used),
            _small_print(approval, state),
            buttons,
        ),
        announce=Announcement(
            call_out_last(approvers, text),
            (
                header("Go on?"),
                section(call_out(approvers, used)),
                _small_print(approval, state),
                buttons,
            ),
        ),
        plain=call_out(
            approvers,
            f"{text}. Whoever may decide writes here, as the whole message, a mention of me and `approve"
            f" {approval.id}`, or `deny {approval.id}`, and it is stopped.",
        ),
    )


def budget_buttons(approval: Approval) -> Block:
    """The run goes on, or it is stopped."""
    return actions(
        button(
            f"Go on (+{more_in_words(approval)})",
            BUDGET_CONTINUE,
            approval.id,
            about="let the run go on",
            style="primary",
        ),
        button("Stop", BUDGET_STOP, approval.id, about="end the run", style="danger"),
    )


def _small_print(approval: Approval, state: RunState) -> Block:
    asked = approval.requested
    return context(
        mrkdwn(f"for {name_principal(state.requester)}"),
        small_print(approval, state),
        plain(f"Rule: {one_line(asked.rule, _WHY_LIMIT)}"),
    )


def _ended(approval: Approval, state: RunState) -> Message:
    mark, words, said = _what_became(approval, state)
    used = approval.requested.reason
    return Message(
        text=f"{decided_text(mark, words, approval)}{quoted(used, _WHY_LIMIT)}",
        blocks=(
            header("Go on?"),
            section(decided_line(mark, words, approval)),
            context(plain(one_line(used, _WHY_LIMIT))),
            *said,
        ),
    )


def _what_became(approval: Approval, state: RunState) -> tuple[str, str, list[Block]]:
    match approval.status:
        case "approved":
            may = section(f"It may use {more_in_words(approval)} more.")
            return "✅", "Allowed to go on", [may, *_is_paused(state), *noted(approval)]
        case "denied":
            reason = remark("Reason", approval.decided.reason if approval.decided else None)
            return "⏹", "Stopped", reason
        case "expired":
            silence = silence_blocks(approval, state, about="whether the run may go on")
            return *not_decided_words(approval, state), [*vote_blocks(approval, state), *silence]
        case _:
            return *not_decided_words(approval, state), []


def _is_paused(state: RunState) -> list[Block]:
    """That it may go on does not have it go on yet."""
    if state.held is None or state.stop is not None or state.is_ended:
        return []
    return [section("Its run is paused: it goes on with Resume.")]
