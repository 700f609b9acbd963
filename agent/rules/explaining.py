"""Why a call gets what it gets, in words: the same on its card, on the command line, for one that was asked about and
for one that nobody proposed yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from agent.rules.calls import Call
from agent.rules.consent import missing
from agent.rules.dry_run import DRY_RUN, WHATEVER, is_of_a_dry_run
from agent.rules.durations import show_duration
from agent.rules.ids import Principal
from agent.rules.limits_in_words import limit_in_words
from agent.rules.listing import either, join_words
from agent.rules.parts import (
    Approvers,
    Granting,
    LimitUse,
    Patience,
    Taint,
    Verdict,
    Word,
)
from agent.rules.policy import Weighed
from agent.rules.rule import Rule
from agent.rules.rule_silence import expiry_in_words
from agent.rules.state import Approval, RunState
from agent.rules.taint import taints_in_words

_NAMED: Final = 20
#: Where the name of whoever asked goes.
_WHO: Final = "{who}"
ANY_MEMBER: Final = "any full member of this workspace"


class Voice(Protocol):
    """How people, times and data read where it is said."""

    def data(self, text: str) -> str: ...

    def user(self, id: str) -> str: ...

    def group(self, id: str) -> str: ...

    def principal(self, principal: Principal) -> str: ...

    def speaker(self, word: Word) -> str:
        """Whose word it is, and who says so where that is somebody else."""

    def id_of(self, principal: Principal) -> str | None:
        """By which rules know them; None: by none."""

    def when(self, at: datetime) -> str: ...


@dataclass(frozen=True, slots=True)
class Why:
    """What there is to say of a verdict."""

    action: Literal["allow", "ask", "deny"]
    reason: str
    rule: str
    policy_version: str
    approvers: Approvers
    #: All who asked for the run.
    requesters: tuple[Principal, ...]
    again_because: str | None = None
    #: Those who said yes, how many have, and how many have to; None: nobody was asked yet, or it is over.
    yeses: tuple[Word, ...] = ()
    so_far: tuple[int, int] | None = None
    is_dry: bool = False
    #: Until when it is asked; None: it is not yet, or for as long as it takes.
    until: datetime | None = None
    #: What silence means where it is not asked yet.
    patience: Patience | None = None
    valid_for: timedelta | None = None
    granting: Granting | None = None
    grant: str | None = None
    #: What is used of its rule's limit, as it was judged.
    limit: LimitUse | None = None
    #: What had been read of others' words before the call was proposed.
    tainted_by: tuple[Taint, ...] = ()
    #: Of the approval.
    id: str | None = None


def why_asked(approval: Approval, call: Call, state: RunState) -> Why:
    """Of an approval of this call, also when it is over: as it was asked."""
    asked, verdict = approval.requested, call.verdict
    is_open = approval.status == "pending"
    return Why(
        action="ask",
        reason=asked.reason,
        rule=asked.rule,
        policy_version=asked.policy_version,
        approvers=approval.approvers,
        requesters=tuple(state.requesters),
        again_because=asked.again_because,
        yeses=tuple(word for word, _ in approval.yeses),
        so_far=so_far(approval, state) if approval.votes and is_open else None,
        is_dry=is_of_a_dry_run(approval, state),
        until=asked.expires_at,
        valid_for=verdict.valid_for if verdict else None,
        granting=granting_of(call),
        limit=limit_of(approval, call),
        tainted_by=verdict.tainted_by if verdict else (),
        id=approval.id,
    )


def why_judged(verdict: Verdict, requesters: Iterable[Principal]) -> Why:
    """Of a call that nobody was asked about."""
    is_asked = verdict.action == "ask"
    return Why(
        action=verdict.action,
        reason=verdict.reason,
        rule=verdict.rule,
        policy_version=verdict.policy_version,
        approvers=verdict.approvers,
        requesters=tuple(requesters),
        is_dry=verdict.dry_run,
        patience=verdict.patience if is_asked else None,
        valid_for=verdict.valid_for if is_asked else None,
        granting=verdict.granting,
        grant=verdict.grant,
        limit=verdict.limit,
        tainted_by=verdict.tainted_by,
    )


def in_words(why: Why, voice: Voice) -> Iterator[str]:
    """Which rule, why, who may decide and until when, a line each."""
    if why.again_because:
        yield f"Asked again because: {voice.data(why.again_because)}"
    if why.reason and why.reason != why.rule:
        yield f"Because: {voice.data(why.reason)}"
    yield f"By this rule: {voice.data(why.rule)}"
    if why.grant is not None:
        yield f"Allowed beforehand, by the grant {voice.data(why.grant)}"
    if why.action == "ask":
        yield f"Who may decide: {who_may_decide(why.approvers, why.requesters, voice)}"
    if why.so_far is not None:
        names = [voice.speaker(one) for one in why.yeses]
        yield f"So far {yeses_in_words(*why.so_far)}{f': {_joined(names)}' if names else ''}"
    if why.tainted_by:
        yield tainted_said(why.tainted_by, voice)
    if why.limit is not None:
        yield f"Limit: {limit_said(why.limit, why.requesters[0], voice)}"
    if why.is_dry:
        yield f"{DRY_RUN}: {WHATEVER}"
    if why.until is not None:
        yield f"Until: {voice.when(why.until)}"
    if why.patience is not None:
        yield f"What silence means: {voice.data(expiry_in_words(why.patience))}"
    if why.valid_for is not None:
        yield f"A yes is good for: {show_duration(why.valid_for)}"
    if why.granting is not None:
        yield f"It may be allowed beforehand: {_how_far(why.granting)}"
    of = f" · {why.id}" if why.id else ""
    yield f"Policy version: {voice.data(why.policy_version)}{of}"


def way_to_it(
    rules: Sequence[Rule], weighed: Weighed, where: Callable[[int], str]
) -> Iterator[tuple[str, str]]:
    """Rule by rule, up to the one that decides: where it stands, and what comes of it."""
    for one in weighed.passed:
        rule = rules[one.number]
        if one.by == "tool":
            yield where(one.number), f"is for {rule.tool}"
        else:
            yield where(one.number), f"does not hold: {rule.when}"
    if weighed.number is None:
        yield "no rule", "matches; the tool's own approval decides"
    elif weighed.failed is not None:
        yield where(weighed.number), f"could not be checked, and so it asks: {weighed.failed}"
    else:
        yield where(weighed.number), f"decides: {rules[weighed.number].gist}"


def who_may_decide(approvers: Approvers, requesters: Iterable[Principal], voice: Voice) -> str:
    """How many, and of whom, by name."""
    asked = tuple(requesters)
    named = users_who_may(approvers, [voice.id_of(one) for one in asked])
    approvers = approvers.model_copy(update={"users": named})
    if not (approvers.users or approvers.all_groups or approvers.members):
        return "only the operator, on the command line"
    # They may be in a group; by name they are not asked.
    is_left_out = approvers.all_groups and not approvers.requester
    but = f", not {either([voice.principal(one) for one in asked])}" if is_left_out else ""
    return _how_many(approvers, voice) + but


def users_who_may(approvers: Approvers, requesters: Collection[str | None]) -> tuple[str, ...]:
    """Of those who are named, by their ids: not whoever asked for it, unless they may."""
    may = approvers.requester
    return tuple(one for one in approvers.users if may or one not in requesters)


def so_far(approval: Approval, state: RunState) -> tuple[int, int]:
    """How many have said yes, and how many have to. As long as it is open, one at least is lacking: somebody
    may speak for another group by now."""
    needed = missing(approval.approvers, state.requesters, ()).count
    words = [word for word, _ in approval.yeses]
    lacking = missing(approval.approvers, state.requesters, words).count or 1
    return needed - lacking, needed


def yeses_in_words(count: int, needed: int) -> str:
    """``1 of 2 have said yes``"""
    return f"{count} of {needed} have said yes"


def limit_of(approval: Approval, call: Call) -> LimitUse | None:
    """What is used of its rule's limit, where it asks about the call as it was judged last."""
    is_about_it = approval.id == call.approval_id and approval.kind == "call"
    return call.verdict.limit if is_about_it and call.verdict else None


def limit_said(use: LimitUse, requester: Principal, voice: Voice) -> str:
    """How much of it is used, by whom, and left."""
    words = voice.data(limit_in_words(use, _WHO))
    if "user" not in use.per:
        return words
    # What is added up is data, and stands before the name.
    before, _, behind = words.rpartition(_WHO)
    return f"{before}{voice.principal(requester)}{behind}"


def tainted_said(taints: Sequence[Taint], voice: Voice) -> str:
    """Whose words the agent had read before it proposed the call."""
    read = taints_in_words(taints, name=voice.principal, quote=voice.data)
    return f"Before it proposed this, the agent had read {read}. Those words may be behind it."


def granting_of(call: Call) -> Granting | None:
    """The grants that the rule lets people give with their yes to this call."""
    verdict = call.verdict
    # A dry run's yes is for nothing that happens.
    return verdict.granting if verdict and not verdict.dry_run else None


def _how_many(approvers: Approvers, voice: Voice) -> str:
    each = approvers.one_from_each
    if not each:
        named = len(approvers.users) + len(approvers.all_groups)
        if approvers.members and not named:
            return ANY_MEMBER
        if len(approvers.users) == named == 1 and not approvers.members:
            return _choice(approvers, voice)
        return f"any {approvers.count} of {_choice(approvers, voice)}"
    of = "one of" if len(each) == 1 else "one each of"
    words = f"{of} {_joined([voice.group(one) for one in each])}"
    if approvers.count <= len(each):
        return words
    return f"any {approvers.count} of {_choice(approvers, voice)}, among them {words}"


def _choice(approvers: Approvers, voice: Voice) -> str:
    named = [voice.group(one) for one in approvers.all_groups]
    named += [voice.user(one) for one in approvers.users]
    more = len(named) - _NAMED
    shown = [*named[:_NAMED], *([f"{more} more"] if more > 0 else [])]
    return either([*shown, *([ANY_MEMBER] if approvers.members else [])])


def _how_far(granting: Granting) -> str:
    scopes = " or ".join("this run" if one == "run" else "this thread" for one in granting.scopes)
    longest = f", for {show_duration(granting.longest)} at most" if granting.longest else ""
    return f"for {scopes}{longest}"


def _joined(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return join_words([*words[:_NAMED], *([f"{more} more"] if more > 0 else [])])
