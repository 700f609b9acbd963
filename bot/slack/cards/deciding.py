"""What the cards of all kinds of approval share: who decided, and what came of it."""

from __future__ import annotations

from agent.rules.events import Approvers
from agent.rules.json_text import dump_text
from agent.rules.state import Approval, Call, RunState
from bot.slack.cards.blocks import Block, context, mrkdwn, plain, section
from bot.slack.cards.mentions import mention_deciders, when
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import one_line, quoted
from bot.slack.cards.votes import name_deciders

DID_NOT_HAPPEN = "It did not happen."
_MAY_HAVE_HAPPENED = "It had been started before, and its answer was lost: it may have happened. It was not run again."
_ENDINGS = {
    "finished": "Its run has finished",
    "failed": "Its run has failed",
    "cancelled": "Its run was stopped",
}


def call_out(approvers: Approvers, question: str) -> str:
    """The question with the mentions of those who may decide before it."""
    mentions = mention_deciders(approvers)
    return f"{mentions}: {question}" if mentions else question


def call_out_last(approvers: Approvers, text: str) -> str:
    """The same for a notification: a locked phone shows only its beginning."""
    mentions = mention_deciders(approvers)
    return f"{text} · {mentions}" if mentions else text


def decided_line(mark: str, words: str, approval: Approval) -> str:
    """``✅ *Approved* by @Bob · today 13:07``"""
    if approval.decided is None or approval.decided_at is None:
        return f"{mark} *{words}*"
    return f"{mark} *{words}* by {name_deciders(approval)} · {when(approval.decided_at)}"


def decided_text(mark: str, words: str, approval: Approval) -> str:
    """The same for a notification, which tells the time itself."""
    by = f" by {name_deciders(approval)}" if approval.decided else ""
    return f"{mark} {words}{by}: "


def not_decided_words(approval: Approval, state: RunState) -> tuple[str, str]:
    """A mark and why nobody has to decide it any more: replaced, or its run has ended."""
    if approval.status == "superseded":
        return "↪︎", "Replaced by a newer question below"
    if state.reopened and (approval.superseded_by is not None or not state.is_ended):
        below = ": asked again below" if approval.superseded_by else ", and was taken on again"
        return "↪︎", f"Its run had failed{below}"
    return "⏹", _ENDINGS.get(state.ending or "", "Its run has ended")


def not_done(call: Call) -> Block:
    """Of a call that people ended: a lost answer is no proof that nothing happened."""
    return section(_MAY_HAVE_HAPPENED if call.attempts else DID_NOT_HAPPEN)


def outcome_blocks(call: Call, approval: Approval, state: RunState) -> list[Block]:
    """What came of the call, once it is known; only at the newest card of its kind."""
    same = [a for a in state.approvals.values() if a.requested.call_id == call.id]
    if [a.id for a in same if a.kind == approval.kind][-1:] != [approval.id]:
        return []
    if call.status == "unknown" and approval.kind == "call":
        return [section("We can't tell whether it happened. People are asked below.")]
    if call.result is None or call.ended_at is None:
        return []
    at = when(call.ended_at)
    match call.result.outcome:
        case "ok":
            external_id = call.receipt.external_id if call.receipt else None
            done = mrkdwn(f"Done {at}")
            return (
                [context(done, plain(one_line(external_id, 200)))]
                if external_id
                else [context(done)]
            )
        case "error":
            said = {
                "rejected": f"Failed {at}. Nothing was done.",
                "unknown": f"No answer {at}. We can't tell whether it happened.",
            }.get(call.receipt.status if call.receipt else "", f"Failed {at}.")
            return [section(said), *remark("What it said", _as_text(call.result.output))]
        case "refused":
            return [section(DID_NOT_HAPPEN), *remark("Why not", _as_text(call.result.output))]
        case "happened" if approval.kind == "call":
            return [context(mrkdwn(f"It happened, {at}: a person confirmed it."))]
        case "given_up" if approval.kind == "call":
            return [section("Nobody could tell whether it happened.")]
        case _:
            return []


def title_of(approval: Approval) -> str:
    """The tool's human title, or its name."""
    return one_line(approval.requested.title or approval.requested.tool, 120)


def title_in_words(approval: Approval) -> str:
    """The same, for mrkdwn."""
    return quoted(approval.requested.title or approval.requested.tool, 120)


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else dump_text(output)
