"""What people decide, and what follows from it: values in, events out.

The checks stand in the order in which a person is answered: unknown, authority, state, arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import assert_never, get_args

from pydantic import JsonValue

from agent.errors import (
    AlreadyDecided,
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Superseded,
)
from agent.rules.amounts import amount_in_digits, is_amount
from agent.rules.budgets import budget_of, why_not_so_much
from agent.rules.consent import is_good, is_listed, missing
from agent.rules.events import ApprovalDecided, ApprovalVoted, Event
from agent.rules.grants import GrantWish, what_is_no_wish
from agent.rules.ids import ApprovalId, Principal
from agent.rules.interventions import StopRequested
from agent.rules.judgement import Judge
from agent.rules.parts import ApprovalKind, Approvers, Authority, SettleOutcome, Word
from agent.rules.state import Approval, RunState
from agent.rules.steering import NOTHING_CHANGED, steer
from agent.rules.voting import decided, said_yes
from agent.rules.words import WORDS_LIMIT


@dataclass(frozen=True, slots=True)
class Approve:
    """Run the call as it was shown; of a budget, let the run go on, with as much ``more`` as is asked
    for where nothing is said."""

    note: str | None = None
    more: Decimal | int | None = None
    #: Allow others like it too, for a while.
    grant: GrantWish | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """Never run the call; the model is given the reason."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Steer:
    """Change the call's arguments (those given replace, the others stay), or guide the model."""

    args: Mapping[str, JsonValue] | None = None
    guidance: str | None = None
    #: Where the guidance is what somebody has said to the run: where that stands. It is told the model once.
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """Say what became of an unknown effect, or have it checked again."""

    outcome: SettleOutcome


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a question of the agent's: one of its options, or free text where it takes that."""

    text: str
    #: Of the message that says it: where it stands. The same message is known again by it.
    ref: str | None = None


Decision = Approve | Deny | Steer | Settle | Answer


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, with what is needed to tell whether they may."""

    principal: Principal
    #: The id by which rules name them, and the groups that they are in.
    user: str | None = None
    groups: frozenset[str] = frozenset()
    #: ``operator``: whoever holds the database holds it all. ``code``: the agent's own decider.
    authority: Authority = "listed"
    #: Who speaks for ``principal``, when somebody does.
    claimed_by: Principal | None = None

    @property
    def word(self) -> Word:
        """What is recorded of them, with all their groups."""
        return Word(
            by=self.principal,
            claimed_by=self.claimed_by,
            user=self.user,
            groups=tuple(sorted(self.groups)),
            authority=self.authority,
        )


#: Whoever does something to a run: by name, or as one who decides.
By = Principal | Decider


def principal_of(by: By) -> Principal:
    """Who that is, whatever they may decide."""
    return by.principal if isinstance(by, Decider) else by


def why_not(
    approvers: Approvers,
    requesters: Collection[Principal],
    decider: Decider,
    kind: ApprovalKind = "call",
) -> str | None:
    """Why this person may not decide an approval of this kind; None when they may. A question may
    always be answered by whoever asked for the run."""
    word = decider.word
    if word.authority != "listed" or is_listed(approvers, requesters, word):
        return None
    if kind == "question" and word.by in requesters:
        return None
    if is_listed(approvers.model_copy(update={"requester": True}), requesters, word):
        return f"whoever asked for the run may not decide it. {_whom_to_ask(approvers, decider)}"
    return f"you are not among those who may decide this. {_whom_to_ask(approvers)}"


def is_put_to(approval: Approval, requesters: Collection[Principal], decider: Decider) -> bool:
    """May this person decide it, and not as a full member merely? Of what anybody may answer, nobody in
    particular is asked."""
    approvers = approval.approvers.model_copy(update={"members": False})
    return why_not(approvers, requesters, decider, approval.kind) is None


def _whom_to_ask(approvers: Approvers, but_not: Decider | None = None) -> str:
    users = [user for user in approvers.users if but_not is None or user != but_not.user]
    if named := (*users, *approvers.all_groups):
        return f"Ask one of: {', '.join(named)}."
    return "Only the operator may, on the command line."


def decide(
    state: RunState,
    approval_id: ApprovalId,
    decision: Decision,
    decider: Decider,
    *,
    now: datetime,
    judge: Judge,
    next_approval_id: ApprovalId,
    voters: Mapping[Principal, Decider | None] | None = None,
) -> tuple[Event, ...]:
    """The events that the decision amounts to.

    ``judge`` checks steered arguments; ``next_approval_id`` is used if their approval follows at once.
    ``voters`` are those who said yes before, as they are today: whoever is None there, or missing,
    is not counted any more; without it they count as they were when they said it. Raises one of
    ``DecisionRefused``, or ``NotFound``.
    """
    approval = state.approvals.get(approval_id)
    if approval is None:
        raise NotFound("approval", approval_id)
    _must_be_decidable(approval, state, decision, decider, now)
    if approval.kind == "budget":
        return _on_budget(approval, decision, decider.word)
    if not isinstance(decision, Steer):
        return (_word_on_call(state, approval, decision, decider.word, voters, now),)
    asked, word, said = approval.requested, decider.word, _said(decision.guidance)
    if _is_guidance(approval, decision.args, said):
        if decision.ref is not None and said != _said_at(state, decision.ref):
            raise InvalidArgs(approval.id, {"guidance": _SAID_OTHERWISE})
        return (decided(asked, word, action="steer", guidance=said, ref=decision.ref),)
    changes, next_id = decision.args or {}, next_approval_id
    return steer(state, asked, word, changes, now=now, judge=judge, next_approval_id=next_id)


def _word_on_call(
    state: RunState,
    approval: Approval,
    decision: Approve | Deny | Settle | Answer,
    word: Word,
    voters: Mapping[Principal, Decider | None] | None,
    now: datetime,
) -> ApprovalVoted | ApprovalDecided:
    """What leaves the call as it is."""
    asked = approval.requested
    match decision:
        case Approve(more=more) if more is not None:
            raise InvalidArgs(approval.id, {"more": _NO_BUDGET})
        case Approve(note=note):
            return _yes(state, approval, word, _said(note), voters, now)
        case Deny(reason=reason):
            return decided(asked, word, action="deny", reason=_said(reason))
        case Answer(text=text, ref=ref):
            said = _answer(approval, text)
            return decided(asked, word, action="answer", text=said, ref=ref)
        case Settle(outcome=given):
            outcome = _outcome(state, approval, given)
            return decided(asked, word, action="settle", outcome=outcome)
        case _:
            assert_never(decision)


def _must_be_decidable(
    approval: Approval, state: RunState, decision: Decision, decider: Decider, now: datetime
) -> None:
    """By this person, now, and in this way."""
    if why := why_not(approval.approvers, state.requesters, decider, approval.kind):
        raise NotAllowed(approval.id, approval.approvers, why)
    _must_be_open(approval, now)
    if errors := _what_is_no_text(decision):
        raise InvalidArgs(approval.id, errors)
    if approval.kind not in _FITS[type(decision)]:
        raise InvalidArgs(approval.id, {"action": _WRONG_KIND[approval.kind]})


def _is_guidance(
    approval: Approval, args: Mapping[str, JsonValue] | None, guidance: str | None
) -> bool:
    """Guidance, or other arguments? Raises ``InvalidArgs`` for both, and for neither."""
    if args and guidance:
        raise InvalidArgs(approval.id, {"guidance": _BOTH})
    if not args and not guidance:
        raise InvalidArgs(approval.id, {"guidance": NOTHING_CHANGED})
    return not args


def _said_at(state: RunState, ref: str) -> str | None:
    """The words that stand there now, and that no reply of the model has heard."""
    there = (one for one in state.unheard if one.ref == ref and ref not in state.deleted)
    return next((_said(one.text) for one in there), None)


def _on_budget(approval: Approval, decision: Decision, word: Word) -> tuple[Event, ...]:
    """A yes lets the run go on, with as much as was asked for where nothing else is said; a no stops it.
    Raises ``InvalidArgs`` for what would be used up at once."""
    asked, approvers = approval.requested, approval.approvers
    if isinstance(decision, Approve):
        args = {"more": _more(approval, decision.more)}
        note = _said(decision.note)
        return (decided(asked, word, approvers, action="approve", note=note, args=args),)
    reason = _said(decision.reason) if isinstance(decision, Deny) else None
    denied = decided(asked, word, approvers, action="deny", reason=reason)
    return (denied, StopRequested(by=word.by, reason=reason))


def _more(approval: Approval, given: Decimal | int | None) -> JsonValue:
    """Raises ``InvalidArgs`` for what can't be given."""
    asked = approval.requested
    # As much as is asked for stands as it was asked for, also where it is said: 0.5 is 0.50.
    if given is None or Decimal(given) == Decimal(str(asked.args["more"])):
        return asked.args["more"]
    if why := why_not_so_much(asked, Decimal(given)):
        raise InvalidArgs(approval.id, {"more": why})
    return amount_in_digits(budget_of(asked), Decimal(given))


_FITS: Mapping[type[Decision], tuple[ApprovalKind, ...]] = {
    Approve: ("call", "budget"),
    Deny: ("call", "budget"),
    Steer: ("call",),
    Answer: ("question",),
    Settle: ("review",),
}
_WRONG_KIND: Mapping[ApprovalKind, str] = {
    "call": "This is a call: approve, deny or steer it.",
    "question": "This is a question: answer it.",
    "review": "This is an effect that may have happened: settle it.",
    "budget": "This is a budget that is used up: approve it, or deny it and the run is stopped.",
}
_NO_WAY_TO_CHECK = "The tool has no way to look it up; say what happened, or give up."
_NOTHING_RUNS = "Nothing of this run is run any more; say that it happened, or give up."
_NO_BUDGET = "Only a budget is given more."
_BOTH = "Change the values or give guidance, not both."
_SAID_OTHERWISE = "That message reads otherwise by now, was deleted, or has been heard already."


def _what_is_no_text(decision: object) -> dict[str, str]:
    """What can't be a decision at all, whoever made it: by part, as a message."""
    if type(decision) not in _FITS:
        return {"action": "That is no decision: approve, deny, steer, answer or settle."}
    errors = {}
    for name in ("note", "reason", "guidance", "text"):
        said = getattr(decision, name, None)
        if said is not None and not isinstance(said, str):
            errors[name] = "Say it in words."
        elif said is not None and len(said) > WORDS_LIMIT:
            errors[name] = f"Say it in at most {WORDS_LIMIT:,} characters."
    more = getattr(decision, "more", None)
    if more is not None and not is_amount(more):
        errors["more"] = "Say how much more, as a number above nothing."
    if why := what_is_no_wish(getattr(decision, "grant", None)):
        errors["grant"] = why
    args = getattr(decision, "args", None)
    if args is not None and not isinstance(args, Mapping):
        errors["arguments"] = "Give each new value by the name of its argument."
    if isinstance(decision, Settle) and decision.outcome not in get_args(SettleOutcome):
        errors["outcome"] = f"Say one of: {', '.join(get_args(SettleOutcome))}."
    return errors


def _said(text: str | None) -> str | None:
    """What somebody wrote; None for nothing but blanks."""
    return text.strip() or None if text else None


def must_not_be_over(approval: Approval) -> None:
    """Raises ``Superseded`` or ``AlreadyDecided`` for what nobody can decide, nor have asked again."""
    if approval.superseded_by is not None and approval.decided is None:
        raise Superseded(approval.id, approval.superseded_by)
    if approval.decided is not None and approval.decided_at is not None:
        raise AlreadyDecided(approval.id, approval.status, approval.decided.by, approval.decided_at)


def _must_be_open(approval: Approval, now: datetime) -> None:
    must_not_be_over(approval)
    if approval.status == "cancelled":
        raise ApprovalCancelled(approval.id)
    if approval.status == "expired" and approval.closed_at is not None:
        raise ApprovalExpired(approval.id, approval.requested.expires_at or approval.closed_at)
    expires_at = approval.requested.expires_at
    if expires_at is not None and now >= expires_at:
        raise ApprovalExpired(approval.id, expires_at)


def _yes(
    state: RunState,
    approval: Approval,
    word: Word,
    note: str | None,
    voters: Mapping[Principal, Decider | None] | None,
    now: datetime,
) -> ApprovalVoted | ApprovalDecided:
    """One more yes, with those before it; who gave theirs already is told what is still missing."""
    asked, approvers = approval.requested, approval.approvers
    verdict = state.call(asked.of_call).verdict
    valid_for = verdict.valid_for if verdict else None
    before = _votes_today(approval, voters, valid_for, now)
    yes = said_yes(asked, state.requesters, word, approvers=approvers, before=before, note=note)
    earlier = next(
        (v for v in approval.votes if v.voted.by == word.by and is_good(v.at, valid_for, now)), None
    )
    # If what they said suffices by now, saying it again is what completes it.
    if earlier is not None and yes.kind == "approval_voted":
        lacks = missing(approvers, state.requesters, (*before, word))
        raise AlreadyVoted(approval.id, word.by, earlier.at, lacks)
    counted = {one.by for one in before if is_listed(approvers, state.requesters, one)}
    gone = {vote.voted.by: None for vote in approval.votes if vote.voted.by not in counted}
    gone.pop(word.by, None)
    return yes.model_copy(update={"not_counted": tuple(gone)})


def _votes_today(
    approval: Approval,
    voters: Mapping[Principal, Decider | None] | None,
    valid_for: timedelta | None,
    now: datetime,
) -> tuple[Word, ...]:
    """Those who said yes, and whose yes is not too old by now, as they are today."""
    words = tuple(vote.voted for vote in approval.votes if is_good(vote.at, valid_for, now))
    if voters is None:
        return words
    as_they_are = (voters.get(word.by) for word in words)
    return tuple(voter.word for voter in as_they_are if voter is not None)


def _answer(approval: Approval, text: str) -> str:
    """Raises ``InvalidArgs`` for what is no answer to this question."""
    args, said = approval.requested.args, _said(text)
    given = args.get("options")
    options = [str(option) for option in given] if isinstance(given, list) else []
    is_free = bool(args.get("free_text")) or not options
    if said is not None and (is_free or said in options):
        return said
    ways = ["Say something"] if is_free else []
    ways += [f"choose one of: {', '.join(options)}"] if options else []
    how = ", or ".join(ways)
    raise InvalidArgs(approval.id, {"text": f"{how[0].upper()}{how[1:]}."})


def _outcome(state: RunState, approval: Approval, outcome: SettleOutcome) -> SettleOutcome:
    """Raises ``InvalidArgs`` for what can't be done about this effect."""
    if outcome == "check" and not state.call(approval.requested.of_call).can_be_checked:
        raise InvalidArgs(approval.id, {"outcome": _NO_WAY_TO_CHECK})
    if outcome == "not_happened" and (state.is_ended or state.stop is not None):
        raise InvalidArgs(approval.id, {"outcome": _NOTHING_RUNS})
    return outcome
