"""What a run may use up, and whether it has. The time in which it waits, for whatever, never counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal, assert_never

from pydantic import JsonValue, TypeAdapter

from agent.errors import ConfigError
from agent.rules.amounts import MOST_PLACES, WHOLE, decimal_places, is_amount, why_no_amount
from agent.rules.binding import digest
from agent.rules.events import ApprovalRequested, Event
from agent.rules.ids import BY_BUDGET, ApprovalId, GroupId
from agent.rules.interventions import BudgetReached, StopRequested
from agent.rules.parts import Approvers, BudgetName, Patience
from agent.rules.rule_silence import EXPIRES
from agent.rules.state import RunState

_CENT = Decimal("0.01")
_SMALLEST = Decimal(1).scaleb(-MOST_PLACES)


@dataclass(frozen=True, slots=True)
class Reached:
    """What has been used up: so much of so much."""

    budget: BudgetName
    used: Decimal
    limit: Decimal

    @property
    def in_a_sentence(self) -> str:
        if self.is_not_known:
            return f"This run can't be held to its budget: {self.in_words}."
        return f"This run has used its budget: {self.in_words}."

    @property
    def is_not_known(self) -> bool:
        """Is it not used up as far as is known, and is that not all?"""
        return self.used < self.limit

    @property
    def in_words(self) -> str:
        """Used and allowed, with their unit."""
        match self.budget:
            case "model_calls":
                return f"{self.used} of {self.limit} model calls"
            case "tokens":
                return f"{self.used:,} of {self.limit:,} tokens"
            case "cost_usd" if self.is_not_known:
                known = f"{_in_dollars(self.used)} of {_in_dollars(self.limit)}"
                return f"what its model costs is not known, beyond {known}"
            case "cost_usd":
                return f"{_in_dollars(self.used)} of {_in_dollars(self.limit)}"
            case "minutes":
                return _in_time(self.used, self.limit)
            case _:
                assert_never(self.budget)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one run of an agent; None: none. They are looked at before each model request, so the
    last one may go beyond them by what it takes itself. Raises ``ConfigError`` for what limits nothing, and
    where there is no limit at all."""

    model_calls: int | None = None
    tokens: int | None = None
    cost_usd: Decimal | None = None
    #: The time in which its model was asked, or its calls ran: without all that was waited for.
    minutes: Decimal | None = None
    on_reached: Literal["ask", "stop"] = "ask"

    def __post_init__(self) -> None:
        for name, limit in self._given.items():
            if limit is not None and (why := _why_no_limit(name, limit)):
                raise ConfigError(f"budget.{name}: {why}")
        if self.on_reached not in ("ask", "stop"):
            raise ConfigError("budget.on_reached: Say ask or stop.")
        if all(limit is None for limit in self._given.values()):
            raise ConfigError(f"budget: Give at least one of {', '.join(self._given)}.")

    def reached(self, state: RunState) -> Reached | None:
        """The first limit that is used up, with what people allowed beyond it counted in. A cost that is not
        known may be any: it is used up until people let the run go on."""
        used = _used(state)
        for name, limit in self._limits.items():
            limit += state.allowances.get(name, Decimal(0))
            is_not_known = name == "cost_usd" and is_cost_open(state)
            if used[name] >= limit or is_not_known:
                return Reached(name, used[name], limit)
        return None

    def more(self, reached: Reached) -> Decimal:
        """How much is asked for where nobody says: half of the limit, and at least one call, beyond what has
        been used. The last request may have gone far over the limit; what would be used up at once lets
        nothing go on."""
        half = self._limits[reached.budget] / 2
        if reached.budget in ("model_calls", "tokens"):
            half = max(Decimal(1), half.to_integral_value())
        return _rounded_up(max(Decimal(0), reached.used - reached.limit)) + half

    @property
    def _limits(self) -> Mapping[BudgetName, Decimal]:
        return {name: Decimal(limit) for name, limit in self._given.items() if limit is not None}

    @property
    def _given(self) -> Mapping[BudgetName, int | Decimal | None]:
        return {
            "model_calls": self.model_calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "minutes": self.minutes,
        }


def _why_no_limit(name: BudgetName, limit: int | Decimal) -> str | None:
    if not is_amount(limit):
        return (
            f"Give a number above nothing, {'an int' if name in WHOLE else 'an int or a Decimal'}."
        )
    return why_no_amount(name, Decimal(limit))


def ask_for_more(
    state: RunState,
    reached: Reached,
    budget: Budget,
    owners: Approvers,
    approval_id: ApprovalId,
    now: datetime,
) -> tuple[Event, ...]:
    """What follows: the owners are asked whether the run may go on, or it is stopped."""
    if budget.on_reached == "stop":
        fact = BudgetReached(
            budget=reached.budget, used=str(reached.used), limit=str(reached.limit)
        )
        return (fact, StopRequested(by=BY_BUDGET, reason=reached.in_a_sentence))
    return (ask_for_so_much(state, reached, budget.more(reached), owners, approval_id, now),)


def ask_for_so_much(
    state: RunState,
    reached: Reached,
    more: Decimal,
    owners: Approvers,
    approval_id: ApprovalId,
    now: datetime,
) -> ApprovalRequested:
    """The question to ``owners`` whether the run may go on with so much more."""
    args: dict[str, JsonValue] = {
        "budget": reached.budget,
        "used": str(reached.used),
        "limit": str(reached.limit),
        "more": str(more),
    }
    return ApprovalRequested(
        approval_id=approval_id,
        group=GroupId(f"grp_{approval_id}"),
        approval_kind="budget",
        call_id=None,
        tool="",
        title="Go on?",
        args=args,
        reason=reached.in_a_sentence,
        rule=f"the agent's budget: {reached.budget} {reached.limit}",
        policy_version="",
        hash=digest(args),
        # It is theirs to give, also to a run that they asked for themselves.
        approvers=owners.model_copy(update={"requester": True}),
        expires_at=now + EXPIRES,
        supersedes=_newest(state),
        patience=Patience(expires=EXPIRES),
    )


def _in_dollars(amount: Decimal) -> str:
    """To the cent; what is below one, in full."""
    return f"${amount:,.2f}" if amount >= _CENT or not amount else f"${amount.normalize():f}"


def _in_time(used: Decimal, limit: Decimal) -> str:
    """In the digits that the limit needs, and in seconds where both are less than a minute."""
    if used < 1:
        places = decimal_places(limit * 60)
        return f"{used * 60:.{places}f} of {limit * 60:.{places}f} seconds of work"
    places = max(1, decimal_places(limit))
    return f"{used:.{places}f} of {limit:.{places}f} minutes of work"


def why_not_so_much(asked: ApprovalRequested, more: Decimal) -> str | None:
    """Why a budget can't be given so much ``more``; None where it can."""
    if why := why_no_amount(budget_of(asked), more):
        return why
    used, limit = Decimal(str(asked.args["used"])), Decimal(str(asked.args["limit"]))
    if limit + more <= used:
        return f"Give more than {_rounded_up(used - limit):f}: so much is used beyond the limit already."
    return None


def budget_of(asked: ApprovalRequested) -> BudgetName:
    """Which budget it is that this question is about."""
    return _NAMES.validate_python(asked.args["budget"])


_NAMES: TypeAdapter[BudgetName] = TypeAdapter(BudgetName)


def used_of(state: RunState, name: BudgetName) -> Decimal:
    """How much of that the run has used so far."""
    return _used(state)[name]


def is_cost_open(state: RunState) -> bool:
    """Has it used what nobody knows the cost of, and nobody let it go on over?"""
    return state.unpriced > state.unpriced_allowed


def _rounded_up(amount: Decimal) -> Decimal:
    """So much, in no more digits than people want to read, and rather more than less."""
    if amount == amount.to_integral_value():
        return amount.quantize(Decimal(1))
    return amount.quantize(Decimal("0.01"), ROUND_CEILING)


def _newest(state: RunState) -> ApprovalId | None:
    """The question before it, if nobody decided that."""
    budgets = [a for a in state.approvals.values() if a.kind == "budget"]
    return budgets[-1].id if budgets and budgets[-1].status == "expired" else None


def _used(state: RunState) -> Mapping[BudgetName, Decimal]:
    return {
        "model_calls": Decimal(state.model_calls),
        "tokens": Decimal(state.input_tokens + state.output_tokens),
        "cost_usd": state.cost_usd,
        "minutes": _in_minutes(state.worked),
    }


def _in_minutes(worked: timedelta) -> Decimal:
    """In no more digits than a limit can have, rounded down: what has not reached it does not so here."""
    exact = Decimal(worked // timedelta(milliseconds=1)) / 60_000
    rounded = exact.quantize(_SMALLEST, ROUND_FLOOR)
    return exact if exact == rounded else rounded
