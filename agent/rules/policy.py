"""The policy: an ordered list of rules; the first that matches a call gives its verdict.

Where no rule matches, the tool's own ``approval`` decides: nothing said means ask. Who decides where
a rule does not say: the owners. Everything that can't be answered is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from agent.rules.binding import digest
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.condition_values import readable
from agent.rules.conditions import NOT_KNOWN, Condition, ConditionFailed, says_of
from agent.rules.freeze import FreezeWindow
from agent.rules.limiting import NO_LIMIT, Limited, Place, keys_of, within
from agent.rules.parts import Approvers, Delivery, Patience, Verdict
from agent.rules.requesters import plain_id
from agent.rules.rule import PLACEHOLDER, People, Rule
from agent.rules.rule_silence import EXPIRES

#: Arguments larger than this are never judged by an expression; they are asked.
ARGUMENTS_LIMIT = 100_000

#: What rules could not say at first. Versions of policies stand in journals; each new key belongs here.
_LATER_KEYS = (
    *("expires", "on_expiry", "remind", "escalate", "grants", "confirm"),
    *("card", "notify", "limit"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One call, as the policy sees it."""

    #: Where it is made, and which tool it is of; limits count by it.
    place: Place
    #: The arguments as Python values, for conditions.
    values: Mapping[str, Any]
    #: The arguments in words, for reasons.
    shown: Mapping[str, str]
    size: int
    #: What the tool itself says where no rule does, and why.
    asks_by_itself: bool
    own_reason: str
    #: Who decides where no rule names anybody; None: the owners.
    else_asked: Approvers | None = None
    #: The groups that the requester is in, of those that conditions name. None: nobody could say.
    requester_groups: frozenset[str] | None = None
    #: What kind of requester it is; see ``RequesterKind``. None: nobody could say.
    requester_kind: str | None = None
    #: Why nobody could, as a clause.
    requester_unknown: str = ""
    #: Had words of whom nobody vouches for been read before the call was proposed?
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """An earlier rule that does not decide a call: it is for other tools, or its condition does not hold."""

    number: int
    by: Literal["tool", "when"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A verdict, and how it was come by."""

    verdict: Verdict
    #: Which rule gives it, from 0; None: none matches.
    number: int | None
    #: All those before it.
    passed: tuple[Passed, ...]
    #: Why its condition could not be checked; None: it could.
    failed: str | None = None


class Policy(BaseModel):
    """The ordered rules and the owners. Empty: each tool's own word, decided by the operator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    owners: People = People()
    rules: tuple[Rule, ...] = ()
    freeze: tuple[FreezeWindow, ...] = ()

    @cached_property
    def version(self) -> str:
        """Changes with every change of the policy, and with nothing else: what came later and is not said
        leaves no trace in it."""
        written = self.model_dump(mode="json")
        if not self.freeze:
            del written["freeze"]
        for rule in written["rules"]:
            for key in _LATER_KEYS:
                if rule[key] is None:
                    del rule[key]
        return digest(written)[:12]

    @cached_property
    def may_grant(self) -> bool:
        """Does any rule allow grants?"""
        return any(rule.grants is not None for rule in self.rules)

    @cached_property
    def may_limit(self) -> bool:
        """Does any rule have a limit?"""
        return any(rule.limit is not None for rule in self.rules)

    def limits_of(self, place: Place, at: datetime) -> frozenset[str]:
        """The keys of the limits that calls there may touch at that time."""
        return keys_of(self.rules, place, at)

    def judge(self, subject: Subject, around: Circumstances = NOTHING_KNOWN) -> Verdict:
        """The verdict of the first rule that matches, else of the tool itself. ``around``: what is used of
        limits."""
        return self.weigh(subject, around).verdict

    def weigh(self, subject: Subject, around: Circumstances = NOTHING_KNOWN) -> Weighed:
        """The same, and how it is come by."""
        passed: list[Passed] = []
        for number, rule in enumerate(self.rules):
            if not rule.covers(subject.place.tool):
                passed.append(Passed(number, "tool"))
                continue
            try:
                if rule.condition is None or self._holds(rule.condition, subject):
                    verdict = self._within(rule, subject, around)
                    return Weighed(verdict, number, tuple(passed))
            except ConditionFailed as error:
                why = _why_failed(subject, error)
                reason = f"its rule could not be checked: {why}"
                verdict = self._verdict(rule, "ask", reason, subject)
                return Weighed(verdict, number, tuple(passed), why)
            passed.append(Passed(number, "when"))
        action: Literal["ask", "allow"] = "ask" if subject.asks_by_itself else "allow"
        verdict = self._verdict(None, action, subject.own_reason, subject)
        return Weighed(verdict, None, tuple(passed))

    def what_it_lacks(self, subject: Subject, verdict: Verdict) -> str | None:
        """For whoever keeps the policy: that the rule which gave this verdict names arguments that the
        call does not have, and so could not say what it was to say. None: it could."""
        rule = next((one for one in self.rules if one.in_words == verdict.rule), None)
        if rule is None:
            return None
        named = frozenset().union(*rule.arguments.values()) - subject.values.keys()
        lacking = sorted(name for name in named if f"args.{name}" in verdict.reason)
        return f"{says_of(lacking)}: {rule.gist}" if lacking else None

    def groups_of_requester(self, tools: Collection[str]) -> frozenset[str] | None:
        """The groups of which conditions on these tools ask whether the requester is in them; None where none
        asks anything of the requester that has to be looked up."""
        asking = [
            rule.condition
            for rule in self.rules
            if rule.condition is not None
            and not rule.condition.asks_of_requester <= {"id"}
            and any(rule.covers(tool) for tool in tools)
        ]
        if not asking:
            return None
        return frozenset[str]().union(*(condition.groups for condition in asking))

    def groups_for(self, tool: str) -> frozenset[str]:
        """All the groups that any call of this tool may be asked of."""
        groups = set(self.owners.groups)
        for rule in self.rules:
            if rule.covers(tool):
                groups.update(rule.one_from_each or ())
                for people in (rule.approvers, *(rule.escalate or ())):
                    groups.update(people.groups if people else ())
        return frozenset(groups)

    def may_ask_without_approvers(self, tool: str, *, asks_by_itself: bool) -> str | None:
        """What could ask of nobody: the rule in words, or the tool's own approval. None: nothing."""
        if not self.owners.is_nobody:
            return None
        for rule in self.rules:
            if not rule.covers(tool):
                continue
            # A condition that fails asks, whatever the rule's action is.
            if not rule.names_deciders and rule.may_ask:
                return rule.in_words
            if rule.when is None:
                return None
        return "the tool's own approval" if asks_by_itself else None

    def _holds(self, condition: Condition, subject: Subject) -> bool:
        _check_size(subject)
        condition.must_be_cheap(subject.values)
        return condition.holds(
            {
                "args": readable(subject.values),
                "agent": subject.place.agent,
                "requester": _requester(subject),
                "channel": subject.place.channel or "",
                "session": subject.place.session,
                "tainted": subject.tainted,
            }
        )

    def _within(self, rule: Rule, subject: Subject, around: Circumstances) -> Verdict:
        """The verdict of the rule that matches, and of its limit. Raises ``ConditionFailed``."""
        if rule.limit is not None and rule.limit.sum is not None:
            _check_size(subject)
        said = within(rule, subject.place, subject.values, around)
        reason = _reason(rule, subject)
        if said.action is not None:
            # Why it would be asked about is not why it is refused.
            asks = rule.action == said.action == "ask"
            reason = f"{reason}; {said.why}" if asks else said.why
        action = said.action or rule.action
        return self._verdict(rule, action, reason, subject, said)

    def _verdict(
        self,
        rule: Rule | None,
        action: Literal["allow", "ask", "deny"],
        reason: str,
        subject: Subject,
        limited: Limited = NO_LIMIT,
    ) -> Verdict:
        return Verdict(
            action=action,
            reason=reason,
            rule=rule.in_words if rule else "no rule matches; the tool's own approval decides",
            policy_version=self.version,
            approvers=self._approvers(rule, subject),
            valid_for=rule.valid_for if rule else None,
            patience=_patience(rule) if action == "ask" else Patience(),
            delivery=rule.delivery if rule and action == "ask" else Delivery(),
            # No consent that stands beforehand is one to going over a limit.
            granting=rule.granting if rule and action == "ask" and limited.action is None else None,
            confirm=bool(rule and rule.confirm and action == "ask"),
            limit=limited.use,
        )

    def _approvers(self, rule: Rule | None, subject: Subject) -> Approvers:
        """Whom the rule names, else whom the call is asked of without one, else the owners."""
        if rule is None or not rule.names_deciders:
            if subject.else_asked is not None:
                return subject.else_asked
            return Approvers(users=self.owners.users, groups=self.owners.groups)
        named = rule.approvers
        return Approvers(
            users=named.users if named else (),
            groups=named.groups if named else (),
            requester=named.requester if named else False,
            count=named.count if named else 1,
            one_from_each=rule.one_from_each or (),
        )


def _check_size(subject: Subject) -> None:
    if subject.size > ARGUMENTS_LIMIT:
        raise ConditionFailed(f"the arguments are larger than {ARGUMENTS_LIMIT:,} bytes")


def _requester(subject: Subject) -> dict[str, Any]:
    """What nobody could say is not there: whatever speaks of it fails."""
    known: dict[str, Any] = {"id": plain_id(subject.place.requester)}
    if subject.requester_kind is not None:
        known["kind"] = subject.requester_kind
    if subject.requester_groups is not None:
        known["groups"] = sorted(subject.requester_groups)
    return known


def _why_failed(subject: Subject, error: ConditionFailed) -> str:
    is_unknown = str(error) in NOT_KNOWN.values() and subject.requester_unknown
    return f"{error}: {subject.requester_unknown}" if is_unknown else str(error)


def _patience(rule: Rule | None) -> Patience:
    return rule.patience if rule else Patience(expires=EXPIRES)


def _reason(rule: Rule, subject: Subject) -> str:
    """The rule's reason with the values as a card shows them."""
    if rule.reason is None:
        return rule.gist
    told = PLACEHOLDER.sub(lambda m: subject.shown.get(m[1], "…"), rule.reason)
    lacking = dict.fromkeys(PLACEHOLDER.findall(rule.reason)).keys() - subject.shown.keys()
    return f"{told} ({says_of(sorted(lacking))})" if lacking else told
