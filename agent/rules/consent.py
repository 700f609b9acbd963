"""Consent: whose word counts, when there are enough yeses, and how long they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue

from agent.rules.binding import binding_hash, digest
from agent.rules.calls import Call
from agent.rules.durations import show_duration
from agent.rules.events import ApprovalRequested
from agent.rules.ids import Principal
from agent.rules.judgement import Judgement
from agent.rules.listing import join_words
from agent.rules.parts import Approvers, Verdict, Word
from agent.rules.state import Approval, RunState

#: How often people have to deny exactly the same call until they are not asked about it any more.
DENIALS_LIMIT = 2


def is_listed(approvers: Approvers, requesters: Collection[Principal], word: Word) -> bool:
    """Is it one of those who are named for it? Whoever asked for the run only where the rule lets
    them."""
    if word.by in requesters and not approvers.requester:
        return False
    if approvers.members and word.user is not None:
        return True  # Whoever has an id has been looked up, and is one.
    return is_named(approvers, word)


def is_named(approvers: Approvers, word: Word) -> bool:
    """By themselves, or by a group of theirs, and not as a full member merely?"""
    return word.user in approvers.users or not set(word.groups).isdisjoint(approvers.all_groups)


@dataclass(frozen=True, slots=True)
class Missing:
    """What is not there yet: at least ``count`` more yeses, of others than those who gave theirs;
    one from each of ``groups`` is among them."""

    count: int
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        yeses = "1 more yes" if self.count == 1 else f"{self.count} more yeses"
        if not self.groups:
            return yeses
        named = join_words(self.groups)
        if self.count == 1:
            return f"{yeses}, from {named}"
        return f"{yeses}, {'one each' if len(self.groups) > 1 else 'one of them'} from {named}"


def missing(
    approvers: Approvers, requesters: Collection[Principal], words: Iterable[Word]
) -> Missing:
    """What these yeses lack. Nobody is counted twice, not even for two groups; an operator's yes, and
    that of the agent's own decider, is enough by itself."""
    people: dict[Principal, Word] = {}
    for word in words:
        if word.authority != "listed":
            return Missing(0)
        if is_listed(approvers, requesters, word):
            people[word.by] = word
    groups = _without_a_yes(approvers.one_from_each, tuple(people.values()))
    return Missing(max(max(approvers.count, 1) - len(people), len(groups)), groups)


def is_enough(
    approvers: Approvers, requesters: Collection[Principal], words: Iterable[Word]
) -> bool:
    """Are these yeses all that it takes?"""
    return missing(approvers, requesters, words).count == 0


def _without_a_yes(groups: Sequence[str], people: Sequence[Word]) -> tuple[str, ...]:
    """The groups for which nobody is left when as many as possible have a yes of their own."""
    speaks_for: dict[Principal, str] = {}

    def finds_one(group: str, asked: set[Principal]) -> bool:
        for word in people:
            if group not in word.groups or word.by in asked:
                continue
            asked.add(word.by)
            # Whoever speaks for another group may be replaced there.
            if word.by not in speaks_for or finds_one(speaks_for[word.by], asked):
                speaks_for[word.by] = group
                return True
        return False

    return tuple(group for group in groups if not finds_one(group, set()))


def why_again(state: RunState, call: Call, judgement: Judgement, now: datetime) -> str | None:
    """Why the yes that this call has does not cover what is known of it now, as a clause for people;
    None when it does.

    ``judgement`` is today's, and asks. What was approved must still be the same, the yeses enough
    under today's rule, and not older than they are valid.
    """
    approved = state.approvals.get(call.approved_id) if call.approved_id else None
    if (why := _what_is_used_up(call, judgement)) is not None:
        return why
    if call.verdict is not None and call.verdict.grant is not None and approved is None:
        return "the grant under which it was allowed holds no more"
    if approved is None or approved.decided_at is None:
        return "the policy did not ask about it before, and now does"
    today = judgement.verdict.approvers_at(call.stage_under(judgement.verdict))
    valid_for = _shortest(call.verdict, judgement.verdict)
    if approved.requested.dry_run and not judgement.verdict.dry_run:
        return "it was approved in a dry run, in which nothing is carried out"
    return (
        _what_changed(approved.requested, judgement)
        or _who_is_missing(approved, state.requesters, today)
        or _how_old(approved, state.requesters, today, valid_for, now)
    )


def _what_is_used_up(call: Call, judgement: Judgement) -> str | None:
    """A yes to what was within its limit is none to going over it."""
    today, before = judgement.verdict.limit, call.verdict.limit if call.verdict else None
    if today is None or not today.is_over or (before is not None and before.is_over):
        return None
    return "others have used more of its limit since, and now it goes over that"


def _what_changed(asked: ApprovalRequested, judgement: Judgement) -> str | None:
    today = binding_hash(judgement.tool, judgement.schema_digest, judgement.args, asked.preview)
    if asked.hash == today:
        return None
    if digest(asked.args) != digest(judgement.args):
        return "its values are not those that were approved"
    return "the tool has changed since it was approved"


def _who_is_missing(
    approved: Approval, requesters: Collection[Principal], today: Approvers
) -> str | None:
    # Under the same rule a decision is a decision, also where its words were not recorded in full.
    if approved.approvers == today:
        return None
    words = [word for word, _ in approved.yeses]
    if is_enough(today, requesters, words):
        return None
    if any(is_listed(today, requesters, word) for word in words):
        return "the policy now asks for more than the yeses that it had"
    return "the policy now asks others than those who approved it"


def _how_old(
    approved: Approval,
    requesters: Collection[Principal],
    today: Approvers,
    valid_for: timedelta | None,
    now: datetime,
) -> str | None:
    """Each yes ages by itself: what is left must still be enough."""
    if valid_for is None or all(is_good(at, valid_for, now) for _, at in approved.yeses):
        return None
    fresh = [word for word, at in approved.yeses if is_good(at, valid_for, now)]
    if is_enough(today, requesters, fresh):
        return None
    return (
        f"it was approved longer ago than {show_duration(valid_for)}, and a yes is good for no more"
    )


def _shortest(*verdicts: Verdict | None) -> timedelta | None:
    """How long a yes is good for, where several say so."""
    said = (verdict.valid_for for verdict in verdicts if verdict is not None)
    return min((one for one in said if one is not None), default=None)


def is_good(said_at: datetime, valid_for: timedelta | None, now: datetime) -> bool:
    """Does a yes of that time still count?"""
    return valid_for is None or now - said_at <= valid_for


def denials_of(
    state: RunState, tool: str, args: Mapping[str, JsonValue], *, until: datetime | None = None
) -> int:
    """How often people denied exactly this call in this run; up to ``until``, where it is given."""
    wanted, theirs = dict(args), digest(dict(args))
    return sum(
        approval.status == "denied"
        and approval.requested.tool == tool
        and (until is None or (approval.decided_at is not None and approval.decided_at <= until))
        # What differs in Python differs in JSON; but there true is not one.
        and approval.requested.args == wanted
        and digest(approval.requested.args) == theirs
        for approval in state.approvals.values()
    )
