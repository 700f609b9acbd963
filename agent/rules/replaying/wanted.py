"""What people did to a run, once more: would this build have recorded it, of that state?

Whoever decided is taken as the journal knows them: their groups of that time, as far as they could decide. What
was not recorded of them (journals of before) is not held against them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import takewhile

from pydantic import JsonValue

from agent.errors import PilothouseError
from agent.rules.decisions import Answer, Approve, Decider, Decision, Deny, Settle, Steer, decide
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    Event,
    ModelFailed,
    ModelReplied,
    RunReopened,
)
from agent.rules.ids import ApprovalId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    HaltsChanged,
    HistoryTaken,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
)
from agent.rules.judgement import InvalidCall, Judge, Judgement
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.parts import Word
from agent.rules.people import ask_again, delete, edit, hold, resume, say, stop
from agent.rules.state import Approval, RunState

#: A decision is taken a little before it is stamped; the store alone says which came first.
STAMPED_LATER = timedelta(seconds=5)

Decided = ApprovalVoted | ApprovalDecided


def why_not_wanted(state: RunState, event: Event) -> str | None:
    """Why nobody could have done that to a run in this state; None where they could, or it is no
    person's doing."""
    try:
        return None if _wishes(state, event) else "nothing: it is so already"
    except PilothouseError as error:
        return str(error)


def _wishes(state: RunState, event: Event) -> Sequence[Event]:
    match event:
        case MessageReceived(by=by, text=text, ref=ref):
            return say(state, by, text, ref)
        case MessageEdited(ref=ref, text=text, by=by, as_of=as_of):
            return edit(state, by, ref, text, as_of)
        case MessageDeleted(ref=ref, by=by):
            return delete(state, by, ref)
        case RunHeld(by=by):
            return hold(state, by)
        case RunResumed(by=by):
            return resume(state, by)
        case HaltsChanged(halts=halts):
            return [] if state.is_ended or state.stop or state.halts == halts else [event]
        case StopRequested(by=by):
            return stop(state, by)
        case ApprovalAskedAgain(approval_id=approval_id, by=by):
            # Which groups they were in is not written down.
            return ask_again(state, approval_id, Decider(by, authority="operator"))
        case RunReopened():
            return [event] if state.ending == "failed" else []
        case SessionContinued():
            return [event] if state.seq == 1 else []
        case HistoryTaken():
            # A fork goes on with the conversation that its run went on with.
            return [event] if state.seq == (1 if state.past is None else 2) else []
        case ModelReplied() | ModelFailed() | ConversationSummarised():
            return [] if state.is_ended else [event]
        case _:
            return [event]


def decided_again(state: RunState, commit: Sequence[Event], at: datetime) -> tuple[int, str | None]:
    """How many events at the beginning of ``commit`` a decision like the first of them amounts to; or none,
    and what is wrong with it."""
    event = commit[0]
    assert isinstance(event, Decided)
    approval = state.approvals[event.approval_id]
    if why := _who_speaks_for_another(event) or _what_cant_be_granted(state, approval, event):
        return 0, why
    is_known = _is_known(event, state)
    is_unknown_vote = not is_known and isinstance(event, ApprovalVoted)
    if is_unknown_vote or _is_check_of_old(state, approval, event):
        return (1, None) if approval.status == "pending" else (0, "an approval that is open")
    least = _least(approval, event)
    why = None
    for voters in _voters(approval, event, state):
        try:
            expected = _decide(state, approval, commit, voters, at)
        except (PilothouseError, ArithmeticError) as error:
            why = str(error)
            continue
        same = sum(1 for _ in takewhile(_is_same, zip(commit, expected, strict=False)))
        if same == len(expected) or (not is_known and same >= least):
            return same, None
        why = f"{expected[same].kind} as the rules have it"
    return 0, why


def _is_check_of_old(state: RunState, approval: Approval, event: Decided) -> bool:
    """Whether there was a way to look it up was not written down at first."""
    is_check = isinstance(event, ApprovalDecided) and (event.action, event.outcome) == _CHECK
    return is_check and approval.kind == "review" and state.form == 1


_CHECK = ("settle", "check")


def _least(approval: Approval, event: Decided) -> int:
    """So much of it is told by the event alone."""
    is_steer = isinstance(event, ApprovalDecided) and event.args is not None
    is_no_more = isinstance(event, ApprovalDecided) and event.action == "deny"
    is_budget = approval.kind == "budget"
    return 2 if (is_steer and not is_budget) or (is_no_more and is_budget) else 1


def _decide(
    state: RunState,
    approval: Approval,
    commit: Sequence[Event],
    voters: Mapping[Principal, Decider | None],
    at: datetime,
) -> tuple[Event, ...]:
    event = commit[0]
    assert isinstance(event, Decided)
    expires_at = approval.requested.expires_at
    is_close = expires_at is not None and timedelta() <= at - expires_at < STAMPED_LATER
    asked = next((e for e in commit if isinstance(e, ApprovalRequested)), None)
    return decide(
        state,
        approval.id,
        _decision(approval, event),
        _decider(event, state),
        now=expires_at - timedelta.resolution if is_close and expires_at else at,
        judge=_judge(approval, commit),
        next_approval_id=asked.approval_id if asked else ApprovalId(""),
        voters=voters,
    )


def _decision(approval: Approval, event: Decided) -> Decision:
    if isinstance(event, ApprovalVoted):
        return Approve(event.note)
    match event.action:
        case "approve":
            more = None if event.args is None else Decimal(str(event.args.get("more")))
            return Approve(event.note, more)
        case "deny":
            return Deny(event.reason)
        case "steer":
            return Steer(event.args, event.guidance, event.ref)
        case "answer":
            return Answer(event.text or "", event.ref)
        case "settle":
            # What journals of before did not say was that they gave up.
            return Settle(event.outcome or "give_up")


def _judge(approval: Approval, commit: Sequence[Event]) -> Judge:
    """What the policy said then stands right behind it."""

    def judge(tool: str, args: Mapping[str, JsonValue]) -> Judgement:
        match commit[1:2]:
            case [CallJudged(call_id=call_id) as judged] if call_id == approval.requested.call_id:
                return Judgement(
                    tool=tool,
                    title=judged.title,
                    effect=judged.effect,
                    args=judged.args,
                    parameters=judged.parameters,
                    schema_digest=judged.schema_digest,
                    verdict=judged.verdict,
                    can_preview=judged.can_preview,
                    preview_must_match=judged.preview_must_match,
                    is_question=judged.is_question,
                )
        raise InvalidCall({"arguments": "what was changed is judged at once"})

    return judge


def _is_known(word: Word, state: RunState) -> bool:
    """Of old it was not written down why they might."""
    return (
        state.form > 1 or word.authority != "listed" or word.user is not None or bool(word.groups)
    )


def _decider(word: Word, state: RunState) -> Decider:
    authority = word.authority if _is_known(word, state) else "operator"
    return Decider(word.by, word.user, frozenset(word.groups), authority, word.claimed_by)


def _voters(
    approval: Approval, event: Decided, state: RunState
) -> Iterator[Mapping[Principal, Decider | None]]:
    """Those who had voted: as they were then, or in any of the groups by now."""
    left_out = event.not_counted
    words = [vote.voted for vote in approval.votes]
    counted = [word for word in words if word.by not in left_out]
    yield {word.by: _decider(word, state) for word in counted}
    groups = frozenset(approval.approvers.all_groups)
    yield {word.by: Decider(word.by, word.user, groups, word.authority) for word in counted}


def _who_speaks_for_another(word: Word) -> str | None:
    """In Slack the id by which rules name somebody is the end of their name."""
    *_, own = word.by.split(":")
    is_in_slack = word.by.startswith("slack:") and word.user is not None
    if is_in_slack and own != word.user:
        return f"a word of {word.user}'s own"
    kind = word.by.partition(":")[0]
    is_theirs = kind not in _NO_OPERATORS if word.authority == "operator" else kind == "code"
    return None if word.authority == "listed" or is_theirs else f"no word by {word.authority}"


#: These decide by being named, by what is written in the agent's code, or not at all.
_NO_OPERATORS = ("slack", "code", "policy")


def _what_cant_be_granted(state: RunState, approval: Approval, event: Decided) -> str | None:
    if isinstance(event, ApprovalVoted) or event.grant is None:
        return None
    call_id = approval.requested.call_id
    verdict = state.call(call_id).verdict if call_id is not None else None
    may = event.action == "approve" and verdict is not None and verdict.granting is not None
    return None if may else "no grant: its rule allows none"


def _is_same(both: tuple[Event, Event]) -> bool:
    return _plain(both[0]) == _plain(both[1]) and _wait_as_long(*both)


def _wait_as_long(found: Event, expected: Event) -> bool:
    """Whatever the moment from which it was counted."""
    times = [one.expires_at for one in (found, expected) if isinstance(one, ApprovalRequested)]
    match [time for time in times if time is not None]:
        case [one, other]:
            return abs(one - other) < 2 * STAMPED_LATER
        case known:
            return not known


def _plain(event: Event) -> Event:
    """Without what is added to it apart, was not recorded of old, or is counted from a moment before."""
    match event:
        case ApprovalDecided(action=action, outcome=outcome):
            given = outcome or ("give_up" if action == "settle" else None)
            return event.model_copy(update={**_NO_WORD, "grant": None, "outcome": given})
        case ApprovalVoted():
            return event.model_copy(update=_NO_WORD)
        case ApprovalRequested():
            return event.model_copy(update={"expires_at": None})
        case _:
            return event


_NO_WORD: Mapping[str, object] = {
    name: field.default for name, field in Word.model_fields.items() if name != "by"
}
