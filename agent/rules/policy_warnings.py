"""What a policy says that can't be meant, and refuses no start: only what is certain, from the rules and the tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.rules.conditions import ConditionFailed
from agent.rules.globs import covers, overlap
from agent.rules.implying import implies
from agent.rules.listing import either
from agent.rules.parts import STRICTNESS, Effect
from agent.rules.policy import Policy
from agent.rules.rule import People, Rule
from agent.rules.tool_globs import ALL, halves

#: From the top of the file to what is meant: keys, and numbers from 0.
Way = tuple[str | int, ...]
#: Where a rule of this number stands, in words.
Where = Callable[[int], str]

_DONE: Final = {"allow": "is allowed", "ask": "is asked about"}
_NAMED: Final = 3
_NOBODY: Final[dict[str, Any]] = {
    "args": {},
    "agent": "",
    "requester": {"id": "", "groups": [], "kind": ""},
    "channel": "",
    "session": "",
    "tainted": False,
}


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool of an agent, as far as a policy has to do with it."""

    name: str
    effect: Effect
    #: Why it says itself that it is always to be asked about; None: it does not.
    needs_a_yes: str | None
    #: The arguments that it may have; None: any. Those that each of its calls has.
    arguments: frozenset[str] | None
    always_has: frozenset[str]


@dataclass(frozen=True, slots=True)
class PolicyWarning:
    """Something to look at, and where it stands."""

    way: Way
    message: str


def warnings_of(
    policy: Policy, tools: Sequence[KnownTool], open_servers: Sequence[str], where: Where
) -> tuple[PolicyWarning, ...]:
    """In the order of the file. Of ``open_servers`` it is not known which tools they have."""
    return tuple(_Warnings(policy.rules, policy.owners, tools, open_servers, where).all())


@dataclass(frozen=True, slots=True)
class _Warnings:
    rules: tuple[Rule, ...]
    owners: People
    tools: Sequence[KnownTool]
    open_servers: Sequence[str]
    where: Where

    def all(self) -> Iterator[PolicyWarning]:
        yield from self._of_owners()
        for number, rule in enumerate(self.rules):
            if (hidden := self._hidden(number, rule)) is not None:
                yield PolicyWarning(("policy", number), hidden)
                continue
            for key, message in self._of_rule(number, rule):
                yield PolicyWarning(("policy", number, key), message)

    def _of_rule(self, number: int, rule: Rule) -> Iterator[tuple[str, str]]:
        if not self._matched(rule) and not rule.names_one_tool and not self._may_match_more(rule):
            yield "tool", f"no tool of any agent is named {rule.tool}; this rule decides nothing."
        if (constant := _constant(rule)) is not None:
            never = "" if constant else ": this rule decides nothing"
            yield "when", f"it is {str(constant).lower()} for every call{never}."
        yield from (("when", one) for one in self._lacking(number, rule))
        yield from (("tool", one) for one in self._let_through(number, rule))
        yield from (("tool", one) for one in self._crossed(number, rule))
        yield from (("approvers", one) for one in _quorum(rule))

    def _hidden(self, number: int, rule: Rule) -> str | None:
        """Why no call ever comes to it."""
        for before, other in enumerate(self.rules[:number]):
            if _takes_all(other, rule) and _holds_whenever(other, rule):
                loses = " It denies nothing." if rule.action == "deny" else ""
                return (
                    "this rule never decides anything: all that it matches is decided before it, at the latest"
                    f" by {self.where(before)} ({other.gist}).{loses}"
                )
        matched = self._matched(rule)
        if not matched or self._may_match_more(rule):
            return None
        firsts = {tool.name: self._before(number, rule, tool) for tool in matched}
        if any(first is None for first in firsts.values()):
            return None
        named = (f"{name} by {self.where(first or 0)}" for name, first in firsts.items())
        return f"this rule never decides anything: each tool is decided before, {_listed(named)}."

    def _before(self, number: int, rule: Rule, tool: KnownTool) -> int | None:
        """The earlier rule that decides all that this one would of the tool."""
        for before, other in enumerate(self.rules[:number]):
            if other.covers(tool.name) and _holds_whenever(other, rule):
                return before
        return None

    def _reached(self, number: int, rule: Rule) -> list[KnownTool]:
        """The tools of which a call may come to it."""
        return [one for one in self._matched(rule) if self._before(number, rule, one) is None]

    def _matched(self, rule: Rule) -> list[KnownTool]:
        return [tool for tool in self.tools if rule.covers(tool.name)]

    def _may_match_more(self, rule: Rule) -> bool:
        return any(overlap(rule.tool, f"{_plain(name)}.*") for name in self.open_servers)

    def _lacking(self, number: int, rule: Rule) -> Iterator[str]:
        """Tools whose calls do not have what the condition speaks of."""
        if rule.condition is None or _gives(rule) is not None:
            return
        for name in sorted(rule.condition.arguments):
            reached = self._reached(number, rule)
            never = [t.name for t in reached if t.arguments is not None and name not in t.arguments]
            maybe = [t.name for t in reached if t.name not in never and name not in t.always_has]
            no = "has no argument" if len(never) == 1 else "have no argument"
            for tools, lack in ((never, no), (maybe, "may be called without")):
                if tools:
                    yield (
                        f"{_listed(tools)} {lack} {name}, and a call for which the condition can't be"
                        f" checked is asked about; has(args.{name}) looks whether it is there."
                    )

    def _let_through(self, number: int, rule: Rule) -> Iterator[str]:
        """What runs without a yes that was perhaps not thought of."""
        if rule.action != "allow" or rule.names_one_tool:
            return
        for tool in self._reached(number, rule):
            if tool.needs_a_yes is not None:
                yield (
                    f"{tool.name} {tool.needs_a_yes}, and this rule lets it run without; if that is meant,"
                    " name the tool in a rule of its own."
                )
        if rule.when is None and rule.tool == ALL:
            yield "it lets every tool run that no rule before it names, also those that are added later."

    def _crossed(self, number: int, rule: Rule) -> Iterator[str]:
        """A stricter rule behind a looser one that takes some of its tools, and was made for others."""
        for before, other in enumerate(self.rules[:number]):
            if (
                other.names_one_tool
                or other.when is not None
                or not _is_stricter(rule, other)
                or covers(rule.tool, other.tool)
            ):
                continue
            both = [one.name for one in self._matched(rule) if other.covers(one.name)]
            if both:
                yield (
                    f"{_listed(both)} {_DONE[other.action]} all the same, by {self.where(before)}"
                    f" ({other.gist}); the first rule that matches decides."
                )

    def _of_owners(self) -> Iterator[PolicyWarning]:
        if self.owners.is_nobody:
            if any(tool.effect != "read" for tool in self.tools):
                message = (
                    "nobody is named, and so only the operator, on the command line, can settle what"
                    " became of an effect of which nobody knows."
                )
                yield PolicyWarning(("owners",), message)
        elif not self.owners.groups and len(self.owners.users) == 1:
            message = f"{_when_they_ask(self.owners.users)} only the operator can decide what owners are asked."
            yield PolicyWarning(("owners",), message)


def _takes_all(other: Rule, rule: Rule) -> bool:
    """Is ``other`` certainly for every tool that ``rule`` is for, what allows being read more narrowly?"""
    if other.action != "allow" or other.tool == ALL:
        return covers(other.tool, rule.tool)
    if rule.names_one_tool:
        return other.covers(rule.tool)
    if rule.action != "allow" or rule.tool == ALL:
        return False
    (server, dot, name), (its_server, its_dot, its_name) = map(halves, (other.tool, rule.tool))
    return dot == its_dot and covers(server, its_server) and covers(name, its_name)


def _holds_whenever(other: Rule, rule: Rule) -> bool:
    """Does the condition of ``other`` hold, or fail, for every call for which that of ``rule`` does?"""
    if other.when is None or _constant(other):
        return True
    return rule.when is not None and implies(rule.when, other.when)


def _constant(rule: Rule) -> bool | None:
    """What its condition is for every call; None: that depends, or it fails."""
    if rule.condition is None or rule.condition.names:
        return None
    return _gives(rule)


def _gives(rule: Rule) -> bool | None:
    """What its condition is of a call of which nothing is there; None: it fails."""
    assert rule.condition is not None
    try:
        return rule.condition.holds(_NOBODY)
    except ConditionFailed:
        return None


def _is_stricter(rule: Rule, other: Rule) -> bool:
    return STRICTNESS.index(rule.action) > STRICTNESS.index(other.action)


def _quorum(rule: Rule) -> Iterator[str]:
    """Yeses that may not be there to be had."""
    named = rule.approvers
    if named is None or rule.action != "ask" or rule.one_from_each:
        return
    among: list[People] = [named, *(rule.escalate or ())]
    users = sorted({user for one in among for user in one.users})
    groups = list(dict.fromkeys(group for one in among for group in one.groups))
    if not groups and not named.requester and len(users) <= named.count:
        left = len(users) - 1
        may = f"no more than {left} of them may decide" if left else "none of them may decide"
        needs = f", and {named.count} have to" if named.count > 1 else ""
        yield f"{_when_they_ask(users)} {may}{needs}; name more people, or a group."
    if groups and len(users) < named.count and named.count > 1:
        others = "" if named.requester else ", beside whoever asked for the run"
        yield (
            f"{named.count} people have to say yes, and the file does not tell whether {either(groups)} has"
            f" as many{others}; make sure of it in Slack."
        )


def _when_they_ask(users: Sequence[str]) -> str:
    return f"where {either(users)} asked for the run,"


def _listed(names: Iterator[str] | Sequence[str]) -> str:
    shown = list(names)
    more = len(shown) - _NAMED
    return ", ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _plain(name: str) -> str:
    """The name as a glob that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", name)
