"""What surrounds a legal history in the making: what an engine would hold in memory, and Hypothesis's choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from hypothesis import strategies as st

from agent.rules.budgets import Budget
from agent.rules.compacting import Context
from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl
from agent.rules.events import Event
from agent.rules.fold import fold
from agent.rules.ids import CallId, EventId
from agent.rules.parts import Effect
from agent.rules.standing import Grant, fold_standing
from agent.rules.state import RunState
from tests.agent.rules.histories import History
from tests.agent.rules.judges import RefundJudge
from tests.agent.rules.legal_choices import EFFECTS, JUDGES


@dataclass(slots=True)
class World:
    """A history, and what nobody writes down of it."""

    draw: st.DrawFn
    history: History
    policy: RefundJudge
    budget: Budget | None = None
    context: Context | None = None
    in_flight: set[CallId] = field(default_factory=set)
    #: The seq that the model was asked at, while it thinks.
    asked_at: int | None = None
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    #: Time that passed without an event.
    idle: timedelta = timedelta()
    #: Which grants were given and revoked.
    control: list[RecordedControl] = field(default_factory=list)
    state: RunState = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.history.state

    @property
    def now(self) -> datetime:
        return self.history.now + self.idle

    def add(self, *events: Event) -> None:
        """These happen now, in one commit."""
        if events:
            before = self.history.length
            self.history = self.history.then(*events, after=self.idle)
            self.state = fold(self.history.recorded[before:], self.state)
            self.idle = timedelta()

    def note(self, fact: GrantGiven | GrantRevoked) -> None:
        """It stands in the control journal from now on."""
        seq = len(self.control) + 1
        self.control.append(RecordedControl(seq, EventId(f"control-{seq}"), self.now, "", fact))

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Those that were not revoked."""
        given = fold_standing(self.control).grants.values()
        return tuple(grant for grant in given if grant.revoked_seq is None)

    def crash(self) -> None:
        """What was in memory is gone."""
        self.in_flight.clear()
        self.asked_at = None

    def seldom(self, times: int) -> bool:
        return self.draw(st.integers(1, times)) == times

    def judge(self, effect: Effect | None = None) -> RefundJudge:
        """The policy, which may have changed since it was last asked."""
        if self.seldom(8):
            self.policy = self.draw(st.sampled_from(JUDGES))
        chosen = self.draw(st.sampled_from(EFFECTS)) if effect is None else effect
        return replace(self.policy, effect=chosen)
