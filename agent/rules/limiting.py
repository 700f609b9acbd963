"""Whether a call is within the limit of its rule, and what it reserves then. Pure.

What is used stands in the store, under keys that are made here: of the rule, of whom and where it counts by, and of
its window. It is looked up before calls are judged (``Circumstances.used``); what is not known is not allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from agent.rules.binding import digest
from agent.rules.calls import Call
from agent.rules.circumstances import Circumstances
from agent.rules.conditions import ConditionFailed
from agent.rules.effects import reserved
from agent.rules.events import CallStarted, Event
from agent.rules.exact import plus
from agent.rules.limit_amounts import amount_of, currency_of
from agent.rules.limit_windows import begin_of, end_of
from agent.rules.limits_in_words import over_in_words
from agent.rules.parts import LimitUse, Verdict
from agent.rules.reservations import COUNTING, Reservation
from agent.rules.rule import Rule
from agent.rules.rule_limit import RuleLimit
from agent.rules.state import RunState
from agent.rules.zones import zone_named

#: What people let through counts, however much that comes to.
_ANY = Decimal(10) ** 20 - 1
_NOT_KNOWN = "what is used of it is not known here"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call is made: what a limit may count by."""

    tool: str
    agent: str
    #: The principal; a condition compares ``plain_id`` of it.
    requester: str
    channel: str | None
    session: str
    run_id: str
    #: The tool's JSON schema, which says in which currency its amounts are.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def of(self, by: str) -> str | None:
        match by:
            case "user":
                return self.requester
            case "run":
                return self.run_id
            case "tool" | "agent" | "channel" | "session":
                return str(getattr(self, by) or "")
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Limited:
    """What a rule's limit says of one call."""

    #: None: it is within it, and the rule's own action stands.
    action: Literal["ask", "deny"] | None
    why: str = ""
    use: LimitUse | None = None


NO_LIMIT = Limited(None)


def keys_of(rules: Iterable[Rule], place: Place, at: datetime) -> frozenset[str]:
    """Of every limit that a call may touch at that time, whatever its arguments."""
    return frozenset(
        key
        for rule in rules
        if rule.limit is not None and rule.covers(place.tool)
        if (key := _key_or_none(rule, rule.limit, place, at)) is not None
    )


def within(rule: Rule, place: Place, values: Mapping[str, Any], around: Circumstances) -> Limited:
    """Is a call with these arguments within the limit of ``rule``? What can't be counted is asked about."""
    limit = rule.limit
    if limit is None:
        return NO_LIMIT
    if any(key.startswith(_identity(rule, limit)) for key in around.held):
        return NO_LIMIT  # It was begun, and counts already.
    try:
        amount = amount_of(limit, values)
        if around.at is None:
            raise ConditionFailed(_NOT_KNOWN)
        key = _key(rule, limit, place, around.at)
        if key not in around.used:
            raise ConditionFailed(_NOT_KNOWN)
        use = _use(limit, key, around.used[key], amount, place, around.at)
    except ConditionFailed as error:
        return Limited("ask", f"its limit could not be checked: {error}")
    except OverflowError:
        return Limited("ask", "its limit could not be checked: its window does not end")
    if not use.is_over:
        return Limited(None, use=use)
    return Limited(limit.when_over, over_in_words(use), use)


def reserved_by(verdict: Verdict, call: Call) -> tuple[Reservation, ...]:
    """What a start under this verdict reserves."""
    use = verdict.limit
    if use is None or use.key in held_by(call):
        return ()
    # Whoever said yes to more than is left meant it.
    most = _ANY if use.is_over else use.max
    return (Reservation(limit=use.key, amount=use.amount, max=most),)


def is_over(verdict: Verdict) -> bool:
    """Would the call go over its limit?"""
    return verdict.limit is not None and verdict.limit.is_over


def held_by(call: Call) -> frozenset[str]:
    """The limits of which this call, begun before, has something that counts."""
    was_given_back = call.receipt is not None and call.receipt.status == "rejected"
    return frozenset() if was_given_back else frozenset(call.reserved)


def foreseen(around: Circumstances, recorded: RunState, state: RunState) -> Circumstances:
    """The same by ``state``, where what is used was looked up by what is ``recorded`` of the run: what is on its way
    into the journal may give something back."""
    if not around.used or recorded is state:
        return around
    counts = [(one.limit, one.amount) for one in reserved(state) if one.status in COUNTING]
    counted = [(one.limit, -one.amount) for one in reserved(recorded) if one.status in COUNTING]
    return _with_more(around, [*counts, *counted])


def after(around: Circumstances, events: Iterable[Event]) -> Circumstances:
    """The same once these have been committed."""
    reserves = [one for event in events if isinstance(event, CallStarted) for one in event.reserves]
    return _with_more(around, [(one.limit, one.amount) for one in reserves])


def promised(around: Circumstances, state: RunState) -> Circumstances:
    """The same with all that calls of this run will use which may start and have not yet."""
    uses = [
        call.verdict.limit
        for call in state.open_calls
        if call.status == "ready" and call.verdict is not None
        if call.verdict.limit is not None and call.verdict.limit.key not in held_by(call)
    ]
    return _with_more(around, [(use.key, use.amount) for use in uses])


def _with_more(around: Circumstances, more: Collection[tuple[str, Decimal]]) -> Circumstances:
    if not more:
        return around
    used = dict(around.used)
    for key, amount in more:
        if key in used:
            used[key] = plus(used[key], amount)
    return replace(around, used=used)


def _use(
    limit: RuleLimit, key: str, used: Decimal, amount: Decimal, place: Place, at: datetime
) -> LimitUse:
    window = limit.window
    return LimitUse(
        key=key,
        used=used,
        amount=amount,
        max=limit.max,
        what=limit.sum,
        currency=currency_of(limit, place.parameters),
        per=limit.per,
        zone=limit.zone,
        until=end_of(window, at, zone_named(limit.zone)) if window else None,
    )


def _key_or_none(rule: Rule, limit: RuleLimit, place: Place, at: datetime) -> str | None:
    try:
        return _key(rule, limit, place, at)
    except (ConditionFailed, OverflowError):
        return None


def _key(rule: Rule, limit: RuleLimit, place: Place, at: datetime) -> str:
    """Amounts of two currencies are never added. Raises ``ConditionFailed``, ``OverflowError``."""
    window = limit.window
    begin = begin_of(window, at, zone_named(limit.zone)).isoformat() if window else None
    counted = {one: place.of(one) for one in limit.by}
    where = {"by": counted, "from": begin, "currency": currency_of(limit, place.parameters)}
    return _identity(rule, limit) + digest(where)


def _identity(rule: Rule, limit: RuleLimit) -> str:
    """Of which calls it is a limit, and of what. Not how much it allows: where that changes, what was used stays
    used; nor what else the rule says."""
    said = {
        "tool": rule.tool,
        "when": rule.when,
        "sum": limit.sum,
        "per": sorted(limit.per),
        "zone": limit.zone if limit.window else None,
    }
    return f"{digest(said)[:24]}."
