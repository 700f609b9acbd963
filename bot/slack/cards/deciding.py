"""What the cards of all kinds of approval share: who may decide, who did, what came of it."""

from __future__ import annotations

from agent.rules.events import Approvers, dump_text
from agent.rules.state import Approval, Call, RunState
from bot.slack.cards.blocks import Block, apart, context, mrkdwn, plain, section
from bot.slack.cards.mentions import mention_deciders, name_decider, name_principal, when
from bot.slack.cards.text import one_line, quoted, shorten, show

DID_NOT_HAPPEN = "It did not happen."
_REMARK_LIMIT = 700


def who_may_decide(approvers: Approvers, state: RunState, *, is_first: bool = False) -> str:
    """By name in the first post, which rings them anyway; later in words that ring nobody."""
    if not approvers.users and not approvers.groups:
        return "only the operator, on the command line"
    but = "" if approvers.requester else f", not {name_principal(state.requester)}"
    return f"any 1 of {mention_deciders(approvers) if is_first else 'those asked'}{but}"


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
    decided, at = approval.decided, approval.decided_at
    if decided is None or at is None:
        return f"{mark} *{words}*"
    return f"{mark} *{words}* by {name_decider(decided)} · {when(at)}"


def decided_text(mark: str, words: str, approval: Approval) -> str:
    """The same for a notification, which tells the time itself."""
    by = f" by {name_decider(approval.decided)}" if approval.decided else ""
    return f"{mark} {words}{by}: "


def remark(label: str, text: str | None) -> list[Block]:
    """What a person wrote, quoted; nothing when they wrote nothing."""
    if not text or not text.strip():
        return []
    return [apart(label, shorten(show(text[:40_000]).text, _REMARK_LIMIT), "rich_text_quote")]


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
