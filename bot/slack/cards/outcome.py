"""What came of a call, said on the card of whoever decided it: also that nothing has, or that nobody knows."""

from __future__ import annotations

from typing import Literal

from agent.rules.calls import Call, CallResult
from agent.rules.json_text import dump_text
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from agent.rules.waiting import waits_for_resume
from bot.slack.cards.blocks import Block, context, mrkdwn, plain, section
from bot.slack.cards.mentions import mention_each_decider, those_asked, when
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import one_line

Fate = Literal["done", "not_known", "not_done"]

DID_NOT_HAPPEN = "It did not happen."
_DID_HAPPEN = "It had been started before, and did happen."
_MAY_HAVE_HAPPENED = "It had been started before, and its answer was lost: it may have happened. It was not run again."
_NOBODY_KNOWS = "It had been started. Nobody knows whether it happened."
_CAN_NOT_GO_ON = "It has not happened yet: its run can't go on. Its first message says why."
_AFTER_ALL = "It did happen: its answer came late."
_ENDED = {
    "finished": "its run has finished",
    "failed": "its run has failed",
    "cancelled": "its run was stopped",
}
_WHY_LIMIT = 300
_NAMES_LIMIT = 5


def not_done(call: Call) -> Block:
    """Of a call that people ended: a lost answer is no proof that nothing happened."""
    if has_happened(call):
        return section(_DID_HAPPEN)
    return section(_MAY_HAVE_HAPPENED if is_not_known(call) else DID_NOT_HAPPEN)


def has_happened(call: Call) -> bool:
    """Is it known that its effect is there, whatever its result says? Not where that is the outside system's own
    word that it failed."""
    is_there = call.receipt is not None and call.receipt.status == "committed"
    return is_there and not call.says_failed


def outcome_blocks(
    call: Call, approval: Approval, state: RunState, *, is_blocked: bool = False
) -> list[Block]:
    """What came of the call, as far as it is known; only at the newest card of its kind. ``is_blocked``: nobody
    takes its run on."""
    same = [a for a in state.approvals.values() if a.requested.call_id == call.id]
    if [a.id for a in same if a.kind == approval.kind][-1:] != [approval.id]:
        return []
    if call.result is not None and call.ended_at is not None:
        return _came_of_it(call, call.result, approval, when(call.ended_at))
    if not _is_to_be_carried_out(approval):
        return []
    is_left = is_blocked and call.status in ("proposed", "ready", "asking")
    return _not_ended(call, state) or ([section(_CAN_NOT_GO_ON)] if is_left else [])


def _is_to_be_carried_out(approval: Approval) -> bool:
    is_changed = approval.decided is not None and approval.decided.args is not None
    return approval.kind == "call" and (approval.status == "approved" or is_changed)


def _not_ended(call: Call, state: RunState) -> list[Block]:
    """Of a call without a result. Nothing while it simply goes on: its result follows at once."""
    ended = _ENDED[state.ending] if state.ending else None
    match call.status:
        case "unknown":
            return [
                section(f"We can't tell whether it happened. {_who_is_asked(call, state)} below.")
            ]
        case "started" if ended or call.attempts > 1:
            return [section(_NOBODY_KNOWS if ended else "It was started again.")]
        case "started":
            return []
    if is_not_known(call):
        return [section(_NOBODY_KNOWS)]
    if ended:
        return [section(f"It has not happened: {ended}.")]
    if waits_for_resume(state, call):
        return [section("It has not happened yet: its run is paused. It goes on with Resume.")]
    if call.again_because:
        why = f"It has not happened. It is to be asked again, because: {call.again_because}"
        return [context(plain(one_line(why, _WHY_LIMIT)))]
    if call.attempts or state.reopened:
        return [section("It has not happened yet. It is taken on again.")]
    return []


def _who_is_asked(call: Call, state: RunState) -> str:
    """``@finance is asked``; edited in, it rings nobody."""
    asked = state.approvals.get(call.approval_id) if call.approval_id else None
    if asked is None or asked.kind != "review":
        return "People are asked"
    who = mention_each_decider(those_asked(asked.approvers, state.requesters))
    if not who:
        return "The operator is asked"
    more = ["others"] if len(who) > _NAMES_LIMIT else []
    return f"{join_words([*who[:_NAMES_LIMIT], *more])} {'is' if len(who) == 1 else 'are'} asked"


def fate_of(call: Call) -> Fate:
    """Is its effect there? Of what is still running nobody knows yet."""
    outcome = call.result.outcome if call.result else None
    if call.status in ("started", "unknown"):
        return "not_known"
    if outcome in ("ok", "happened") or has_happened(call):
        return "done"
    return "not_known" if outcome == "given_up" or is_not_known(call) else "not_done"


def is_not_known(call: Call) -> bool:
    """Was it started, and is it not known what came of it? Also where it has a result by now."""
    is_open = call.receipt is None or call.receipt.status == "unknown"
    return call.attempts > 0 and call.effect != "read" and is_open


def _came_of_it(call: Call, result: CallResult, approval: Approval, at: str) -> list[Block]:
    match result.outcome:
        case "ok":
            return [_with_external_id(f"Done {at}", call)]
        case "error" | "given_up" if has_happened(call):
            return [_with_external_id(_AFTER_ALL, call)]
        case "error":
            return _failed(call, result, at)
        case "dry_run":
            return [section(f"{DID_NOT_HAPPEN} A dry run carries nothing out.")]
        case "refused":
            return [not_done(call), *remark("Why not", _as_text(result.output))]
        case "cancelled":
            return [section("It was cut off when the run was stopped. It changed nothing.")]
        case "happened" if approval.kind == "call":
            return [context(mrkdwn(f"It happened, {at}: a person confirmed it."))]
        case "given_up" if approval.kind == "call":
            return [section("Nobody could tell whether it happened.")]
        case _:
            return []


def _failed(call: Call, result: CallResult, at: str) -> list[Block]:
    said = _as_text(result.output)
    match call.receipt.status if call.receipt else None:
        case "unknown":
            words = f"No answer, {at}. Nobody knows whether it happened."
            return [section(words), *remark("What is known", said)]
        case "rejected" if said == DID_NOT_HAPPEN:
            return [section(f"It did not happen: looked up {at}.")]
        case "rejected":
            return [section(f"Failed {at}. Nothing was done."), *remark("What it said", said)]
        case _:
            return [section(f"Failed {at}."), *remark("What it said", said)]


def _with_external_id(words: str, call: Call) -> Block:
    external_id = call.receipt.external_id if call.receipt else None
    return context(mrkdwn(words), *([plain(one_line(external_id, 200))] if external_id else []))


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else dump_text(output)
