"""The menu beside the buttons of a call's card, and why people are asked at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agent.rules.calls import Call
from agent.rules.dry_run import is_of_a_dry_run
from agent.rules.durations import show_duration
from agent.rules.parts import Granting, GrantScope
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, overflow
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.mentions import when
from bot.slack.cards.tainted import tainted_in_words
from bot.slack.cards.text import quoted
from bot.slack.cards.votes import name_those_for_it, votes_in_words, who_may_decide
from bot.slack.ids import MORE, Wish

#: What it says of a grant, by what the grant is for.
WISHES: Final[Mapping[GrantScope, Wish]] = {"run": "approve_run", "thread": "approve_thread"}
_WORDS: Final[Mapping[Wish, str]] = {
    "deny_reason": "Deny with a reason …",
    "approve_note": "Approve with a note …",
    "approve_run": "Approve for this run …",
    "approve_thread": "Approve in this thread until …",
    "why": "Why am I asked?",
}
_REASON_LIMIT = 800


def more_menu(approval: Approval, call: Call, *, may_approve: bool) -> Block:
    """What can be done besides; nothing that the rule does not allow."""
    wishes = _wishes(call, may_approve=may_approve)
    return overflow(MORE, [(_WORDS[wish], f"{wish}|{approval.id}") for wish in wishes])


def granting_of(call: Call) -> Granting | None:
    """The grants that the rule lets people give with their yes to this call."""
    verdict = call.verdict
    # A dry run's yes is for nothing that happens.
    return verdict.granting if verdict and not verdict.dry_run else None


def why_text(approval: Approval, call: Call, state: RunState) -> str:
    """Which rule asks, why, and who may decide: mrkdwn, for one person."""
    asked = approval.requested
    lines = [
        f"*Why “{quoted(asked.title or asked.tool, 120)}” is asked*",
        f"Because: {quoted(asked.reason, _REASON_LIMIT)}",
        f"By this rule: {quoted(asked.rule, _REASON_LIMIT)}",
        f"Who may decide: {who_may_decide(approval.approvers, state)}",
    ]
    if tainted := tainted_in_words(call):
        lines.append(tainted)
    if approval.votes and approval.status == "pending":
        lines.append(f"So far {votes_in_words(approval, state)}: {name_those_for_it(approval)}")
    if asked.again_because:
        lines.insert(1, f"Asked again because: {quoted(asked.again_because, _REASON_LIMIT)}")
    if is_of_a_dry_run(approval, state):
        lines.append(f"{DRY_RUN_IN_PLAIN}: whatever is decided, nothing is carried out")
    if asked.expires_at:
        lines.append(f"Until: {when(asked.expires_at)}")
    if granting := granting_of(call):
        lines.append(f"It may be allowed beforehand: {_how_far(granting)}")
    lines.append(f"Policy version: {quoted(asked.policy_version, 80)} · {approval.id}")
    return "\n".join(lines)


def _wishes(call: Call, *, may_approve: bool) -> Iterator[Wish]:
    yield "deny_reason"
    if may_approve:
        yield "approve_note"
        granting = granting_of(call)
        yield from (WISHES[scope] for scope in (granting.scopes if granting else ()))
    yield "why"


def _how_far(granting: Granting) -> str:
    scopes = " or ".join("this run" if one == "run" else "this thread" for one in granting.scopes)
    longest = f", for {show_duration(granting.longest)} at most" if granting.longest else ""
    return f"for {scopes}{longest}"
